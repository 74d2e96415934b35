"""Tables of the report: numbers as papers print them, cells with notes, the tables themselves, and LaTeX."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal, get_args

from evaluations.report import model
from evaluations.report.model import GROUPINGS, STATISTICS, CeilingFigures, MetricEntry, Report, SystemEntry
from evaluations.report.protocols import NO_FIGURE, NOT_CALCULATED, Figure, SampledFigure

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


def format_whole(value: float) -> str:
    """`1,000`."""
    return f"{value:,.0f}"


def rests_on(n: int | None) -> str:
    """`n = 900`; nothing where a figure does not say."""
    return "" if n is None else f"n{_CLOSE}={_CLOSE}{format_whole(n)}"


def percent(share: float) -> str:
    """`56.6 %`."""
    return f"{100 * share:.1f}{_CLOSE}%"


def join_names(names: list[str], most: int = 6) -> str:
    """`a`, `a and b`, `a, b and c`; of many the first ones and how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


_MOST = 80


def plain(text: object) -> str:
    """A name without characters that cannot be shown, and not longer than a line."""
    line = " ".join(model.visible(str(text)).split())
    return (line if len(line) <= _MOST else f"{line[: _MOST - 1]}…") or "(no name)"


def labels(report: Report) -> dict[str, str]:
    """What each metric and sentinel is called; where two have the same title, both have their names."""
    return distinguish({name: model.title(report, name) for name in (*report.metrics, *report.floors)})


def distinguish(names: Mapping[str, str]) -> dict[str, str]:
    """Titles by name; where two are the same, both have their names beside them."""
    titles = {name: plain(title) for name, title in names.items()}
    often = list(titles.values())
    return {
        name: title if often.count(title) == 1 else plain(f"{title} ({name})")
        for name, title in titles.items()
    }


NOTHING = "\u2013"


