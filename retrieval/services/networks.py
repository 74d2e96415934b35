"""Word proximity networks of corpora: what they lack, how they are built and brought up to date."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from core.errors import on_failure
from core.projects.services import record
from retrieval.copies import network_folder, publish_network
from retrieval.errors import NetworkBrokenError, NoNetworkError
from retrieval.models import Corpus, WordNetwork
from retrieval.network.builder import add, assemble, remove
from retrieval.network.network import Network
from retrieval.services.corpora import working_on
from retrieval.services.sharding import Counter, numbers_of, passages_of, together

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from retrieval.network import Network, Progress

# What the network of a corpus lacks: passages that came, passages that went, or everything.

#: A network that would grow by more than this share is built again: its word vectors know the old words only.
MOST_GROWTH = 0.25


@dataclass(frozen=True)
class Options:
    """How a network is built: pairs in fewer passages are left out; vectors of a file in place of its own."""

    least_count: int = 1
    vectors: Path | None = None

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Options":
        """The options that the row of a network keeps."""
        vectors = str(stored.get("vectors") or "")
        return cls(int(stored.get("least_count", 1)), Path(vectors) if vectors else None)

    def as_dict(self) -> dict[str, Any]:
        """For the row."""
        return {"least_count": self.least_count, "vectors": str(self.vectors or "")}


@dataclass(frozen=True)
class Difference:
    """Why a network has to be built again, in words; or how many are new after `highest`, and gone."""

    reason: str = ""
    new: int = 0
    gone: tuple[int, ...] = ()
    highest: int = 0


def difference(corpus: Corpus, folder: Path, stored: Mapping[str, Any], options: Options) -> Difference:
    """Compare the network in a folder with the corpus and with the options wanted."""

    try:
        network = Network.open(folder)
        network.check()
    except NoNetworkError:
        return Difference("There was none.")
    except NetworkBrokenError as error:
        return Difference(f"The files could not be used: {error}"[:300])
    if network.language != corpus.language:
        return Difference("The language of the corpus has changed.")
    if options != Options.of(stored):
        return Difference("Other options were asked for.")
    return _of_passages(numbers_of(corpus), network.counted())


def _of_passages(stored: "NDArray[np.int64]", counted: "NDArray[np.int64]") -> Difference:
    highest = int(counted[-1]) if len(counted) else 0
    new = int((stored > highest).sum())
    if len(np.setdiff1d(stored, counted, assume_unique=True)) != new:
        return Difference("It missed passages that the corpus had.")
    if new > MOST_GROWTH * len(counted):
        return Difference(f"It had {len(counted):,} of {len(stored):,} passages.")
    gone = np.setdiff1d(counted, stored, assume_unique=True)
    return Difference(new=new, gone=tuple(gone.tolist()), highest=highest)


#: CROWN's node threshold, for which pages say how many neighbours a word has.
_THRESHOLD = 0.75
#: Hears what is being done, in words, and how many passages are counted.
Listener = Callable[[str, int], None]


@dataclass(frozen=True)
class NetworkBuilt:
    """What came of it: passages added and taken off, what the network holds, and why it was made again."""

    added: int
    removed: int
    passages: int
    words: int
    edges: int
    generation: int
    reason: str = ""


def build_network(
    *,
    corpus: Corpus,
    anew: bool = False,
    options: Options | None = None,
    counter: Counter | None = None,
    actor: Any = None,
    progress: Listener = lambda step, passages: None,
) -> NetworkBuilt:
    """Bring the network of a corpus up to date: count what is new and what went, or build it again.

    Without `options` it is built as it was before. `counter` says who counts; this process if none is given.
    Searches are answered all the time, by the old state until the new one is complete. BusyError while
    somebody else changes the corpus.
    """
    with working_on(corpus) as lease:
        row = _row_of(corpus)
        options = options or Options.of(row.options)
        _say(row, state=WordNetwork.State.BUILDING, note="")

        def mark_failed(error: BaseException) -> None:
            _say(row, state=WordNetwork.State.FAILED, note=(str(error) or type(error).__name__)[:300])

        with on_failure(mark_failed):
            network, built = _build(
                corpus, row, anew=anew, options=options, counter=counter or together(1), progress=progress
            )
            lease.check()
            published = publish_network(row)
        with transaction.atomic():
            options_json = {**options.as_dict(), **_described(network)}
            _say(row, **_facts(network), options=options_json, note=built.reason, published=published)
            if built.added or built.removed or built.reason:
                record(
                    project=corpus.project,
                    action="network.built",
                    subject=corpus.slug,
                    actor=actor,
                    details={"passages": built.passages, "edges": built.edges},
                )
        return built


def _build(
    corpus: Corpus,
    row: WordNetwork,
    *,
    anew: bool,
    options: Options,
    counter: Counter,
    progress: Listener,
) -> "tuple[Network, NetworkBuilt]":
    folder = network_folder(row)
    change = Difference(reason="asked for") if anew else difference(corpus, folder, row.options, options)
    if not change.reason:
        network = Network.open(folder)
        if change.gone:
            progress("taking passages off", 0)
            network = remove(change.gone, folder)
        if change.new:
            progress("counting new passages", 0)
            network = add(passages_of(corpus, after=change.highest), folder)
        return network, _built(network, change.new, len(change.gone), "")

    def listen(now: "Progress") -> None:
        progress(now.step, now.passages)

    network = assemble(
        lambda scratch: counter(corpus, scratch, listen),
        folder,
        corpus.language,
        min_count=options.least_count,
        vectors=options.vectors,
        after=row.generation,
        progress=listen,
    )
    return network, _built(network, network.passages, 0, change.reason)


def _built(network: "Network", added: int, removed: int, reason: str) -> NetworkBuilt:
    return NetworkBuilt(
        added,
        removed,
        network.passages,
        network.word_count,
        network.edge_count,
        network.generation,
        reason,
    )


def _facts(network: "Network") -> dict[str, Any]:
    counted = network.counted()
    return {
        "state": WordNetwork.State.READY,
        "generation": network.generation,
        "passages": network.passages,
        "words": network.word_count,
        "edges": network.edge_count,
        "last_passage": int(counted[-1]) if len(counted) else 0,
        "built_at": timezone.now(),
    }


def _described(network: "Network") -> dict[str, Any]:
    """What pages say about it without opening it: rules for words, vectors, and what a threshold means."""
    facts = network.vectors.facts if network.vectors else None
    return {
        "rules": network.pointer.rules,
        "source": facts.source if facts else "",
        "words_with_vectors": facts.words if facts else 0,
        "neighbours": round(network.neighbours(_THRESHOLD), 2),
    }


def _row_of(corpus: Corpus) -> WordNetwork:
    """The row of a corpus' network, made with the first build."""
    row = WordNetwork.objects.filter(corpus=corpus).first()
    if row is None:
        location = f"{corpus.pk}-{secrets.token_hex(4)}"
        row = WordNetwork.objects.create(corpus=corpus, location=location)
    return row


def _say(row: WordNetwork, **values: Any) -> None:
    WordNetwork.objects.filter(pk=row.pk).update(**values)
