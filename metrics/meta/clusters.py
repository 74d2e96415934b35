"""Clusters of metrics between which people can tell a difference (as WMT's tables have them).

Metrics stand in the order of their figures. A new cluster begins after a metric if every metric so far is
significantly better than every one that follows. Within a cluster at least one chain of metrics without a
significant difference holds all together.
"""

from collections.abc import Mapping, Sequence

from metrics.meta.metric_difference import MetricDifference


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
    found: list[list[str]] = []
    for place, name in enumerate(ranked):
        better, worse = ranked[:place], ranked[place:]
        if all(frozenset((a, b)) in apart for a in better for b in worse):
            found.append([name])
        else:
            found[-1].append(name)
    return found


def _value(values: Mapping[str, float | None], name: str) -> float:
    value = values[name]
    assert value is not None
    return value


def _significant(test: MetricDifference, alpha: float) -> bool:
    p = test.p if test.p_holm is None else test.p_holm
    return p is not None and p <= alpha