def number(raw: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    return float(raw) if math.isfinite(raw) else None


@dataclass(frozen=True, slots=True)
class Cell:
    """What is in a cell: `small` under it; `note` is the number of a note that says `why`."""

    text: str
    small: str = ""
    note: int = 0
    why: str = ""
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its name, what is under the name, and its cells; `look` is `apart` after a group."""

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
        wordy = [each.is_text for each in self.lines[0].cells] if self.lines else []
        return list(zip(self.headings, [True, *wordy], strict=False))

    def __bool__(self) -> bool:
        return bool(self.lines)


@dataclass(eq=False)
class Notes:
    """Why figures are missing: one note for each reason, numbered from 1 in the order of the page."""

    reasons: dict[str, int] = field(default_factory=dict)

    def figure(self, figure: Figure, places: int = 3) -> Cell:
        """The figure with its interval and what it rests on, or a dash and a note."""
        if figure.value is None:
            return self.missing(figure.reason)
        ends = figure.low is not None and figure.high is not None
        return Cell(
            short(figure.value, places),
            _small(between(figure.low or 0.0, figure.high or 0.0, places) if ends else "", figure.n),
        )

    def missing(self, reason: str) -> Cell:
        """A dash that leads to the note with the reason."""
        why = reason.strip().rstrip(".") or "it was not calculated"
        return Cell(NOTHING, note=self.reasons.setdefault(why, len(self.reasons) + 1), why=why)

    def plain(self, raw: Any, reason: str = "") -> Cell:
        """A number, a share or a text of the report as it is."""
        if isinstance(raw, bool):
            return Cell("yes" if raw else "no", is_text=True)
        parsed = number(raw)
        if parsed is not None:
            return Cell(format_whole(parsed) if parsed.is_integer() else short(parsed))
        if isinstance(raw, Mapping):
            return self.figure(_figure_of(raw))
        if raw is None or raw == "":
            return self.missing(reason) if reason else Cell(NOTHING)
        return Cell(str(raw), is_text=True)


def _figure_of(fields: Mapping[str, Any]) -> Figure:
    ends = [number(end) for end in fields.get("ci") or ()]
    ci = (ends[0], ends[1]) if len(ends) == 2 and None not in ends else None
    value = number(fields.get("value"))
    n = fields.get("n")
    return Figure.model_validate(
        {
            "value": value,
            "ci": ci,
            "n": n if isinstance(n, int) else None,
            "reason": fields.get("reason") or NOT_CALCULATED,
        }
    )


def _small(interval: str, n: int | None) -> str:
    """`[.366, .480] n = 900`: what is under a figure."""
    return " ".join(filter(None, (interval, rests_on(n))))


def records(caption: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    """The table of a plot: a line per record, the first field as its name."""
    entries = list(rows)
    if not entries:
        return Table(caption, (), ())
    first, *others = entries[0]
    counted = {name for name in entries[0] if all(_is_whole(row.get(name)) for row in entries)}

    def cell(name: str, raw: Any) -> Cell:
        return _cell(name, raw, counted=name in counted)

    lines = [
        Line(cell(first, row[first]).text, [cell(name, row.get(name)) for name in others]) for row in entries
    ]
    return Table(caption, [each[:1].upper() + each[1:] for each in (first, *others)], lines)


def _cell(name: str, raw: Any, *, counted: bool) -> Cell:
    parsed = number(raw)
    if parsed is None:
        return Cell(NOTHING if raw is None else str(raw), is_text=isinstance(raw, str))
    if name == "p" or name.startswith("p ") or name.endswith(" p"):
        return Cell(probability(parsed))
    return Cell(format_whole(parsed) if counted else short(parsed))


def _is_whole(raw: Any) -> bool:
    parsed = number(raw)
    return parsed is None or parsed.is_integer()


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
    entries, sentinels = report.metrics, report.floors
    lines = [_metric(called[name], entries[name], notes) for name in order]
    for at, name in enumerate(model.best_first(sentinels, model.lead(report))):
        line = _metric(called[name], sentinels[name], notes)
        lines.append(Line(line.name, line.cells, "floor", "" if at else "apart"))
    ways = (
        ("people, leave one rater out", report.ceiling.leave_one_out),
        ("people, split half", report.ceiling.split_half),
    )
    for at, (title, way) in enumerate(ways):
        figures = _ceiling(way)
        if any(each.value is not None for each in figures) or at == 0:
            cells = [notes.figure(each) for each in figures]
            lines.append(Line(title, [*cells, Cell(NOTHING)], "ceiling", "" if at else "apart"))
    return Table("How well each metric agrees with people", _HEADINGS, lines)


def _metric(name: str, entry: MetricEntry, notes: Notes) -> Line:
    cells = [notes.figure(entry.figure(*path)) for path in _MAIN]
    return Line(name, [*cells, _share(entry.figure("pair_acc"), notes)])


def _ceiling(figures: CeilingFigures) -> list[Figure]:
    statistics = []
    for statistic, grouping in _MAIN:
        figure = figures.figure(statistic)
        if grouping != "global":
            figure = Figure(reason="the ceiling is calculated over all answers at once")
        elif statistic == "kendall" and figure is NO_FIGURE:
            figure = Figure(reason=_NO_CEILING)
        statistics.append(figure)
    return statistics


def _share(figure: Figure, notes: Notes) -> Cell:
    if figure.value is None:
        return notes.missing(figure.reason)
    ends = figure.low is not None and figure.high is not None
    interval = f"[{100 * (figure.low or 0):.1f}, {100 * (figure.high or 0):.1f}]" if ends else ""
    return Cell(percent(figure.value), _small(interval, figure.n))


def correlations(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """Every statistic under every grouping."""
    entries = {**report.metrics, **report.floors}
    names = [*order, *(name for name in report.floors if name not in order)]
    return [
        Table(
            title,
            ["Metric", *(each.capitalize() for each in GROUPINGS.values()), "Answers"],
            [
                Line(
                    called[name],
                    [
                        *(notes.figure(entries[name].figure(statistic, each)) for each in GROUPINGS),
                        notes.plain(entries[name].n),
                    ],
                )
                for name in names
            ],
        )
        for statistic, title in STATISTICS.items()
        if any(each.correlations(statistic) for each in entries.values())
    ]


def pairs(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """All figures that look at pairs of answers or of systems."""
    lines = []
    for name in order:
        entry = report.metrics[name]
        figures = {each: entry.figure(each) for each in _PAIRS}
        ties = entry.pair_acc.metric_ties if entry.pair_acc else None
        calibrated, far_apart = entry.acc_eq_cal, entry.rank_match
        lines.append(
            Line(
                called[name],
                [
                    _share(figures["pair_acc"], notes),
                    notes.plain(ties),
                    notes.figure(figures["acc_eq"]),
                    notes.figure(figures["acc_eq_cal"]),
                    notes.plain(calibrated.epsilon if calibrated else None),
                    notes.plain(calibrated.held_out if calibrated else None),
                    notes.figure(figures["rank_match"]),
                    notes.plain(far_apart.pairs if far_apart else None),
                    notes.figure(figures["pa"]),
                    notes.figure(figures["spa"]),
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
    entries = sorted(
        report.systems,
        key=lambda each: (-(each.human.value or float("-inf")), each.name),
    )
    lines = [
        Line(
            plain(each.name),
            [
                notes.plain(each.n),
                notes.figure(each.human),
                *(_of_system(each, name, notes) for name in order),
            ],
            "from the order of the rows" if each.inferred else "",
        )
        for each in entries
    ]
    return Table("Systems", ["System", "Answers", "People", *(called[name] for name in order)], lines)


def _of_system(system: SystemEntry, name: str, notes: Notes) -> Cell:
    corpus = model.corpus(system, name)
    cell = notes.figure(model.mean(system, name))
    small = f"corpus {short(corpus.value)}" if corpus.value is not None else ""
    return Cell(cell.text, small, cell.note, cell.why)


def types(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> Table:
    """Pearson of every metric for each type of question, with how many answers it rests on."""
    named: dict[str, int | None] = {each.name: each.n for each in report.types}
    every = named or dict.fromkeys(sorted(set(chain(*(each.by_type for each in report.metrics.values())))))
    lines = [
        Line(
            plain(kind),
            [
                notes.plain(n),
                *(notes.figure(of_type(report.metrics[name], kind, "pearson")) for name in order),
            ],
        )
        for kind, n in every.items()
    ]
    return Table("Pearson by type of question", ["Type", "Answers", *(called[each] for each in order)], lines)


TypeStatistic = Literal["pearson", "spearman", "pair_acc"]
OF_TYPE: tuple[TypeStatistic, ...] = get_args(TypeStatistic)


def of_type(entry: MetricEntry, kind: str, statistic: TypeStatistic) -> Figure:
    """A metric's figure within a type of question."""
    figures = entry.by_type.get(kind)
    return (getattr(figures, statistic) if figures else None) or NO_FIGURE


def tabulate_signatures(report: Report, order: list[str], called: Mapping[str, str]) -> Table:
    """The signature of every metric, and how many answers it has no value for, by reason."""
    entries = {**report.metrics, **report.floors}
    lines = []
    for name in [*order, *(each for each in report.floors if each not in order)]:
        undefined = (
            "; ".join(f"{format_whole(n)}: {why}" for why, n in entries[name].undefined.items()) or "none"
        )
        signature = entries[name].signature or "unknown"
        lines.append(Line(called[name], [Cell(signature, is_text=True), Cell(undefined, is_text=True)]))
    return Table("Signatures", ["Metric", "Signature", "Answers without a value"], lines)


def references(report: Report, order: list[str], called: Mapping[str, str], notes: Notes) -> list[Table]:
    """Pearson and Spearman by the number of references, and what the curve means for the next data set."""
    entries = report.reference_curve.metrics if report.reference_curve else {}
    names = [name for name in order if name in entries]
    if not names:
        return []
    tables = []
    for statistic in ("pearson", "spearman"):
        figures = {
            name: {
                point.references: point.pearson if statistic == "pearson" else point.spearman
                for point in entries[name].points
            }
            for name in names
        }
        lines = [
            Line(str(count), [notes.figure(_on_curve(figures[name][count])) for name in names])
            for count in figures[names[0]]
        ]
        caption = f"{STATISTICS[statistic]} by the number of references"
        tables.append(Table(caption, ["References", *(called[name] for name in names)], lines))
    plans = {name: entries[name].plan for name in names}
    lines = [
        Line(
            called[name],
            [
                notes.plain(each, plan.reason)
                for each in (plan.enough, plan.best, plan.limit, plan.reliability)
            ],
        )
        for name, plan in plans.items()
    ]
    return [*tables, Table("References for the next data set", _PLAN, lines)]


_PLAN = ("Metric", "Enough", "Best for as much work", "Limit", "Reliability of one")


def _on_curve(sampled: SampledFigure) -> Figure:
    return Figure(value=sampled.value, ci=sampled.middle, reason=sampled.reason)


def differences(report: Report, called: Mapping[str, str], notes: Notes) -> list[Table]:
    """For each metric that was asked for the answers whose rank differs most from that of people."""
    tables = []
    for name, entry in (report.differences.metrics if report.differences else {}).items():
        lines = [
            Line(
                plain(each.answer),
                [
                    notes.plain(plain(each.question)),
                    notes.plain(plain(each.system)),
                    notes.plain(each.human),
                    notes.plain(each.metric),
                    notes.plain(each.human_rank),
                    notes.plain(each.metric_rank),
                    notes.plain(each.difference),
                ],
            )
            for each in entry.answers
        ]
        tables.append(Table(called.get(name, plain(name)), _DIFFERENCES, lines))
    return tables


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

# The main figures of a report as a LaTeX table that needs no package.

_NO_NUMBER = "--"

_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
#: Title of a column, and where its figure is in the entry of a metric. What is over all answers rests on the
#: n of the row; the others have their own n beside them.
_COLUMNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"Pearson $r$", ("pearson", "global")),
    (r"Spearman $\rho$", ("spearman", "global")),
    (r"Kendall $\tau_b$", ("kendall", "global")),
    (r"$\tau_b$ by question ($n$)", ("kendall", "item")),
    ("pair acc. ($n$)", ("pair_acc",)),
)


