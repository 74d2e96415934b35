"""The tests of the report: every pair of metrics by every comparison of the plan, corrected and clustered."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import Any

import numpy as np

from metrics.errors import MetricError
from metrics.figure import Figure
from metrics.metaeval.bootstrap import paired
from metrics.metaeval.correlation import pearson
from metrics.metaeval.data import Grouping, ScoredAnswers, rows_of
from metrics.metaeval.executor import SAMPLES, P, PartRunner, R, blocks, in_process
from metrics.metaeval.permutation import PERMUTATIONS, compare
from metrics.metaeval.plan import (
    METHODS,
    AnyStatistic,
    Comparison,
    Method,
    MetricDifference,
    Pair,
    Plan,
    cohorts_of,
)

# Holm's correction for many tests (Holm 1979, Scandinavian Journal of Statistics 6(2)).


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Corrected p-values in the same order: of m tests the i-th smallest p (from 0) times m - i.

    Never less than the one before it, never above 1. None, where a test has no p, stays None and is no test.
    """
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        adjusted[place] = highest
    return adjusted


def corrected(tests: Sequence[MetricDifference]) -> list[MetricDifference]:
    """Tests of one family (one statistic, grouping and method) with `p_holm`."""
    return [test.corrected(p) for test, p in zip(tests, holm([test.p for test in tests]), strict=True)]


# Williams' test of two dependent correlations (Williams 1959; Steiger 1980, formula 7; Graham and Baldwin
# 2014).
#
# `williams(judged, pairs) -> list[MetricDifference]`. Two metrics correlate with the same human scores, and
# with each other:
#
#     t = (r_ha - r_hb) · sqrt((n - 1)(1 + r_ab)) / sqrt(2 (n - 1)/(n - 3) · K + r̄² (1 - r_ab)³)
#
# with K = 1 - r_ha² - r_hb² - r_ab² + 2 r_ha r_hb r_ab, r̄ = (r_ha + r_hb) / 2 and n - 3 degrees of
# freedom. It holds for Pearson's r over all answers, if they were independent: a quick look beside the
# permutation tests.

FEW = "not defined: Williams' test needs four answers with both scores"
SAME = "not defined: the two metrics are the same but for scale"


def williams(answers: ScoredAnswers, pairs: Sequence[Pair]) -> list[MetricDifference]:
    """Williams' test of each pair, two-sided."""
    rows = rows_of(answers, sorted({name for pair in pairs for name in pair}))
    dealt = cohorts_of(rows, pairs, "pearson", "global", 0.0)
    between = [0.0] * len(pairs)
    for cohort in dealt.cohorts:
        for place, a, b in zip(cohort.pairs, cohort.first, cohort.second, strict=True):
            r = pearson(cohort.scores[a], cohort.scores[b][None], np.zeros(1, np.int64))
            between[place] = float(r[0, 0])
    differences = []
    for place, (a, b) in enumerate(pairs):
        delta, n = dealt.delta(place), dealt.sizes[place]
        p, error, reason = None, None, dealt.why(place, (a, b))
        if delta is not None and n < 4:
            reason = FEW
        elif delta is not None:
            first, second = (figure.value or 0.0 for figure in dealt.figures[place])
            error = williams_error(first, second, between[place], n)
            p, reason = (None, SAME) if error is None else (p_of_t(delta / error, n - 3), "")
        differences.append(
            MetricDifference(a, b, "pearson", "global", "williams", delta, p, n, error, reason=reason)
        )
    return differences


def williams_p(human_a: float, human_b: float, between: float, n: int) -> float | None:
    """The two-sided p-value from the three correlations of n answers; None where the test is not defined."""
    error = williams_error(human_a, human_b, between, n) if n > 3 else None
    return None if error is None else p_of_t((human_a - human_b) / error, n - 3)


def williams_error(human_a: float, human_b: float, between: float, n: int) -> float | None:
    """The standard error of the difference; None if there is none (both metrics are one)."""
    k = 1 - human_a**2 - human_b**2 - between**2 + 2 * human_a * human_b * between
    mean = (human_a + human_b) / 2
    spread = 2 * (n - 1) / (n - 3) * max(k, 0.0) + mean**2 * max(1 - between, 0.0) ** 3
    weight = (n - 1) * (1 + between)
    return math.sqrt(spread / weight) if spread > 1e-14 and weight > 1e-9 else None


def p_of_t(t: float, degrees: int) -> float:
    """Two-sided p-value of Student's t."""
    from scipy.special import stdtr

    return float(2 * stdtr(degrees, -abs(t)))


# All pairs of metrics tested by one method, with Holm's correction over them.
#
# `compared(judged, pairs, statistic, grouping, method, draws=9999, seed=0) -> list[MetricDifference]`.


