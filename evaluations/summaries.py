"""What lists and comparisons say about a report, read with care: it may come from another version."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Figures of a metric: what the report calls them, and how people do.
STATISTICS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall τ-b"}
GROUPINGS = {
    "global": "over all answers",
    "item": "within questions",
    "by_system": "within systems",
    "system": "of system means",
}
PAIRS = {
    "pair_acc": "Pairs in the right order",
    "acc_eq": "Pairs with ties",
    "acc_eq_cal": "Pairs with ties, calibrated",
    "rank_match": "Pairs far apart",
    "pa": "System pairs",
    "spa": "Soft system pairs",
}
#: Every figure that can be compared, by its key in addresses.
FIGURES = {
    **{
        f"{statistic}.{grouping}": f"{words}, {how}"
        for statistic, words in STATISTICS.items()
        for grouping, how in GROUPINGS.items()
    },
    **PAIRS,
}


@dataclass(frozen=True, slots=True)
class FigureView:
    """A figure: value with its interval, or None and why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


def metrics_of(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metrics of a report by name."""
    found = report.get("metrics")
    return found if isinstance(found, Mapping) else {}


def figure(metric: Any, key: str) -> FigureView:
    """A figure of a metric by its key, such as `pearson.global` or `pair_acc`."""
    at = metric
    for part in key.split("."):
        at = at.get(part) if isinstance(at, Mapping) else None
    if not isinstance(at, Mapping):
        return FigureView(None, reason="it is not in the report")
    ends = at.get("ci")
    low, high = ends if isinstance(ends, list) and len(ends) == 2 else (None, None)
    reason = str(at.get("reason") or "it is not defined")
    value = _number(at.get("value"))
    return FigureView(value, _number(low), _number(high), "" if value is not None else reason)


def best_of(report: Mapping[str, Any]) -> tuple[str, float | None]:
    """The metric with the highest global Pearson correlation, the first by name among equal ones."""
    known = [(value, name) for name, value in _globally(report) if value is not None]
    if not known:
        return "", None
    value, name = min(known, key=lambda each: (-each[0], each[1]))
    return name[:100], value


def _globally(report: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    for name, metric in metrics_of(report).items():
        yield str(name), figure(metric, "pearson.global").value


def _number(given: Any) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return None
    return float(given)
