"""Files of indexes and networks on this host: where they are, how they are opened, published and taken up.

The host that builds has them in its own folder, below `indexes/` or `networks/` of its data folder. With
several hosts it publishes each finished state to their shared storage. A host that needs the state keeps
a copy below `copies/`, which may be removed at any time; one that is to build on takes the state up.
"""

import logging
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from core.storage import (
    FETCHED,
    DamagedBundleError,
    SharedStore,
    fetch_bundle,
    is_fetched,
    prune_bundles,
    publish_bundle,
    shared_store,
)
from core.storage_outages import StorageUnavailableError
from retrieval.engine import Engine
from retrieval.engine.files import IndexFolder, only_writer
from retrieval.errors import (
    CorpusError,
    IndexBrokenError,
    IndexUnavailableError,
    NetworkBrokenError,
    NoNetworkError,
    NotIndexedError,
)
from retrieval.models import Corpus, Index, WordNetwork

if TYPE_CHECKING:
    from retrieval.network.network import Network

#: How long a search waits for another process of this host that fetches the same files, in seconds.
_PATIENCE = 600.0
_PUBLISHED = "published"


def kind_of(row: Index | WordNetwork) -> str:
    """The folder of the data folder that has such files."""
    return "indexes" if isinstance(row, Index) else "networks"


def bundle_name(row: Index | WordNetwork) -> str:
    """What its published states are called in the shared storage."""
    return f"{kind_of(row)}/{row.location}"


def working_folder(row: Index | WordNetwork) -> Path:
    """The folder in which this host builds."""
    return _folder(settings.DATA_DIR, kind_of(row), row.location)


@lru_cache(maxsize=1_000)
def _folder(data: str | Path, kind: str, location: str) -> Path:
    """Paths are slow to make, and every search asks."""
    return Path(data) / kind / location


def copies_folder(row: Index | WordNetwork) -> Path:
    """The folder with copies of states that other hosts published."""
    return Path(settings.DATA_DIR) / "copies" / kind_of(row) / row.location


def readable_folder(row: Index | WordNetwork) -> Path:
    """The folder with the state that answers, fetched where another host has built it.

    NotIndexedError or NoNetworkError where it is not to be had, IndexBrokenError or NetworkBrokenError where
    it is damaged, IndexUnavailableError where the storage does not answer.
    """
    store, working = shared_store(), working_folder(row)
    if not store.is_shared or not row.published or row.published in published_states(working):
        return working
    place = copies_folder(row) / row.published
    return place if is_fetched(place) else _fetched(store, row)


def published_states(working: Path) -> list[str]:
    """Digests of published states that a working folder is not older than."""
    try:
        return (working / _PUBLISHED).read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []


def note_published(working: Path, digests: Iterable[str]) -> None:
    """Remember them, whole or not at all."""
    half = working / f".{_PUBLISHED}"
    half.write_text("\n".join(digests), encoding="ascii")
    half.replace(working / _PUBLISHED)


def remove_copies(row: Index | WordNetwork) -> None:
    """Remove what this host fetched, and the note of what it published."""
    shutil.rmtree(copies_folder(row), ignore_errors=True)
    (working_folder(row) / _PUBLISHED).unlink(missing_ok=True)


@contextmanager
def translate_outages() -> Iterator[None]:
    """Raise IndexUnavailableError where the shared storage does not answer."""
    try:
        yield
    except StorageUnavailableError as error:
        raise IndexUnavailableError(str(error)) from error


def _fetched(store: SharedStore, row: Index | WordNetwork) -> Path:
    root = copies_folder(row)
    with only_writer(root / "lock", f"a copy of the {row}", patience=_PATIENCE):
        former = sorted(_copies(root), key=lambda path: path.stat().st_mtime, reverse=True)
        try:
            _fetch(store, row, former)
        except FileNotFoundError:
            # A newer state may have taken its place since the row was read.
            row.refresh_from_db(fields=["published"])
            try:
                _fetch(store, row, former)
            except FileNotFoundError as error:
                raise _missing(row) from error
        for old in former[1:]:
            if old.name != row.published:
                shutil.rmtree(old, ignore_errors=True)
    _remove_strangers(kind_of(row))
    return root / row.published


def _fetch(store: SharedStore, row: Index | WordNetwork, like: list[Path]) -> None:
    place = copies_folder(row) / row.published
    if is_fetched(place):
        return
    try:
        with translate_outages():
            fetch_bundle(store, bundle_name(row), row.published, place, like=like)
    except DamagedBundleError as error:
        kind = IndexBrokenError if isinstance(row, Index) else NetworkBrokenError
        raise kind(f"{error} Build it again.") from error


def _copies(root: Path) -> list[Path]:
    return [each for each in root.iterdir() if is_fetched(each)]


def _missing(row: Index | WordNetwork) -> NotIndexedError | NoNetworkError:
    if isinstance(row, Index):
        return NotIndexedError("The index is not in the shared storage. Run manage.py index build.")
    return NoNetworkError("The network is not in the shared storage. Run manage.py wpn build.")


def _remove_strangers(kind: str) -> None:
    """Remove copies of what was removed since."""
    model = Index if kind == "indexes" else WordNetwork
    locations = set(model.objects.values_list("location", flat=True))
    for each in (Path(settings.DATA_DIR) / "copies" / kind).iterdir():
        if each.name not in locations:
            shutil.rmtree(each, ignore_errors=True)


# Which engine an index has, and where it is.


def folder_of(index: Index) -> Path:
    """The folder in which this host builds an index. Work on the corpus is locked there too."""
    return working_folder(index)


def engine_of(corpus: Corpus) -> Engine:
    """The engine of a corpus; cheap, what it opens is shared by the process."""
    return engine_named(corpus.index.engine, corpus)


