"""Tables of the report: numbers as papers print them, cells with notes, and the tables themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from evaluations.report import model
from evaluations.report.model import GROUPINGS, STATISTICS, Report, Value, mapping, number, rows, value

MINUS = "\u2212"
_LEAST_P = 0.001
#: A space at which no line is broken.
_CLOSE = "\u00a0"


def short(value: float, places: int = 3) -> str:
    """`.423`, `-.035`, `1.000`, `12.500`; what rounds to nothing has no sign."""
    text = f"{abs(value):.{places}f}"
    sign = MINUS if value < 0 and float(text) != 0 else ""
    return sign + (text.removeprefix("0") if places else text)


def between(low: float, high: float, places: int = 3) -> str:
    """`[.366, .480]`."""
    return f"[{short(low, places)}, {short(high, places)}]"


def probability(p: float) -> str:
    """`.012`, or `< .001`."""
    return f"<{_CLOSE}{short(_LEAST_P)}" if p < _LEAST_P else short(p)


def p_is(p: float) -> str:
    """`p = .012` or `p < .001`."""
    sign = "" if p < _LEAST_P else f"={_CLOSE}"
    return f"p{_CLOSE}{sign}{probability(p)}"


def whole(value: float) -> str:
    """`1,000`."""
    return f"{value:,.0f}"


def percent(share: float) -> str:
    """`56.6 %`."""
    return f"{100 * share:.1f}{_CLOSE}%"


def listed(words: list[str], most: int = 6) -> str:
    """`a`, `a and b`, `a, b and c`; of many the first ones and how many more there are."""
    if len(words) > most:
        return f"{', '.join(words[: most - 1])} and {len(words) - most + 1} others"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


_MOST = 80


def plain(text: object) -> str:
    """A name without characters that cannot be shown, and not longer than a line."""
    shown = " ".join(model.visible(str(text)).split())
    return (shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…") or "(no name)"


def labels(report: Report) -> dict[str, str]:
    """What each metric and sentinel is called; where two have the same title, both have their names."""
    names = [*model.metrics(report), *model.floors(report)]
    titles = {name: plain(model.title(report, name)) for name in names}
    often = list(titles.values())
    return {
        name: title if often.count(title) == 1 else plain(f"{title} ({name})")
        for name, title in titles.items()
    }


NOTHING = "\u2013"


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell: `small` under it; `note` is the number of a note that says `why`."""

    text: str
    small: str = ""
    note: int = 0
    why: str = ""
    words: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, what stands under the name, and its cells; `look` is `apart` after a group."""

    name: str
    cells: Sequence[Cell]
    small: str = ""
    look: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a caption; the first heading is that of the names."""

    caption: str
    headings: Sequence[str]
    lines: Sequence[Line]

    @property
    def heads(self) -> list[tuple[str, bool]]:
        """The headings, and whether words stand below each."""
        wordy = [each.words for each in self.lines[0].cells] if self.lines else []
        return list(zip(self.headings, [True, *wordy], strict=False))

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass(eq=False)
class Notes:
    """Why figures are missing: one note for each reason, numbered from 1 in the order of the page."""

    reasons: dict[str, int] = field(default_factory=dict)

    def figure(self, found: Value, places: int = 3) -> Cell:
        """The figure with its interval, or a dash and a note."""
        if found.value is None:
            return self.missing(found.reason)
        ends = found.low is not None and found.high is not None
        small = between(found.low or 0.0, found.high or 0.0, places) if ends else ""
        return Cell(short(found.value, places), small)

    def missing(self, reason: str) -> Cell:
        """A dash that leads to the note with the reason."""
        why = reason.strip().rstrip(".") or "it was not calculated"
        return Cell(NOTHING, note=self.reasons.setdefault(why, len(self.reasons) + 1), why=why)

    def plain(self, given: Any, reason: str = "") -> Cell:
        """A number, a share or a text of the report as it is."""
        if isinstance(given, bool):
            return Cell("yes" if given else "no", words=True)
        found = number(given)
        if found is not None:
            return Cell(whole(found) if found.is_integer() else short(found))
        if isinstance(given, Mapping):
            return self.figure(value({"it": given}, "it"))
        if given is None or given == "":
            return self.missing(reason) if reason else Cell(NOTHING)
        return Cell(str(given), words=True)


