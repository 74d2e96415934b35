"""Williams' test of two dependent correlations (Williams 1959; Steiger 1980, formula 7; Graham and Baldwin
2014).

`williams(judged, pairs) -> list[Compared]`. Two metrics correlate with the same human scores, and with each
other:

    t = (r_ha - r_hb) · sqrt((n - 1)(1 + r_ab)) / sqrt(2 (n - 1)/(n - 3) · K + r̄² (1 - r_ab)³)

with K = 1 - r_ha² - r_hb² - r_ab² + 2 r_ha r_hb r_ab, r̄ = (r_ha + r_hb) / 2 and n - 3 degrees of freedom. It
holds for Pearson's r over all answers, if they were independent: a quick look beside the permutation tests.
"""

import math
from collections.abc import Sequence

import numpy as np

from metrics.meta.cohorts import Pair, cohorts_of
from metrics.meta.kernels import pearson
from metrics.meta.metric_difference import MetricDifference
from metrics.meta.rows import rows_of
from metrics.meta.scored_answers import ScoredAnswers

FEW = "not defined: Williams' test needs four answers with both scores"
SAME = "not defined: the two metrics are the same but for scale"


def williams(judged: ScoredAnswers, pairs: Sequence[Pair]) -> list[MetricDifference]:
    """Williams' test of each pair, two-sided."""
    rows = rows_of(judged, sorted({name for pair in pairs for name in pair}))
    dealt = cohorts_of(rows, pairs, "pearson", "global", 0.0)
    between = [0.0] * len(pairs)
    for cohort in dealt.cohorts:
        for place, a, b in zip(cohort.pairs, cohort.first, cohort.second, strict=True):
            r = pearson(cohort.scores[a], cohort.scores[b][None], np.zeros(1, np.int64))
            between[place] = float(r[0, 0])
    found = []
    for place, (a, b) in enumerate(pairs):
        delta, n = dealt.delta(place), dealt.sizes[place]
        p, error, reason = None, None, dealt.why(place, (a, b))
        if delta is not None and n < 4:
            reason = FEW
        elif delta is not None:
            first, second = (figure.value or 0.0 for figure in dealt.figures[place])
            error = williams_error(first, second, between[place], n)
            p, reason = (None, SAME) if error is None else (p_of_t(delta / error, n - 3), "")
        found.append(
            MetricDifference(a, b, "pearson", "global", "williams", delta, p, n, error, reason=reason)
        )
    return found


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
    from scipy.special import stdtr  # noqa: PLC0415 - takes a while to load

    return float(2 * stdtr(degrees, -abs(t)))
