"""Candidates: what the engines find for the weighted words of a conversation, merged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from typing import NamedTuple

from retrieval.crown.conversation import turn_weights
from retrieval.engine.base import Engine
from retrieval.errors import EmptyQueryError, NotIndexedError
from retrieval.ranking.base import Collection

#: Different words that are searched for at most, over all turns: nobody asks more, and it is slow.
MOST_TERMS = 256
NO_WORDS = "There is no word in the question."
CUT = f"The conversation is long: only {MOST_TERMS} of its words are searched for."


class Candidate(NamedTuple):
    """A passage that an engine found: its place among the collections, its number, its BM25 score."""

    place: int
    pk: int
    score: float


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
    found: dict[str, float] = {}
    for turn, weight in (
        (turns[-1], weights[-1]),
        *zip(turns[:-1], weights[:-1], strict=True),
    ):
        if weight > 0:
            for term in engine.terms(turn):
                found[term] = max(found.get(term, 0.0), weight)
    return found


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
    found: list[Candidate] = []
    cut = False
    for place, collection in enumerate(collections):
        theirs = weighted_terms(collection.engine, turns, weights)
        cut = cut or len(theirs) >= MOST_TERMS  # an engine cuts each turn there itself
        theirs = _heaviest(theirs)
        for term, weight in theirs.items():
            terms[term] = max(terms.get(term, 0.0), weight)
        found += [Candidate(place, pk, score) for pk, score in collection.engine.search(theirs, most)]
    best = nsmallest(most, found, key=lambda each: (-each.score, each.place, each.pk))
    return CandidateList(best, terms, cut)


def _heaviest(terms: dict[str, float]) -> dict[str, float]:
    """The first words of the greatest weights, in their order."""
    if len(terms) <= MOST_TERMS:
        return terms
    kept = set(nsmallest(MOST_TERMS, terms, key=lambda term: -terms[term]))
    return {term: weight for term, weight in terms.items() if term in kept}
