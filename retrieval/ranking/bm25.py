"""Candidates of the engines for the weighted words of a conversation, and their order by BM25."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import NamedTuple

from retrieval.engine import Engine
from retrieval.errors import EmptyQueryError, NotIndexedError
from retrieval.ranking.base import Collection, RankedPassage, Ranking
from retrieval.ranking.parameters import DEFAULT_MODEL, turn_weights

# Candidates: what the engines find for the weighted words of a conversation, merged.

#: Different words that are searched for at most, over all turns: more would be slow.
MOST_TERMS = 256
NO_WORDS = "There is no word in the question."
CUT = f"The conversation is long: only {MOST_TERMS} of its words are searched for."


class Candidate(NamedTuple):
    """A passage that an engine found: its place among the collections, its number, its BM25 score."""

    place: int
    pk: int
    score: float


#: What a named tuple's own constructor calls, without the way there: a hundred of them in a search.
_candidate = tuple.__new__


@dataclass(frozen=True)
class CandidateList:
    """Candidates by falling BM25 score, and the words by which the engines found them."""

    candidates: Sequence[Candidate]
    terms: Mapping[str, float]
    cut: bool = False


def weighted_terms(engine: Engine, turns: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    """Words of turns as an engine knows them; a word of several turns has the largest of their weights.

    The question's words come first, then the earlier turns', oldest first. Turns of weight 0 are left out.
    """
    weight_of_term: dict[str, float] = {}
    for turn, weight in (
        (turns[-1], weights[-1]),
        *zip(turns[:-1], weights[:-1], strict=True),
    ):
        if weight > 0:
            for term in engine.terms(turn):
                weight_of_term[term] = max(weight_of_term.get(term, 0.0), weight)
    return weight_of_term


def find(
    collections: Sequence[Collection], turns: Sequence[str], query_model: str, most: int
) -> CandidateList:
    """The best candidates over all collections, by score, then collection, then number.

    BM25 scores of two collections are on two scales, as a word may be rare in one and common in the other:
    what is to be searched together belongs in one. EmptyQueryError where the question has no word.
    """
    if not collections:
        raise NotIndexedError("There is nothing to search in.")
    if not turns or not any(collection.engine.terms(turns[-1]) for collection in collections):
        raise EmptyQueryError(NO_WORDS)
    weights = turn_weights(len(turns), query_model)
    terms: dict[str, float] = {}
    candidates: list[Candidate] = []
    cut = False
    for place, collection in enumerate(collections):
        theirs = weighted_terms(collection.engine, turns, weights)
        cut = cut or len(theirs) >= MOST_TERMS  # an engine cuts each turn there itself
        theirs = _heaviest(theirs)
        for term, weight in theirs.items():
            terms[term] = max(terms.get(term, 0.0), weight)
        hits = collection.engine.search(theirs, most)
        columns = zip(hits.pks, hits.scores, strict=True)
        candidates += [_candidate(Candidate, (place, pk, score)) for pk, score in columns]
    # One engine has its own in this order already.
    best = candidates[:most] if len(collections) == 1 else nsmallest(most, candidates, key=_order)
    return CandidateList(best, terms, cut)


def _order(each: Candidate) -> tuple[float, int, int]:
    return -each.score, each.place, each.pk


def _heaviest(terms: dict[str, float]) -> dict[str, float]:
    """The first words of the greatest weights, in their order."""
    if len(terms) <= MOST_TERMS:
        return terms
    heaviest = set(nsmallest(MOST_TERMS, terms, key=lambda term: -terms[term]))
    return {term: weight for term, weight in terms.items() if term in heaviest}


NOTHING = "No passage has any of these words: {}."
#: Words that a note names at most.
_NAMED = 10


@dataclass(frozen=True)
class BM25:
    """BM25 (k1 1.2, b 0.75) with the words of each turn weighted by the query model."""

    query_model: str = DEFAULT_MODEL

    @property
    def name(self) -> str:
        """bm25, or bm25:cq1 for another query model than the usual one."""
        return "bm25" if self.query_model == DEFAULT_MODEL else f"bm25:{self.query_model}"

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The engines' best k passages."""
        candidates = find(collections, turns, self.query_model, k)
        return self.ranking(collections, candidates, k)

    def ranking(
        self, collections: Sequence[Collection], candidates: CandidateList, k: int, notes: Sequence[str] = ()
    ) -> Ranking:
        """Candidates in their own order, as a ranking."""
        return Ranking(
            ranker=self.name,
            parameters={"query_model": self.query_model},
            generations=generations(collections),
            terms=candidates.terms,
            results=[
                RankedPassage(
                    rank,
                    each.score,
                    collections[each.place].name,
                    each.pk,
                    parts={"bm25": each.score},
                    found_at=rank,
                )
                for rank, each in enumerate(candidates.candidates[:k], 1)
            ],
            notes=[*notes, *notes_on(candidates)],
        )


def generations(collections: Sequence[Collection]) -> dict[str, Mapping[str, object]]:
    """State of each collection by name."""
    return {collection.name: dict(collection.generation) for collection in collections}


def notes_on(candidates: CandidateList) -> list[str]:
    """What a person must know of what was searched for."""
    notes = [CUT] if candidates.cut else []
    if not candidates.candidates:
        named = list(candidates.terms)
        more = ", …" if len(named) > _NAMED else ""
        notes.append(NOTHING.format(", ".join(named[:_NAMED]) + more))
    return notes