def compared(
    answers: ScoredAnswers,
    pairs: Sequence[Pair],
    statistic: AnyStatistic = "pearson",
    grouping: Grouping = "global",
    method: Method = "perm_inputs",
    *,
    draws: int = 9999,
    seed: int = 0,
    gap: float = 2.0,
    spread: PartRunner = in_process,
) -> list[MetricDifference]:
    """The tests of one family, in the order of the pairs, each with `p_holm`. MetricError in words."""
    if method == "williams":
        if (statistic, grouping) != ("pearson", "global"):
            raise MetricError("Williams' test is one of Pearson's r over all answers: pearson, global.")
        return corrected(williams(answers, pairs))
    if method == "bootstrap":
        tests = paired(answers, pairs, statistic, grouping, draws=draws, seed=seed, gap=gap, spread=spread)
        return corrected(tests)
    if method not in PERMUTATIONS:
        raise MetricError(f"There is no test “{method}”; known are: {', '.join(METHODS)}.")
    tests = compare(
        answers, pairs, statistic, grouping, method, draws=draws, seed=seed, gap=gap, spread=spread
    )
    return corrected(tests)


# Clusters of metrics between which people can tell a difference (as WMT's tables have them).
#
# Metrics stand in the order of their figures. A new cluster begins after a metric if every metric so far is
# significantly better than every one that follows. Within a cluster at least one chain of metrics without a
# significant difference holds all together.


def clusters(
    values: Mapping[str, float | None], tests: Sequence[MetricDifference], alpha: float = 0.05
) -> list[list[str]]:
    """Names from the best cluster to the worst; metrics without a value are left out.

    `values` are the metrics' figures and `tests` those of all pairs, of one statistic, grouping and method.
    The corrected p-value decides where there is one. A pair that was not tested is not significant.
    """
    ranked = sorted(
        (name for name, value in values.items() if value is not None),
        key=lambda name: (-_value(values, name), name),
    )
    apart = {frozenset((test.a, test.b)) for test in tests if _significant(test, alpha)}
    groups: list[list[str]] = []
    for place, name in enumerate(ranked):
        better, worse = ranked[:place], ranked[place:]
        if all(frozenset((a, b)) in apart for a in better for b in worse):
            groups.append([name])
        else:
            groups[-1].append(name)
    return groups


def _value(values: Mapping[str, float | None], name: str) -> float:
    value = values[name]
    assert value is not None
    return value


def _significant(test: MetricDifference, alpha: float) -> bool:
    p = test.p if test.p_holm is None else test.p_holm
    return p is not None and p <= alpha


# The smallest true difference between two metrics that a test of this size would find.
#
# "No significant difference" says little without it: with 100 answers a difference of .1 between two
# correlations is mostly missed. Where the difference is about normal with standard error SE,
#
#     mdd = (z(1 - level / 2) + z(power)) SE,
#
# with level .05 and power .8: 2.80 SE. SE is what the test itself works with: for Williams' test the
# standard error of the difference of two dependent correlations (Williams 1959; Steiger 1980, formula 7),
# for a permutation test the spread of the differences over its draws, for the bootstrap that over its
# samples.

LEVEL = 0.05
POWER = 0.8
UNKNOWN = "the spread of the difference is not known"
NONE = "no draw changes the difference"


def detectable(error: float | None, *, level: float = LEVEL, power: float = POWER) -> Figure:
    """The minimal detectable difference for a standard error; none where that is not known or 0."""
    if error is None:
        return Figure(None, UNKNOWN)
    if error <= 0:
        return Figure(None, NONE)
    normal = NormalDist()
    return Figure((normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)) * error)


@dataclass(frozen=True, slots=True)
class Tests:
    """All tests, and the clusters of each statistic and grouping."""

    entries: list[dict[str, Any]]
    clusters: dict[str, list[list[str]]]


def tests(
    answers: ScoredAnswers,
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
    pairs = list(combinations(sorted(answers.metrics), 2))
    entries: list[dict[str, Any]] = []
    groups: dict[str, list[list[str]]] = {}
    for comparison in plan.comparisons if pairs else ():
        differences = _compared(answers, pairs, comparison, plan, spread=spread, done=done)
        entries += [{**test.as_json(), **_detectable(test, plan)} for test in differences]
        name = f"{comparison.statistic}|{comparison.grouping}"
        if comparison.method in PERMUTATIONS or name not in groups:
            values = figures[comparison.statistic, comparison.grouping]
            groups[name] = clusters(values, differences, plan.level)
    return Tests(entries, groups)


def parts_of_tests(answers: ScoredAnswers, plan: Plan) -> int:
    """How often `done` is told of one more."""
    if len(answers.metrics) < 2:
        return 0
    return sum(_parts(comparison, plan) for comparison in plan.comparisons)


def _compared(
    answers: ScoredAnswers,
    pairs: Sequence[tuple[str, str]],
    comparison: Comparison,
    plan: Plan,
    *,
    spread: PartRunner,
    done: Callable[[int, str], None],
) -> list[MetricDifference]:
    telling = _ComparisonProgress(spread, comparison, _parts(comparison, plan), done)
    differences = compared(
        answers,
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
    return differences


class _ComparisonProgress:
    """A spread that says how far one comparison is, which is never more than `total` parts."""

    def __init__(
        self, spread: PartRunner, comparison: Comparison, total: int, report_part: Callable[[int, str], None]
    ) -> None:
        self.total = total
        self._spread, self._told, self._so_far = spread, report_part, 0
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
    fields: dict[str, Any] = {"mdd": figure.value}
    return fields if figure.value is not None else {**fields, "mdd_reason": figure.reason}
