"""How candidate passages of a query are found: the options of a stage or of a command, as one value. Pure."""

from dataclasses import dataclass
from typing import Any

#: Passages that are shown of each query, unless a number is given.
SHOWN = 10
#: Passages that the index is asked for and that are ranked, unless a number is given.
FETCHED = 100
#: Passages looked at for each that is shown, so that folded ones leave no gap.
_SPARE = 3
#: What a stage may choose, with the system of `retrieval.ranking.systems` that it means.
RANKERS = {
    "balanced": "balanced:{model}:candidates={fetched}",
    "crown-2020": "crown-2020:{model}:candidates={fetched}",
    "bm25": "bm25:{model}",
    "pool": "rrf(bm25:{model}+balanced:{model}:candidates={fetched}):depth={fetched}",
}
QUERY_MODELS = ("cq2", "cq1", "cq3", "current")


@dataclass(frozen=True)
class Recipe:
    """Ranker, conversational query, and how many passages are fetched, shown, and drawn from below the cut.

    `ranker` is one of `RANKERS`, or the name of any other system, which brings its own options.
    """

    shown: int = SHOWN
    ranker: str = "balanced"
    query_model: str = "cq2"
    fetched: int = FETCHED
    below: int = 0

    @property
    def system(self) -> str:
        """The name that `retrieval.ranking.systems` knows."""
        return RANKERS.get(self.ranker, self.ranker).format(model=self.query_model, fetched=self._fetched)

    @property
    def depth(self) -> int:
        """How far down the ranking is looked at: all of it where something is drawn from below the cut."""
        return self._fetched if self.below else min(self._fetched, self.shown * _SPARE)

    @property
    def _fetched(self) -> int:
        return max(self.fetched, self.shown + self.below)


def drawn_below(retrieval: Any) -> tuple[int, int] | None:
    """Of a candidate from below the cut: how many were drawn of the query's, of how many; else None."""
    below = retrieval.get("below") if isinstance(retrieval, dict) else None
    if not isinstance(below, dict):
        return None
    return int(below["drawn"]), int(below["of"])
