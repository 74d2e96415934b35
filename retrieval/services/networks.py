"""Word proximity networks of corpora: built, brought up to date, built again where that is needed."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from core.failures import on_failure
from core.projects.services import record
from retrieval.models import Corpus, WordNetwork
from retrieval.network.builder import add, assemble, remove
from retrieval.network.network import Network
from retrieval.networks import network_folder
from retrieval.services.corpora import working_on
from retrieval.services.counts import Counter, passages_of, together
from retrieval.services.network_gaps import Difference, Options, difference
from retrieval.services.publication import publish_network

if TYPE_CHECKING:
    from retrieval.network import Network, Progress

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
            kept = {**options.as_dict(), **_described(network)}
            _say(row, **_facts(network), options=kept, note=built.reason, published=published)
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
    found = Difference(reason="asked for") if anew else difference(corpus, folder, row.options, options)
    if not found.reason:
        network = Network.open(folder)
        if found.gone:
            progress("taking passages off", 0)
            network = remove(found.gone, folder)
        if found.new:
            progress("counting new passages", 0)
            network = add(passages_of(corpus, after=found.highest), folder)
        return network, _built(network, found.new, len(found.gone), "")

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
    return network, _built(network, network.passages, 0, found.reason)


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
