"""Reading a report: which figure leads, in which order metrics stand, and what everything is called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from unicodedata import category

from evaluations.report.parts import MetricEntry, Report, SystemEntry, read_report
from evaluations.report.protocols import NOT_CALCULATED, Figure

#: Correlations, and how answers are put together for them, in the order in which people read them.
STATISTICS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall τ-b"}
GROUPINGS = {"global": "global", "item": "by question", "by_system": "by system", "system": "system means"}
_OTHERS = {"pair_acc": "pairs right", "acc_eq": "acc-eq", "acc_eq_cal": "acc-eq, calibrated"}
#: Controls, halves of characters, what is no character; and what turns the direction of writing round.
_HIDDEN = ("Cc", "Cs", "Cn")
_TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_NO_MEAN = "the metric has no score for any answer of this system"


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


def title(report: Report, name: str) -> str:
    """What people call a metric or a sentinel."""
    entry = report.metrics.get(name) or report.floors.get(name)
    return visible((entry.title if entry else "") or name)


def visible(text: str) -> str:
    """The text with a mark in place of each character that cannot be shown or turns the writing round."""
    return "".join("\ufffd" if _is_hidden(each) else each for each in text)


def _is_hidden(character: str) -> bool:
    return character not in "\n\t" and (category(character) in _HIDDEN or character in _TURNS)


def clean_texts(report: Report) -> Report:
    """The same report, of which every text and name is visible."""
    return read_report(cleaned(report.as_json()))


def cleaned(given: Any) -> Any:
    """The same JSON, of which every text and name is visible."""
    if isinstance(given, str):
        return visible(given)
    if isinstance(given, Mapping):
        return {visible(str(name)): cleaned(each) for name, each in given.items()}
    return [cleaned(each) for each in given] if isinstance(given, list) else given


def lead(report: Report) -> Lead:
    """The first figure in reading order that any metric has; Pearson, global where none has one."""
    every = report.metrics.values()
    for statistic in STATISTICS:
        for grouping in GROUPINGS:
            if any(each.figure(statistic, grouping).value is not None for each in every):
                return Lead(statistic, grouping)
    for statistic in ("pair_acc", "acc_eq"):
        if any(each.figure(statistic).value is not None for each in every):
            return Lead(statistic, "")
    return Lead("pearson", "global")


def of_lead(entry: MetricEntry, by: Lead) -> Figure:
    """A metric's figure that metrics are ordered by."""
    return entry.figure(by.statistic, by.grouping)


def best_first(entries: Mapping[str, MetricEntry], by: Lead) -> list[str]:
    """Names, the one that agrees most with people first, those without a figure last."""

    def place(name: str) -> tuple[bool, float, str]:
        found = of_lead(entries[name], by).value
        return found is None, -(found or 0.0), name

    return sorted(entries, key=place)


def mean(system: SystemEntry, metric: str) -> Figure:
    """A metric's mean over a system's answers."""
    return _score(system, metric, "mean", _NO_MEAN)


def corpus(system: SystemEntry, metric: str) -> Figure:
    """A metric's score of a system as a whole."""
    return _score(system, metric, "corpus", NOT_CALCULATED)


def _score(system: SystemEntry, metric: str, of: Literal["mean", "corpus"], reason: str) -> Figure:
    scores = system.metrics.get(metric)
    found = None if scores is None else scores.mean if of == "mean" else scores.corpus
    return Figure(value=found) if found is not None else Figure(reason=reason)


def scale(report: Report) -> tuple[float, float] | None:
    """The ends of the scale that people used."""
    return report.scale if report.scale and report.scale[0] < report.scale[1] else None


def ceilings(report: Report) -> list[tuple[str, Figure]]:
    """How far people agree with one another, in the terms of the lead: what it is called, and the figure."""
    statistic = lead(report).statistic
    return [
        ("leave one rater out", report.ceiling.leave_one_out.figure(statistic)),
        ("split half", report.ceiling.split_half.figure(statistic)),
    ]


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


def figure(entry: MetricEntry | None, key: str) -> Figure:
    """A figure of a metric by its key, such as `pearson.global` or `pair_acc`."""
    if entry is None:
        return Figure(reason="it is not in the report")
    statistic, _, grouping = key.partition(".")
    return entry.figure(statistic, grouping)


def best_of(report: Report) -> tuple[str, float | None]:
    """The metric with the highest global Pearson correlation, the first by name among equal ones."""
    known = [
        (value, name)
        for name, entry in report.metrics.items()
        if (value := entry.figure("pearson", "global").value) is not None
    ]
    if not known:
        return "", None
    value, name = min(known, key=lambda each: (-each[0], each[1]))
    return name[:100], value
