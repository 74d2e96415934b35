"""The tests of the report: every pair of metrics by every comparison of the plan, corrected and clustered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from metrics.meta.clusters import clusters
from metrics.meta.comparisons import compared
from metrics.meta.detectable import detectable
from metrics.meta.draws import SAMPLES, blocks
from metrics.meta.metric_difference import MetricDifference
from metrics.meta.part_runner import P, PartRunner, R
from metrics.meta.permutation import PERMUTATIONS
from metrics.meta.plan import Comparison, Plan
from metrics.meta.scored_answers import ScoredAnswers


@dataclass(frozen=True, slots=True)
class Tests:
    """All tests, and the clusters of each statistic and grouping."""

    said: list[dict[str, Any]]
    clusters: dict[str, list[list[str]]]


def tests(
    judged: ScoredAnswers,
    plan: Plan,
    figures: Mapping[tuple[str, str], Mapping[str, float | None]],
    *,
    spread: PartRunner,
    done: Callable[[int, str], None],
) -> Tests:
    """Every comparison of the plan for every pair of metrics in alphabetical order.

    `figures` are the metrics' values by statistic and grouping, for the order of the clusters. Holm's
    correction is over the pairs of one comparison. Clusters come from a comparison's permutation test (its
    first method otherwise), at the plan's level after correction. `done` hears how many more parts are done.
    """
    pairs = list(combinations(sorted(judged.metrics), 2))
    said: list[dict[str, Any]] = []
    found: dict[str, list[list[str]]] = {}
    for comparison in plan.comparisons if pairs else ():
        made = _compared(judged, pairs, comparison, plan, spread=spread, done=done)
        said += [{**test.as_json(), **_detectable(test, plan)} for test in made]
        name = f"{comparison.statistic}|{comparison.grouping}"
        if comparison.method in PERMUTATIONS or name not in found:
            values = figures[comparison.statistic, comparison.grouping]
            found[name] = clusters(values, made, plan.level)
    return Tests(said, found)


def parts_of_tests(judged: ScoredAnswers, plan: Plan) -> int:
    """How often `done` is told of one more."""
    if len(judged.metrics) < 2:
        return 0
    return sum(_parts(comparison, plan) for comparison in plan.comparisons)


def _compared(
    judged: ScoredAnswers,
    pairs: Sequence[tuple[str, str]],
    comparison: Comparison,
    plan: Plan,
    *,
    spread: PartRunner,
    done: Callable[[int, str], None],
) -> list[MetricDifference]:
    telling = _ComparisonProgress(spread, comparison, _parts(comparison, plan), done)
    found = compared(
        judged,
        pairs,
        comparison.statistic,
        comparison.grouping,
        comparison.method,
        draws=plan.replicates if comparison.method == "bootstrap" else plan.draws,
        seed=plan.seed,
        gap=plan.clear,
        spread=telling,
    )
    telling.up_to(telling.total)
    return found


class _ComparisonProgress:
    """A spread that says how far one comparison is, which is never more than `total` parts."""

    def __init__(
        self, spread: PartRunner, comparison: Comparison, total: int, told: Callable[[int, str], None]
    ) -> None:
        self.total = total
        self._spread, self._told, self._so_far = spread, told, 0
        self._what = f"{comparison.method} {comparison.statistic} {comparison.grouping}"

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        # Metrics that lack different answers come one after the other, each with all the draws.
        before = self._so_far
        return self._spread(work, parts, lambda count: self.up_to(before + count))

    def up_to(self, count: int) -> None:
        """Tell that so many parts are done."""
        more = min(count, self.total) - self._so_far
        if more > 0:
            self._so_far += more
            self._told(more, self._what)


def _parts(comparison: Comparison, plan: Plan) -> int:
    if comparison.method == "bootstrap":
        return len(blocks(plan.replicates, SAMPLES))
    return len(blocks(plan.draws)) if comparison.method in PERMUTATIONS else 1


def _detectable(test: MetricDifference, plan: Plan) -> dict[str, Any]:
    """`mdd`: the smallest true difference that this test would have found; None with a reason."""
    figure = detectable(test.null_sd, level=plan.level, power=plan.power)
    said: dict[str, Any] = {"mdd": figure.value}
    return said if figure.value is not None else {**said, "mdd_reason": figure.reason}
