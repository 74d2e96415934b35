"""How many good passages nobody sees: estimated from those that were drawn from below the cut."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from annotation.models import CandidatePassage, PassageSelection
from annotation.retrieval_options import drawn_below
from core.projects.models import Project
from crowd.counted_work import counting

_Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class PooledQuery:
    """A query whose editors also saw passages from below: how many of each kind they chose."""

    above: int
    below: int
    drawn: int
    of: int

    @property
    def missed(self) -> float:
        """Good passages below the cut, estimated: each that was chosen stands for of / drawn."""
        return self.below * self.of / self.drawn if self.drawn else 0.0


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of the passages that editors would choose which are above the cut.

    The ratio of sums over queries, with the standard error of a ratio by linearisation (Cochran 1977,
    section 6.3); it needs two queries. `recall` is None where nothing was chosen.
    """

    queries: int
    above: int
    below: int
    missed: float
    recall: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @property
    def in_words(self) -> str:
        """A sentence or two."""
        if not self.queries:
            return (
                "No query has a choice of editors who also saw passages from below the cut. Curation shows "
                "some with the option `below`, and `manage.py candidates --below N` stores some."
            )
        chosen = (
            f"Of {self.queries:,} queries editors chose {self.above:,} passages above the cut, and "
            f"{self.below:,} of those drawn from below, which stand for about {self.missed:.1f}."
        )
        if self.recall is None:
            return f"{chosen} Nothing was chosen, so recall cannot be estimated."
        span = "" if self.low is None or self.high is None else f" (95%: {self.low:.3f} to {self.high:.3f})"
        return f"{chosen} Estimated recall of what is shown: {self.recall:.3f}{span}."


def recall_of(project: Project) -> Recall:
    """Estimated over the queries of a project with good selections; two statements."""
    chosen: dict[int, set[str]] = {}
    selections = PassageSelection.objects.filter(counting("assignment"), query__project=project).values_list(
        "query", "passages"
    )
    for query, keys in selections.iterator():
        chosen.setdefault(query, set()).update(str(key) for key in keys)
    candidates = CandidatePassage.objects.filter(
        counting("query__selections__assignment"), query__project=project, folded_into=None
    ).distinct()
    rows = candidates.order_by().values_list("pk", "query", "key", "retrieval").iterator()
    return estimate(_seen(((query, key, kept) for _, query, key, kept in rows), chosen))


def _seen(rows: Iterable[tuple[int, str, Any]], chosen: Mapping[int, set[str]]) -> list[PooledQuery]:
    above: dict[int, int] = {}
    below: dict[int, int] = {}
    draws: dict[int, tuple[int, int]] = {}
    for query, key, kept in rows:
        draw = drawn_below(kept)
        counts = above if draw is None else below
        counts[query] = counts.get(query, 0) + (key in chosen.get(query, ()))
        if draw is not None:
            draws[query] = draw
    return [
        PooledQuery(above.get(query, 0), below.get(query, 0), drawn, of)
        for query, (drawn, of) in draws.items()
    ]


def estimate(seen: Iterable[PooledQuery]) -> Recall:
    """Recall with its interval, cut to 0 and 1."""
    queries = list(seen)
    above, below = sum(each.above for each in queries), sum(each.below for each in queries)
    missed = math.fsum(each.missed for each in queries)
    total, n = above + missed, len(queries)
    if not total:
        return Recall(n, above, below, missed, None, None, None)
    recall = above / total
    if n < 2:
        return Recall(n, above, below, missed, recall, None, None)
    residuals = math.fsum((each.above - recall * (each.above + each.missed)) ** 2 for each in queries)
    error = math.sqrt(residuals * n / (n - 1)) / total
    low, high = max(0.0, recall - _Z95 * error), min(1.0, recall + _Z95 * error)
    return Recall(n, above, below, missed, recall, low, high)