def records(caption: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    """The table of a plot: a line per record, the first field as its name."""
    listed = list(rows)
    if not listed:
        return Table(caption, (), ())
    first, *others = listed[0]
    counted = {name for name in listed[0] if all(_is_whole(row.get(name)) for row in listed)}

    def cell(name: str, given: Any) -> Cell:
        return _cell(name, given, counted=name in counted)

    lines = [
        Line(cell(first, row[first]).text, [cell(name, row.get(name)) for name in others]) for row in listed
    ]
    return Table(caption, [each[:1].upper() + each[1:] for each in (first, *others)], lines)


def _cell(name: str, given: Any, *, counted: bool) -> Cell:
    found = number(given)
    if found is None:
        return Cell(NOTHING if given is None else str(given), words=isinstance(given, str))
    if name == "p" or name.startswith("p ") or name.endswith(" p"):
        return Cell(probability(found))
    return Cell(whole(found) if counted else short(found))


def _is_whole(given: Any) -> bool:
    found = number(given)
    return found is None or found.is_integer()


Entry = Mapping[str, Any]

_HEADINGS = (
    "Metric", "Pearson, global", "Spearman, global", "Kendall, global", "Pearson, by question",
    "Spearman, by question", "Pairs right",
)  # fmt: skip
_MAIN = (
    ("pearson", "global"), ("spearman", "global"), ("kendall", "global"), ("pearson", "item"),
    ("spearman", "item"),
)  # fmt: skip
_NO_CEILING = "the ceiling is calculated for Pearson and Spearman"


def main(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Metrics, best first, then the sentinels, then how people agree with each other."""
    entries, sentinels = model.metrics(report), model.floors(report)
    lines = [_metric(called[name], entries[name], notes) for name in order]
    for at, name in enumerate(model.best_first(sentinels, model.lead(report))):
        line = _metric(called[name], sentinels[name], notes)
        lines.append(Line(line.name, line.cells, "floor", "" if at else "apart"))
    for at, (way, words) in enumerate(
        {"leave_one_out": "people, leave one rater out", "split_half": "people, split half"}.items()
    ):
        found = _ceiling(report, way)
        if any(each.value is not None for each in found) or at == 0:
            cells = [notes.figure(each) for each in found]
            lines.append(Line(words, [*cells, Cell(NOTHING)], "ceiling", "" if at else "apart"))
    return Table("How well each metric agrees with people", _HEADINGS, lines)


def _metric(name: str, entry: Entry, notes: Notes) -> Line:
    cells = [notes.figure(value(entry, *path)) for path in _MAIN]
    return Line(name, [*cells, _share(value(entry, "pair_acc"), notes)])


def _ceiling(report: Report, way: str) -> list[Value]:
    found = []
    for statistic, grouping in _MAIN:
        entry = mapping(mapping(mapping(report.get("ceiling")).get(way)).get(statistic))
        if grouping in entry:
            found.append(value(entry, grouping))
        elif statistic == "kendall" and not entry:
            found.append(Value(None, _NO_CEILING))
        elif grouping == "global":
            found.append(value(report, "ceiling", way, statistic))
        else:
            found.append(Value(None, "the ceiling is calculated over all answers at once"))
    return found


def _share(found: Value, notes: Notes) -> Cell:
    if found.value is None:
        return notes.missing(found.reason)
    ends = found.low is not None and found.high is not None
    small = f"[{100 * (found.low or 0):.1f}, {100 * (found.high or 0):.1f}]" if ends else ""
    return Cell(percent(found.value), small)


def correlations(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """Every statistic under every grouping."""
    entries = {**model.metrics(report), **model.floors(report)}
    names = [*order, *(name for name in model.floors(report) if name not in order)]
    return [
        Table(
            words,
            ["Metric", *(each.capitalize() for each in GROUPINGS.values()), "Answers"],
            [
                Line(
                    called[name],
                    [
                        *(notes.figure(value(entries[name], statistic, each)) for each in GROUPINGS),
                        notes.plain(number(entries[name].get("n")) and int(entries[name]["n"])),
                    ],
                )
                for name in names
            ],
        )
        for statistic, words in STATISTICS.items()
        if any(statistic in each for each in entries.values())
    ]


def pairs(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """All figures that look at pairs of answers or of systems."""
    entries = model.metrics(report)
    lines = []
    for name in order:
        found = {each: value(entries[name], each) for each in _PAIRS}
        calibrated, gap = found["acc_eq_cal"].more, found["rank_match"].more
        lines.append(
            Line(
                called[name],
                [
                    _share(found["pair_acc"], notes),
                    notes.plain(found["pair_acc"].more.get("metric_ties")),
                    notes.figure(found["acc_eq"]),
                    notes.figure(found["acc_eq_cal"]),
                    notes.plain(calibrated.get("epsilon")),
                    notes.plain(calibrated.get("held_out")),
                    notes.figure(found["rank_match"]),
                    notes.plain(gap.get("pairs")),
                    notes.figure(found["pa"]),
                    notes.figure(found["spa"]),
                ],
            )
        )
    headings = [
        "Metric", "Pairs right", "Ties of the metric", "acc-eq", "acc-eq, calibrated", "\u03b5", "Held out",
        "Rank match", "Its pairs", "Systems right", "Soft",
    ]  # fmt: skip
    return Table("Pairs", headings, lines)


_PAIRS = ("pair_acc", "acc_eq", "acc_eq_cal", "rank_match", "pa", "spa")


def systems(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Systems, the one that people like best first, with what each metric gives them."""
    found = sorted(
        rows(report.get("systems")),
        key=lambda each: (-(value(each, "human").value or float("-inf")), str(each.get("name"))),
    )
    lines = [
        Line(
            plain(each.get("name")),
            [
                notes.plain(number(each.get("n")) and int(each["n"])),
                notes.figure(value(each, "human")),
                *(_of_system(each, name, notes) for name in order),
            ],
            "from the order of the rows" if each.get("inferred") else "",
        )
        for each in found
    ]
    return Table("Systems", ["System", "Answers", "People", *(called[name] for name in order)], lines)


def _of_system(system: Entry, name: str, notes: Notes) -> Cell:
    corpus = value(system, "metrics", name, "corpus")
    cell = notes.figure(model.mean(system, name))
    small = f"corpus {short(corpus.value)}" if corpus.value is not None else ""
    return Cell(cell.text, small, cell.note, cell.why)


def types(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Pearson of every metric for each type of question, with how many answers it rests on."""
    entries = model.metrics(report)
    named = {str(each.get("name")): number(each.get("n")) for each in rows(report.get("types"))}
    every = named or dict.fromkeys(sorted(set(chain(*(mapping(e.get("by_type")) for e in entries.values())))))
    lines = [
        Line(
            plain(kind),
            [
                notes.plain(int(n) if n is not None else None),
                *(notes.figure(value(entries[name], "by_type", kind, "pearson")) for name in order),
            ],
        )
        for kind, n in every.items()
    ]
    return Table("Pearson by type of question", ["Type", "Answers", *(called[each] for each in order)], lines)


def tabulate_signatures(report: Report, order: list[str], called: Mapping[str, str]) -> Table:
    """The signature of every metric, and how many answers it has no value for, by reason."""
    entries = {**model.metrics(report), **model.floors(report)}
    lines = []
    for name in [*order, *(each for each in model.floors(report) if each not in order)]:
        missing = mapping(entries[name].get("undefined"))
        said = "; ".join(f"{whole(number(n) or 0)}: {why}" for why, n in missing.items()) or "none"
        signature = str(entries[name].get("signature") or "unknown")
        lines.append(Line(called[name], [Cell(signature, words=True), Cell(said, words=True)]))
    return Table("Signatures", ["Metric", "Signature", "Answers without a value"], lines)


def references(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """Pearson and Spearman by the number of references, and what the curve means for the next data set."""
    curve = mapping(report.get("reference_curve"))
    entries = {name: mapping(each) for name, each in mapping(curve.get("metrics")).items()}
    names = [name for name in order if name in entries]
    if not names:
        return []
    found = []
    for statistic in ("pearson", "spearman"):
        points = {
            name: {str(at["references"]): at for at in rows(entries[name].get("points"))} for name in names
        }
        lines = [
            Line(key, [notes.figure(_on_curve(points[name][key], statistic)) for name in names])
            for key in points[names[0]]
        ]
        caption = f"{STATISTICS[statistic]} by the number of references"
        found.append(Table(caption, ["References", *(called[name] for name in names)], lines))
    plans = {name: mapping(entries[name].get("plan")) for name in names}
    lines = [
        Line(called[name], [notes.plain(plan.get(key), str(plan.get("reason", ""))) for key in _PLAN])
        for name, plan in plans.items()
    ]
    return [*found, Table("References for the next data set", ["Metric", *_PLAN.values()], lines)]


_PLAN = {
    "enough": "Enough",
    "best": "Best for as much work",
    "limit": "Limit",
    "reliability": "Reliability of one",
}


def _on_curve(point: Mapping[str, Any], statistic: str) -> Value:
    figure = mapping(point.get(statistic))
    return value({"at": {**figure, "ci": figure.get("middle")}}, "at")


def differences(report: Report, called: Mapping[str, str], notes: Notes) -> list[Table]:
    """For each metric that was asked for the answers whose rank differs most from that of people."""
    found = []
    for name, entry in mapping(mapping(report.get("differences")).get("metrics")).items():
        lines = [
            Line(
                plain(each.get("answer")),
                [
                    notes.plain(plain(each.get("question"))),
                    notes.plain(plain(each.get("system"))),
                    *(notes.plain(each.get(key)) for key in ("human", "metric", "human_rank", "metric_rank")),
                    notes.plain(each.get("difference")),
                ],
            )
            for each in rows(mapping(entry).get("answers"))
        ]
        found.append(Table(called.get(name, plain(name)), _DIFFERENCES, lines))
    return found


_DIFFERENCES = (
    "Answer",
    "Question",
    "System",
    "People",
    "Metric",
    "Rank by people",
    "by metric",
    "Difference",
)
