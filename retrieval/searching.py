"""Searching a project's corpora with a conversation: ranked passages, why, and what must be said of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from projects.models import Project
from retrieval.corpus_collections import CorpusCollection
from retrieval.errors import NotIndexedError
from retrieval.models import Corpus, Passage
from retrieval.rankers import ranker_named
from retrieval.selectors import NOTHING_YET, searchable

if TYPE_CHECKING:
    from retrieval.crown.explaining import Explanation
    from retrieval.crown.parameters import Parameters
    from retrieval.ranking.base import Ranker


@dataclass(frozen=True)
class FoundPassage:
    """A passage of the answer.

    rank: from 1, without gaps. score: of the ranker; bigger is better; comparable within one answer only.
    parts: what the score is made of, by name, before weighting; bm25 and the rank by BM25 (`prior`) among
    them. corpus: slug. explanation: words, edges and sentences with their character offsets in
    `passage.text`; None where the corpus has no network or nobody asked for explanations.
    """

    rank: int
    score: float
    parts: Mapping[str, float]
    corpus: str
    passage: Passage
    explanation: "Explanation | None" = None


@dataclass(frozen=True)
class FoundAnswer:
    """An answer to the last turn of a conversation, with everything that tells later how it came about.

    ranker: name of what ranked in truth (bm25 where a network is missing). parameters: as
    `Parameters.as_dict()` has them. generations: by corpus, {"index": 3, "network": 2, …}. terms: words of
    the conversational query with their weights. notes: sentences for the person who searches.
    """

    ranker: str
    parameters: Mapping[str, Any]
    generations: Mapping[str, Mapping[str, Any]]
    terms: Mapping[str, float]
    results: Sequence[FoundPassage]
    notes: Sequence[str] = ()

    def provenance(self, found: FoundPassage) -> dict[str, Any]:
        """What a candidate keeps of its search: {ranker, parameters, generation, rank, parts}, as JSON."""
        return {
            "ranker": self.ranker,
            "parameters": dict(self.parameters),
            "generation": dict(self.generations[found.corpus]),
            "rank": found.rank,
            "parts": dict(found.parts),
        }


def search_conversation(
    where: Project | Sequence[Corpus],
    turns: Sequence[str],
    parameters: "Parameters | None" = None,
    *,
    ranker: "Ranker | str" = "",
    results: int | None = None,
    explain: bool = True,
) -> FoundAnswer:
    """The best passages for the last of `turns` (oldest first), of a project's corpora or of some corpora.

    `parameters` choose profile, query model, weights and how many candidates are fetched (None: defaults of
    `balanced`); `ranker` is another system instead of the profile, as an object or by name (`bm25`,
    `rrf(bm25+balanced)`, see `ranking.systems`), which takes its own options from its name; `results` is how
    many passages come back (None: as `parameters` say). Passages come in one query of the database whatever
    the number of corpora. EmptyQueryError: the last turn has no word. NotIndexedError: nothing to search yet.
    """
    corpora = searchable(where) if isinstance(where, Project) else list(where)
    if not corpora:
        raise NotIndexedError(NOTHING_YET)
    collections = [CorpusCollection(corpus, name=name) for corpus, name in _named(corpora)]
    chosen = ranker_named(ranker or "bm25") if isinstance(ranker, str) else ranker
    ranking = chosen.rank(collections, turns, results or 3)
    passages = Passage.objects.in_bulk([each.pk for each in ranking.results])
    # A passage may have been deleted since the index was asked.
    there = [each for each in ranking.results if each.pk in passages]
    return FoundAnswer(
        ranker=ranking.ranker,
        parameters=ranking.parameters,
        generations=ranking.generations,
        terms=ranking.terms,
        results=[
            FoundPassage(rank, each.score, each.parts, each.collection, passages[each.pk])
            for rank, each in enumerate(there, 1)
        ],
        notes=ranking.notes,
    )


def _named(corpora: Sequence[Corpus]) -> list[tuple[Corpus, str]]:
    """Corpora with names that tell them apart: their slugs, with the project's before where two are equal."""
    slugs = Counter(corpus.slug for corpus in corpora)
    return [
        (corpus, corpus.slug if slugs[corpus.slug] == 1 else f"{corpus.project.slug}/{corpus.slug}")
        for corpus in corpora
    ]
