"""What is known about corpora, and what is found in them."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from projects.models import Project
from retrieval.engine.lock import is_held
from retrieval.engines import engine_of, folder_of
from retrieval.errors import CorpusError, NotIndexedError
from retrieval.models import Corpus, Index, Passage

NOTHING_YET = (
    "There is nothing to search yet. Add passages (manage.py corpus add) and build the index "
    "(manage.py index build)."
)


@dataclass(frozen=True)
class Turn:
    """Something that was said in a conversation, and how much its words weigh beside the others'."""

    text: str
    weight: float = 1.0


@dataclass(frozen=True)
class Hit:
    """A passage that was found: 1 is the best rank; scores compare within one corpus."""

    rank: int
    score: float
    corpus: str
    passage: Passage


@dataclass(frozen=True)
class CorpusFacts:
    """One line of a list of corpora."""

    corpus: Corpus
    passages: int
    building: bool


def corpus_named(project: Project, slug: str) -> Corpus:
    """A corpus of a project; CorpusError names those that there are."""
    found = corpora_of(project).filter(slug=slug).first()
    if found is None:
        there = ", ".join(corpora_of(project).values_list("slug", flat=True)[:20]) or "none"
        raise CorpusError(f"There is no corpus {slug!r} in {project.slug!r}; there is: {there}.")
    return found


def corpora_of(project: Project) -> QuerySet[Corpus]:
    """All corpora of a project with their indexes and networks."""
    return (
        Corpus.objects.filter(project=project).select_related("index", "network", "project").order_by("slug")
    )


def searchable(project: Project) -> list[Corpus]:
    """Corpora of a project that have been indexed at least once."""
    return list(corpora_of(project).filter(index__generation__gt=0))


def corpus_facts(project: Project) -> list[CorpusFacts]:
    """Corpora with how many passages each has, and whether somebody works on it at this moment."""
    corpora = corpora_of(project).annotate(held=Count("passages"))
    return [
        CorpusFacts(corpus, corpus.held, building=is_held(folder_of(corpus.index) / "work"))
        for corpus in corpora
    ]


def is_up_to_date(corpus: Corpus) -> bool:
    """Whether the index holds what the corpus has, as far as the books say."""
    return corpus.index.state == Index.State.READY


def search(corpora: Sequence[Corpus], turns: str | Sequence[Turn], k: int = 10) -> list[Hit]:
    """Best passages for a query, or for the turns of a conversation, with their texts in one query.

    Several corpora are merged by score. BM25 scores of two corpora are on two scales, as a word may be rare
    in one and common in the other: what is to be searched together belongs in one corpus.
    """
    if not corpora:
        raise NotIndexedError(NOTHING_YET)
    said = [Turn(turns)] if isinstance(turns, str) else turns
    found = [(-score, pk, corpus.slug) for corpus in corpora for pk, score in _search_one(corpus, said, k)]
    best = heapq.nsmallest(k, found)
    passages = Passage.objects.in_bulk([pk for _, pk, _ in best])
    # A passage may have been deleted since the index was asked.
    there = [(passages[pk], -score, slug) for score, pk, slug in best if pk in passages]
    return [Hit(rank, score, slug, passage) for rank, (passage, score, slug) in enumerate(there, 1)]


def _search_one(corpus: Corpus, turns: Iterable[Turn], k: int) -> list[tuple[int, float]]:
    engine = engine_of(corpus)
    weights: dict[str, float] = {}
    for turn in turns:
        for term in engine.terms(turn.text):
            weights[term] = max(weights.get(term, 0.0), turn.weight)
    return [(hit.pk, hit.score) for hit in engine.search(weights, k)]
