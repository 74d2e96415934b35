"""The order of the engine itself: BM25 on the weighted words of a conversation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.crown.conversation import DEFAULT_MODEL
from retrieval.ranking.base import Collection, RankedPassage, Ranking
from retrieval.ranking.candidates import CUT, CandidateList, find

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
        found = find(collections, turns, self.query_model, k)
        return self.ranking(collections, found, k)

    def ranking(
        self, collections: Sequence[Collection], found: CandidateList, k: int, notes: Sequence[str] = ()
    ) -> Ranking:
        """Candidates in their own order, as a ranking."""
        return Ranking(
            ranker=self.name,
            parameters={"query_model": self.query_model},
            generations=generations(collections),
            terms=found.terms,
            results=[
                RankedPassage(
                    rank,
                    each.score,
                    collections[each.place].name,
                    each.pk,
                    parts={"bm25": each.score},
                    found_at=rank,
                )
                for rank, each in enumerate(found.candidates[:k], 1)
            ],
            notes=[*notes, *notes_on(found)],
        )


def generations(collections: Sequence[Collection]) -> dict[str, Mapping[str, object]]:
    """State of each collection by name."""
    return {collection.name: dict(collection.generation) for collection in collections}


def notes_on(found: CandidateList) -> list[str]:
    """What a person must know of what was searched for."""
    notes = [CUT] if found.cut else []
    if not found.candidates:
        named = list(found.terms)
        more = ", …" if len(named) > _NAMED else ""
        notes.append(NOTHING.format(", ".join(named[:_NAMED]) + more))
    return notes
