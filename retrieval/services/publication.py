"""Finished indexes and networks for all hosts: published where they were built, taken up elsewhere."""

import logging
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from core.storage.bundles import FETCHED, prune_bundles, publish_bundle
from core.storage.store import shared_store
from retrieval import copies
from retrieval.engine.files import IndexFolder
from retrieval.errors import IndexBrokenError, NetworkBrokenError, NoNetworkError, NotIndexedError
from retrieval.models import Corpus, Index, WordNetwork

logger = logging.getLogger(__name__)
#: What a working folder holds besides the state itself: locks, and what is seen while files are added.
_NO_STATE = {"lock", "work", "seen"}


def publish_index(index: Index) -> str:
    """Publish the generation that answers; what `Index.published` is to be."""
    if index.engine != "tantivy":  # a search server is there for all hosts
        withdraw(index)
        return ""
    folder = IndexFolder(copies.working_folder(index))
    return _publish(index, ["current", f"g{folder.current().generation}"])


def publish_network(row: WordNetwork) -> str:
    """Publish the state that answers; what `WordNetwork.published` is to be."""
    from retrieval.network.files import NetworkFolder  # noqa: PLC0415  # heavy

    pointer = NetworkFolder(copies.working_folder(row)).current()
    return _publish(row, ["current", *pointer.segments, *filter(None, [pointer.vectors])])


def _publish(row: Index | WordNetwork, parts: Sequence[str]) -> str:
    store, working = shared_store(), copies.working_folder(row)
    if not store.is_shared:
        return ""
    former = row.published
    with copies.translate_outages():
        digest = publish_bundle(store, copies.bundle_name(row), working, parts)
        keep = {former, digest} - {""}
        copies.note_published(working, sorted(keep))
        prune_bundles(store, copies.bundle_name(row), keep)
    return digest


def take_up(corpus: Corpus) -> None:
    """Have this host's working folders go on from what another host published last."""
    if not shared_store().is_shared:
        return
    rows: list[Index | WordNetwork] = [*Index.objects.filter(corpus=corpus)]
    rows += WordNetwork.objects.filter(corpus=corpus)
    for row in rows:
        working = copies.working_folder(row)
        if not row.published or row.published in copies.published_states(working):
            continue
        try:
            source = copies.readable_folder(row)
        except (NotIndexedError, NoNetworkError, IndexBrokenError, NetworkBrokenError) as error:
            logger.warning("The %s has to be built from the start. %s", row, error)
            _clear(working)
            type(row).objects.filter(pk=row.pk).update(published="")
            continue
        _clear(working)
        # Files of a state are never changed in place, so one copy on the disk is enough.
        no_state = shutil.ignore_patterns(FETCHED)
        shutil.copytree(source, working, copy_function=os.link, ignore=no_state, dirs_exist_ok=True)
        copies.note_published(working, [row.published])
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
    with copies.translate_outages():
        prune_bundles(shared_store(), copies.bundle_name(row), ())
    copies.remove_copies(row)
