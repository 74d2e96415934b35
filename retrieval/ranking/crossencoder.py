"""Another ranker's passages in the order of a cross-encoder, which reads question and passage together.

Off unless the operator names a model (`CROSS_ENCODER`): it costs a hundred times what CROWN costs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from retrieval.crown.conversation import DEFAULT_MODEL, turn_weights
from retrieval.ranking.base import Collection, RankedPassage, Ranker, Ranking
from retrieval.ranking.onnxmodel import open_model

DEPTH = 100
PART = "cross-encoder"


@dataclass(frozen=True)
class CrossEncoder:
    """Reads the first `depth` passages of another ranker with the turns that the query model keeps."""

    inner: Ranker
    folder: Path
    query_model: str = DEFAULT_MODEL
    depth: int = DEPTH

    @property
    def name(self) -> str:
        """cross-encoder(balanced), with what differs from the usual options after it."""
        model = "" if self.query_model == DEFAULT_MODEL else f":{self.query_model}"
        depth = "" if self.depth == DEPTH else f":depth={self.depth}"
        return f"cross-encoder({self.inner.name}){model}{depth}"

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The k passages with the greatest scores of the model; equal ones as the other ranker has them."""
        model = open_model(self.folder)
        first = self.inner.rank(collections, turns, max(k, self.depth))
        texts = {
            (collection.name, pk): text
            for collection in collections
            for pk, text in collection.texts(
                [each.pk for each in first.results if each.collection == collection.name]
            ).items()
        }
        # A passage may have been deleted since the index was asked.
        there = [each for each in first.results if (each.collection, each.pk) in texts]
        scores = model.scores(
            self.question(turns), [texts[each.collection, each.pk] for each in there]
        ).tolist()
        order = sorted(range(len(there)), key=lambda place: (-scores[place], place))[:k]
        return Ranking(
            ranker=self.name,
            parameters={
                "model": model.name,
                "digest": model.digest,
                "query_model": self.query_model,
                "depth": self.depth,
                "inner": {"ranker": first.ranker, **first.parameters},
            },
            generations=first.generations,
            terms=first.terms,
            results=[
                RankedPassage(
                    rank,
                    scores[place],
                    there[place].collection,
                    there[place].pk,
                    {**there[place].parts, self.inner.name: there[place].score, PART: scores[place]},
                )
                for rank, place in enumerate(order, 1)
            ],
            notes=first.notes,
        )

    def question(self, turns: Sequence[str]) -> str:
        """What the model reads as the question: the turns that weigh something, oldest first, each once."""
        weights = turn_weights(len(turns), self.query_model)
        kept = [turn.strip() for turn, weight in zip(turns, weights, strict=True) if weight > 0]
        return " ".join(dict.fromkeys(turn for turn in kept if turn))
