"""What the pages of corpora show."""

from dataclasses import dataclass

from core.jobs.models import OPEN_STATES, Job
from core.projects.models import Project
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
    jobs = open_jobs(project)
    return [_line(each.corpus, each.passages, jobs.get(each.corpus.pk)) for each in corpus_facts(project)]


def _line(corpus: Corpus, passages: int, job: Job | None) -> Line:
    network: WordNetwork | None = getattr(corpus, "network", None)
    return Line(
        corpus,
        passages,
        _state(
            corpus.index,
            passages,
            without="Nothing is found in this corpus before it is built.",
            verb="holds",
        ),
        _state(network, passages, without="Without it, passages are ranked by BM25 alone.", verb="counts"),
        network,
        job,
    )


def open_jobs(project: Project) -> dict[int, Job]:
    """The job that waits or runs for each corpus, by the corpus' number; the latest, if there are several."""
    rows = Job.objects.filter(kind__in=KINDS, state__in=OPEN_STATES, payload__project=project.pk)
    return {row.payload["corpus"]: row for row in rows.order_by("pk")}


def examples(corpus: Corpus) -> list[Passage]:
    """The first passages."""
    return list(Passage.objects.filter(corpus=corpus).order_by("pk")[:SHOWN])


def _state(row: Index | WordNetwork | None, passages: int, *, without: str, verb: str) -> State:
    """State of an index or a network. without: what its absence means; verb: what it does with passages."""
    if row is not None and row.state == Index.State.FAILED:
        return State("failed", "bad", row.note)
    if row is not None and row.state == Index.State.BUILDING:
        return State("being built", "")
    if row is None or not row.generation:
        return State("not built", "", without)
    if row.state == Index.State.STALE or row.passages != passages:
        return State("out of date", "wait", f"It {verb} {row.passages:,} of {passages:,} passages.")
    return State("ready", "good")
