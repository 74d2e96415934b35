"""Tests of metrics against each other, as rows of the report have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from evaluations.reporting.reader import Lead, Report, mapping, name_statistic, number, rows

#: What is less likely under chance than this counts as a difference, after Holm.
LEVEL = 0.05
METHODS = {
    "perm_inputs": "permutation of whole questions",
    "perm_both": "permutation of single answers",
    "perm_systems": "permutation of systems",
    "williams": "Williams' test",
    "bootstrap": "paired bootstrap",
    "paired_bootstrap": "paired bootstrap",
}


@dataclass(frozen=True, slots=True)
class Test:
    """Is `a` better than `b`? `delta` is the difference of their figures; `mdd` could just have been seen."""

    a: str
    b: str
    delta: float | None
    p: float | None
    p_holm: float | None
    mdd: float | None
    n: float | None
    reason: str

    @property
    def counts(self) -> float | None:
        """The probability that decides: after Holm where that was done."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def better(self) -> str:
        """The one that agrees significantly better, or nothing."""
        if self.counts is None or self.counts >= LEVEL or not self.delta:
            return ""
        return self.a if self.delta > 0 else self.b


@dataclass(frozen=True, slots=True)
class Comparison:
    """All tests of one figure by one method, and what they say together."""

    statistic: str
    grouping: str
    method: str
    tests: tuple[Test, ...]
    clusters: tuple[tuple[str, ...], ...] = ()

    @property
    def words(self) -> str:
        """`Pearson, global, permutation of whole questions`."""
        method = METHODS.get(self.method, self.method)
        return ", ".join(filter(None, (name_statistic(self.statistic, self.grouping), method)))

    def of(self, one: str, other: str) -> Test | None:
        """The test of two metrics, whichever stands first in it."""
        wanted = {one, other}
        return next((each for each in self.tests if {each.a, each.b} == wanted), None)


def comparisons(report: Report) -> list[Comparison]:
    """The comparisons in the order of the report; permutation tests before quick looks."""
    known = [each for each in rows(report.get("tests")) if each.get("a") and each.get("b")]
    order = {key: at for at, key in reversed(list(enumerate(map(_figure, known))))}
    known.sort(key=lambda each: (not _method(each).startswith("perm"), order[_figure(each)], _method(each)))
    groups = mapping(report.get("clusters"))
    found = []
    for (statistic, grouping, method), tests in groupby(known, lambda each: (*_figure(each), _method(each))):
        clusters = groups.get(f"{statistic}|{grouping}")
        found.append(Comparison(statistic, grouping, method, tuple(map(_test, tests)), _clusters(clusters)))
    return found


def leading(report: Report, by: Lead) -> Comparison | None:
    """The comparison of the figure that metrics are ordered by."""
    same = (each for each in comparisons(report) if (each.statistic, each.grouping) == _of(by))
    return next(same, None)


def _of(by: Lead) -> tuple[str, str]:
    return by.statistic, by.grouping


def _figure(row: Mapping[str, Any]) -> tuple[str, str]:
    return str(row.get("statistic") or ""), str(row.get("grouping") or "")


def _method(row: Mapping[str, Any]) -> str:
    return str(row.get("method") or "")


def _test(row: Mapping[str, Any]) -> Test:
    figures = {name: number(row.get(name)) for name in ("delta", "p", "p_holm", "mdd", "n")}
    reason = row.get("reason")
    why = reason if isinstance(reason, str) else str(next(iter(mapping(reason).values()), ""))
    return Test(str(row["a"]), str(row["b"]), **figures, reason=why)


def _clusters(given: Any) -> tuple[tuple[str, ...], ...]:
    if not isinstance(given, list):
        return ()
    return tuple(tuple(map(str, each)) for each in given if isinstance(each, list))