def engine_named(name: str, corpus: Corpus) -> Engine:
    """The index of a corpus in this engine, whether it is the one that answers or not."""
    if name == "tantivy":
        return _embedded(readable_folder(corpus.index), corpus.language, corpus.slug)
    if name == "opensearch":
        from retrieval.engine.cluster import cluster
        from retrieval.engine.opensearch import OpenSearchEngine

        prefix = settings.OPENSEARCH_PREFIX
        return OpenSearchEngine(
            cluster(settings.OPENSEARCH_URL, settings.OPENSEARCH_CERTIFICATES, os.getpid()),
            f"{prefix}-{corpus.index.location}",
            corpus.language,
            what=_what(corpus.slug),
            locks=f"{prefix}-locks",
            shards=settings.OPENSEARCH_SHARDS,
        )
    raise CorpusError(f"There is no engine {name!r} in this installation.")


def _what(slug: str) -> str:
    return f"the index of {slug!r}"


@lru_cache(maxsize=1_000)
def _embedded(folder: Path, language: str, slug: str) -> Engine:
    """It keeps nothing but these; every search asks."""
    from retrieval.engine.tantivy_engine import TantivyEngine

    return TantivyEngine(folder, language, what=_what(slug))


# The word proximity network of a corpus, shared by the process that has opened it.

#: Networks that a process keeps open at most; the ones asked for longest ago are let go.
MOST_OPEN = 32
_Seen = tuple[int, int, int]
_lock = threading.Lock()
#: Open networks by process number (a fork opens its own) and folder, with what the pointer looked like.
_open: dict[tuple[int, Path], tuple[_Seen, "Network"]] = {}


def network_folder(network: WordNetwork) -> Path:
    """The folder in which this host builds a network."""
    return working_folder(network)


def network_of(corpus: Corpus) -> "Network | None":
    """The network of a corpus as it is now; None where none has been built.

    NetworkBrokenError where its files cannot be used. What a search began with stays as it was for it.
    """
    row = WordNetwork.objects.filter(corpus=corpus).first()
    return None if row is None else opened(readable_folder(row))


def opened(folder: Path) -> "Network | None":
    """The network in a folder, opened again when it has changed."""
    from retrieval.network.network import Network

    key = (os.getpid(), folder)
    try:
        facts = (folder / "current").stat()
    except FileNotFoundError:
        return None
    seen = (facts.st_ino, facts.st_mtime_ns, facts.st_size)
    with _lock:
        cached = _open.pop(key, None)
        if cached is None or cached[0] != seen:
            try:
                cached = (seen, Network.open(folder))
            except NoNetworkError:
                return None
        _open[key] = cached
        for other in list(_open)[:-MOST_OPEN]:
            _open.pop(other, None)
        return cached[1]


def remove_network(corpus: Corpus) -> None:
    """Remove the files of a corpus' network; its row goes with the corpus."""
    for row in WordNetwork.objects.filter(corpus=corpus):
        _open.pop((os.getpid(), network_folder(row)), None)
        shutil.rmtree(network_folder(row), ignore_errors=True)


logger = logging.getLogger(__name__)
#: What a working folder holds besides the state itself: locks, and what is seen while files are added.
_NO_STATE = {"lock", "work", "seen", "changes"}


def publish_index(index: Index) -> str:
    """Publish the generation that answers; what `Index.published` is to be."""
    if index.engine != "tantivy":  # a search server is there for all hosts
        withdraw(index)
        return ""
    folder = IndexFolder(working_folder(index))
    return _publish(index, ["current", f"g{folder.current().generation}"])


def publish_network(row: WordNetwork) -> str:
    """Publish the state that answers; what `WordNetwork.published` is to be."""
    from retrieval.network.segment import NetworkFolder

    pointer = NetworkFolder(working_folder(row)).current()
    return _publish(row, ["current", *pointer.segments, *filter(None, [pointer.vectors])])


def _publish(row: Index | WordNetwork, parts: Sequence[str]) -> str:
    store, working = shared_store(), working_folder(row)
    if not store.is_shared:
        return ""
    former = row.published
    with translate_outages():
        digest = publish_bundle(store, bundle_name(row), working, parts)
        keep = {former, digest} - {""}
        note_published(working, sorted(keep))
        prune_bundles(store, bundle_name(row), keep)
    return digest


def take_up(corpus: Corpus) -> None:
    """Have this host's working folders go on from what another host published last."""
    if not shared_store().is_shared:
        return
    rows: list[Index | WordNetwork] = [*Index.objects.filter(corpus=corpus)]
    rows += WordNetwork.objects.filter(corpus=corpus)
    for row in rows:
        working = working_folder(row)
        if not row.published or row.published in published_states(working):
            continue
        try:
            source = readable_folder(row)
        except (NotIndexedError, NoNetworkError, IndexBrokenError, NetworkBrokenError) as error:
            logger.warning("The %s has to be built from the start. %s", row, error)
            _clear(working)
            type(row).objects.filter(pk=row.pk).update(published="")
            continue
        _clear(working)
        # Files of a state are never changed in place, so one copy on the disk is enough.
        no_state = shutil.ignore_patterns(FETCHED)
        shutil.copytree(source, working, copy_function=os.link, ignore=no_state, dirs_exist_ok=True)
        note_published(working, [row.published])
        if isinstance(row, Index):
            IndexFolder(working).count_change()
    corpus.index.refresh_from_db()


def _clear(working: Path) -> None:
    working.mkdir(parents=True, exist_ok=True)
    for each in working.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name not in _NO_STATE:
            each.unlink()


def withdraw(row: Index | WordNetwork) -> None:
    """Remove all published states and copies."""
    with translate_outages():
        prune_bundles(shared_store(), bundle_name(row), ())
    remove_copies(row)
