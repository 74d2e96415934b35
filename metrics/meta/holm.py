"""Holm's correction for many tests (Holm 1979, Scandinavian Journal of Statistics 6(2))."""

from collections.abc import Sequence

from metrics.meta.metric_difference import MetricDifference


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Corrected p-values in the same order: of m tests the i-th smallest p (from 0) times m - i.

    Never less than the one before it, never above 1. None, where a test has no p, stays None and is no test.
    """
    order = sorted((p, place) for place, p in enumerate(ps) if p is not None)
    found: list[float | None] = [None] * len(ps)
    highest = 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        found[place] = highest
    return found


def corrected(tests: Sequence[MetricDifference]) -> list[MetricDifference]:
    """Tests of one family (one statistic, grouping and method) with `p_holm`."""
    return [test.corrected(p) for test, p in zip(tests, holm([test.p for test in tests]), strict=True)]
