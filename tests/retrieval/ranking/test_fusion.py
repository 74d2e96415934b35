"""Reciprocal rank fusion."""

from dataclasses import dataclass, field

import pytest

from retrieval.ranking.base import RankedPassage, Ranking
from retrieval.ranking.systems import ReciprocalRankFusion, parse_system


@dataclass(frozen=True)
class Fixed:
    """A ranker that always has the same passages."""

    name: str
    pks: tuple[int, ...]
    notes: tuple[str, ...] = field(default=())

    def rank(self, collections, turns, k):
        results = [
            RankedPassage(rank, 1.0, collections[0].name, pk) for rank, pk in enumerate(self.pks[:k], 1)
        ]
        return Ranking(self.name, {"mine": self.name}, {}, {self.name: 1.0}, results, self.notes)


def fused(collection, *rankers, k=10, **options):
    return ReciprocalRankFusion(rankers, **options).rank([collection], ["cats"], k)


def test_the_score_is_the_sum_of_reciprocal_ranks_of_the_first_passages(collection_of):
    collection = collection_of("a cat")
    ranking = fused(collection, Fixed("a", (7, 8)), Fixed("b", (8, 9)))
    assert [each.pk for each in ranking.results] == [8, 7, 9]
    assert ranking.results[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert ranking.results[0].parts == {"a": 1 / 62, "b": 1 / 61}
    assert ranking.results[2].parts == {"b": 1 / 62}
    ranking = fused(collection, Fixed("a", (9, 1)), Fixed("b", (4, 2)))
    assert [each.pk for each in ranking.results] == [4, 9, 1, 2]
    ranking = fused(collection, Fixed("a", (1, 2, 3)), Fixed("b", (3, 2, 1)), k=2, depth=2)
    assert [each.pk for each in ranking.results] == [2, 1]
    ranking = fused(collection, Fixed("a", (1,), ("Mind.",)), Fixed("b", (2,), ("Mind.",)))
    assert ranking.parameters["rankers"]["b"] == {"ranker": "b", "mine": "b"}
    assert ranking.terms == {"a": 1.0, "b": 1.0}
    assert ranking.notes == ["Mind."]


def test_real_rankers_are_fused(collection_of):
    collection = collection_of("cats purr", "dogs bark", "cats and dogs")
    ranking = parse_system("rrf(bm25:current+bm25:cq1)").rank([collection], ["cats", "dogs"], 3)
    assert [each.pk for each in ranking.results] == [3, 2, 1]