def table_of(report: Report) -> str:
    """`tabular` inside of `table`: a row per metric, three decimals, a dash where a figure does not exist.

    Comments name signature and seed, so that the table can be made again, and say why a figure is missing.
    """
    n = report.n
    simulated = report.simulated.what if report.simulated else ""
    note = rf" \textbf{{{escaped(simulated)}}}" if simulated else ""
    lines = [
        *([f"% {_comment(simulated)}"] if simulated else []),
        f"% {_comment(report.source or report.title)}",
        f"% distillery {_comment(report.distillery)}, seed {report.seed}",
        *(f"% {_comment(name)}: {_comment(each.signature)}" for name, each in report.metrics.items()),
        *_missing(report),
        r"\begin{table}",
        r"\centering",
        rf"\begin{{tabular}}{{lr{'r' * len(_COLUMNS)}}}",
        r"\hline",
        _row(["metric", "$n$", *(title for title, _path in _COLUMNS)]),
        r"\hline",
        *_rows(report.metrics),
    ]
    if report.floors:
        lines += [r"\hline", *_rows(report.floors)]
    lines += [
        r"\hline",
        r"\end{tabular}",
        rf"\caption{{Agreement of metrics with people on {escaped(report.title or 'the data')}: "
        rf"{n.scored:,} answers to {n.questions:,} questions.{note}}}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(_SIGNS.get(sign, sign) for sign in _line(text))


def _rows(entries: Mapping[str, MetricEntry]) -> list[str]:
    return [
        _row([escaped(name), _answers(entry.n), *(_figure(entry, path) for _title, path in _COLUMNS)])
        for name, entry in entries.items()
    ]


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _answers(n: int | None) -> str:
    return _NO_NUMBER if n is None else f"{n:,}"


def _figure(entry: MetricEntry, path: Sequence[str]) -> str:
    figure = entry.figure(*path)
    if figure.value is None:
        return _NO_NUMBER
    own = "" if "global" in path or figure.n is None else f" ({figure.n:,})"
    return f"${figure.value:.3f}${own}"


def _missing(report: Report) -> list[str]:
    """Why there is a dash in the table."""
    return [
        f"% {_comment(name)}, {title}: {_comment(entry.figure(*path).reason)}"
        for name, entry in (*report.metrics.items(), *report.floors.items())
        for title, path in _COLUMNS
        if entry.figure(*path).value is None
    ]


def _comment(text: str) -> str:
    return _line(text)


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)
