"""Reciprocal rank fusion of several rankers (Cormack, Clarke and Büttcher, SIGIR 2009).

score(p) = Σ over rankers 1 / (k + rank(p)), over the first `depth` passages of each; k = 60 as in the paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from retrieval.ranking.base import Collection, RankedPassage, Ranker, Ranking
from retrieval.ranking.bm25 import generations

K = 60
DEPTH = 100


@dataclass(frozen=True)
class ReciprocalRankFusion:
    """Pools what several rankers find: a passage that two of them rank high comes first."""

    rankers: Sequence[Ranker]
    k: int = K
    depth: int = DEPTH

    @property
    def name(self) -> str:
        """rrf(bm25+balanced), with what differs from the usual options after it."""
        inner = "+".join(ranker.name for ranker in self.rankers)
        options = "".join(
            f":{name}={value}"
            for name, value, usual in (("k", self.k, K), ("depth", self.depth, DEPTH))
            if value != usual
        )
        return f"rrf({inner}){options}"

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The k passages of the greatest fused score; equal ones in the order of their best single rank.

        The parts of a passage are what each ranker gave to its score, by the ranker's name.
        """
        rankings = [ranker.rank(collections, turns, max(k, self.depth)) for ranker in self.rankers]
        pooled: dict[tuple[str, int], _PoolEntry] = {}
        terms: dict[str, float] = {}
        for ranker, ranking in zip(self.rankers, rankings, strict=True):
            for term, weight in ranking.terms.items():
                terms[term] = max(terms.get(term, 0.0), weight)
            for each in ranking.results:
                pooled.setdefault((each.collection, each.pk), _PoolEntry()).add(
                    ranker.name, self.k, each.rank
                )
        places = {collection.name: place for place, collection in enumerate(collections)}
        order = sorted(
            pooled.items(), key=lambda item: (-item[1].score, item[1].best, places[item[0][0]], item[0][1])
        )
        return Ranking(
            ranker=self.name,
            parameters={
                "k": self.k,
                "depth": self.depth,
                "rankers": {
                    ranker.name: {"ranker": ranking.ranker, **ranking.parameters}
                    for ranker, ranking in zip(self.rankers, rankings, strict=True)
                },
            },
            generations=generations(collections),
            terms=terms,
            results=[
                RankedPassage(rank, one.score, name, pk, one.parts)
                for rank, ((name, pk), one) in enumerate(order[:k], 1)
            ],
            notes=list(dict.fromkeys(note for ranking in rankings for note in ranking.notes)),
        )


@dataclass
class _PoolEntry:
    """One passage of the pool."""

    parts: dict[str, float] = field(default_factory=dict)
    best: int = 0

    def add(self, ranker: str, k: int, rank: int) -> None:
        self.parts[ranker] = 1 / (k + rank)
        self.best = min(self.best or rank, rank)

    @property
    def score(self) -> float:
        return sum(self.parts.values())
