"""The report of an evaluation: its figures, each a number or the reason why there is none."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from unicodedata import category

Report = Mapping[str, Any]

#: Correlations, and how answers are put together for them, in the order in which people read them.
STATISTICS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall τ-b"}
GROUPINGS = {"global": "global", "item": "by question", "by_system": "by system", "system": "system means"}
_OTHERS = {"pair_acc": "pairs right", "acc_eq": "acc-eq", "acc_eq_cal": "acc-eq, calibrated"}
#: Controls, halves of characters, what is no character; and what turns the direction of writing round.
_HIDDEN = ("Cc", "Cs", "Cn")
_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_NO_MEAN = "the metric has no score for any answer of this system"
_UNSAID = "it was not calculated"


@dataclass(frozen=True, slots=True)
class Value:
    """A figure of the report: a number with its interval, or None and why; `more` is what else it says."""

    value: float | None
    reason: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lead:
    """The figure that metrics are ordered by; `grouping` is empty where there is none."""

    statistic: str
    grouping: str

    @property
    def words(self) -> str:
        """As it stands in a sentence."""
        return name_statistic(self.statistic, self.grouping)


def name_statistic(statistic: str, grouping: str) -> str:
    """A figure's name in words: `Pearson, global`."""
    words = STATISTICS.get(statistic) or _OTHERS.get(statistic) or statistic.replace("_", " ")
    return ", ".join(filter(None, (words, GROUPINGS.get(grouping, grouping))))


def number(given: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    return float(given) if math.isfinite(given) else None


def mapping(given: Any) -> Mapping[str, Any]:
    """The mapping, or an empty one."""
    return given if isinstance(given, Mapping) else {}


def rows(given: Any) -> list[Mapping[str, Any]]:
    """The rows of a list that are mappings."""
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    return [each for each in listed if isinstance(each, Mapping)]


def value(of: Any, *path: str) -> Value:
    """The figure at a path; a reason anywhere on the way is its reason."""
    reason = _UNSAID
    for part in path:
        inside = mapping(of)
        why = inside.get("reason")
        reason = why if isinstance(why, str) and why else reason
        of = inside.get(part)
    if isinstance(of, Mapping):
        return _figure(of, reason)
    found = number(of)
    return Value(found, "" if found is not None else reason)


def _figure(of: Mapping[str, Any], reason: str) -> Value:
    given = of.get("reason")
    why = given if isinstance(given, str) and given else mapping(given).get("value") or reason
    found = number(of.get("value"))
    ends = of.get("ci")
    low = high = None
    if isinstance(ends, Sequence) and len(ends) == 2:
        low, high = number(ends[0]), number(ends[1])
    n = number(of.get("n"))
    both = low is not None and high is not None
    return Value(
        found,
        "" if found is not None else str(why),
        low if both else None,
        high if both else None,
        int(n) if n is not None else None,
        {name: each for name, each in of.items() if name not in ("value", "ci", "n", "reason")},
    )


def metrics(report: Report) -> Mapping[str, Mapping[str, Any]]:
    """The entries of the metrics."""
    return {name: mapping(each) for name, each in mapping(report.get("metrics")).items()}


def floors(report: Report) -> Mapping[str, Mapping[str, Any]]:
    """The entries of the sentinels, those that have any figure."""
    return {name: each for name, each in mapping(report.get("floors")).items() if isinstance(each, Mapping)}


def title(report: Report, name: str) -> str:
    """What people call a metric or a sentinel."""
    for part in ("metrics", "floors"):
        given = mapping(mapping(report.get(part)).get(name)).get("title")
        if isinstance(given, str) and given:
            return visible(given)
    return visible(name)


def visible(text: str) -> str:
    """The text with a mark in place of each character that cannot be shown or turns the writing round."""
    return "".join("\ufffd" if _is_hidden(each) else each for each in text)


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and (category(character) in _HIDDEN or character in _TURNS)


def cleaned(given: Any) -> Any:
    """The same JSON, of which every text and name is visible."""
    if isinstance(given, str):
        return visible(given)
    if isinstance(given, Mapping):
        return {visible(str(name)): cleaned(each) for name, each in given.items()}
    return [cleaned(each) for each in given] if isinstance(given, list | tuple) else given


def lead(report: Report) -> Lead:
    """The first figure in reading order that any metric has; Pearson, global where none has one."""
    every = metrics(report).values()
    for statistic in STATISTICS:
        for grouping in GROUPINGS:
            if any(value(each, statistic, grouping).value is not None for each in every):
                return Lead(statistic, grouping)
    for statistic in ("pair_acc", "acc_eq"):
        if any(value(each, statistic).value is not None for each in every):
            return Lead(statistic, "")
    return Lead("pearson", "global")


def of_lead(entry: Mapping[str, Any], by: Lead) -> Value:
    """A metric's figure that metrics are ordered by."""
    return value(entry, by.statistic, by.grouping) if by.grouping else value(entry, by.statistic)


def best_first(entries: Mapping[str, Mapping[str, Any]], by: Lead) -> list[str]:
    """Names, the one that agrees most with people first, those without a figure last."""

    def place(name: str) -> tuple[bool, float, str]:
        found = of_lead(entries[name], by).value
        return found is None, -(found or 0.0), name

    return sorted(entries, key=place)


def mean(system: Mapping[str, Any], metric: str) -> Value:
    """A metric's mean over a system's answers."""
    found = value(system, "metrics", metric, "mean")
    return Value(None, _NO_MEAN) if found.reason == _UNSAID else found


def scale(report: Report) -> tuple[float, float] | None:
    """The ends of the scale that people used."""
    given = report.get("scale")
    if not isinstance(given, Sequence) or len(given) != 2:
        return None
    low, high = number(given[0]), number(given[1])
    return (low, high) if low is not None and high is not None and low < high else None


def ceilings(report: Report) -> list[tuple[str, Value]]:
    """How far people agree with one another, in the terms of the lead: what it is called, and the figure."""
    by = lead(report)
    words = {"leave_one_out": "leave one rater out", "split_half": "split half"}
    ceiling = report.get("ceiling")
    found = []
    for name, called in words.items():
        entry = mapping(ceiling).get(name)
        plain = mapping(mapping(entry).get(by.statistic))
        path = (by.statistic, by.grouping) if by.grouping in plain else (by.statistic,)
        found.append((called, value(ceiling, name, *path)))
    return found


#: Figures of a metric: what the report calls them, and how people do.
GROUPING_WORDS = {
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
        for grouping, how in GROUPING_WORDS.items()
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
