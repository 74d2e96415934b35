"""What the pages of corpora show."""

from dataclasses import dataclass

from jobs.models import OPEN_STATES, Job
from projects.models import Project
from retrieval.models import Corpus, Index, Passage, WordNetwork
from retrieval.selectors import corpus_facts

ADD, INDEX, NETWORK, REMOVE = (f"annotation.corpus.{what}" for what in ("add", "index", "network", "remove"))
KINDS = (ADD, INDEX, NETWORK, REMOVE)
#: Passages that the page of a corpus shows.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class State:
    """State of an index or a network: a word, how it looks, and a sentence if there is more to say."""

    word: str
    look: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A corpus in the list, and on its page."""

    corpus: Corpus
    passages: int
    index: State
    network: State
    counted: WordNetwork | None
    job: Job | None


def lines(project: Project) -> list[Line]:
    """All corpora of a project; as many queries for many as for few."""
    networks = {each.corpus_id: each for each in WordNetwork.objects.filter(corpus__project=project)}
    jobs = open_jobs(project)
    return [
        Line(
            each.corpus,
            each.passages,
            _index_state(each.corpus.index, each.passages),
            _network_state(networks.get(each.corpus.pk), each.passages),
            networks.get(each.corpus.pk),
            jobs.get(each.corpus.pk),
        )
        for each in corpus_facts(project)
    ]


def open_jobs(project: Project) -> dict[int, Job]:
    """The job that waits or runs for each corpus, by the corpus' number; the latest, if there are several."""
    rows = Job.objects.filter(kind__in=KINDS, state__in=OPEN_STATES, payload__project=project.pk)
    return {row.payload["corpus"]: row for row in rows.order_by("pk")}


def examples(corpus: Corpus) -> list[Passage]:
    """The first passages."""
    return list(Passage.objects.filter(corpus=corpus).order_by("pk")[:SHOWN])


def _index_state(index: Index, passages: int) -> State:
    if not index.generation:
        return State("not built", "", "Nothing is found in this corpus before it is built.")
    if index.state == Index.State.FAILED:
        return State("failed", "bad", index.note)
    if index.state == Index.State.BUILDING:
        return State("being built", "")
    if index.state == Index.State.STALE or index.passages != passages:
        return State("out of date", "wait", f"It holds {index.passages:,} of {passages:,} passages.")
    return State("ready", "good")


def _network_state(network: WordNetwork | None, passages: int) -> State:
    if network is None:
        return State("not built", "", "Without it, passages are ranked by BM25 alone.")
    if network.state == WordNetwork.State.FAILED:
        return State("failed", "bad", network.note)
    if network.state == WordNetwork.State.BUILDING:
        return State("being built", "")
    if network.state == WordNetwork.State.STALE or network.passages != passages:
        return State("out of date", "wait", f"It counts {network.passages:,} of {passages:,} passages.")
    return State("ready", "good")
