"""The answer of an evaluation in sentences and on the terminal: which metric agrees with people, how sure."""

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from core.accounts.commandline import plain
from evaluations.report import model
from evaluations.report.model import Lead, MetricEntry, MetricTest, Report, name_statistic
from evaluations.report.protocols import NO_FIGURE, Figure
from evaluations.report.tables import (
    between,
    format_whole,
    join_names,
    p_is,
    percent,
    probability,
    rests_on,
    short,
)
from metrics.figure import NONE, counted

if TYPE_CHECKING:
    from rich.console import Console

METHODS = {
    "perm_inputs": "permutation of whole questions",
    "perm_both": "permutation of single answers",
    "perm_systems": "permutation of systems",
    "williams": "Williams' test",
    "bootstrap": "paired bootstrap",
    "paired_bootstrap": "paired bootstrap",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """All tests of one figure by one method, and what they say together."""

    statistic: str
    grouping: str
    method: str
    tests: tuple[MetricTest, ...]
    clusters: tuple[tuple[str, ...], ...] = ()

    @property
    def title(self) -> str:
        """`Pearson, global, permutation of whole questions`."""
        method = METHODS.get(self.method, self.method)
        return ", ".join(filter(None, (name_statistic(self.statistic, self.grouping), method)))

    def of(self, one: str, other: str) -> MetricTest | None:
        """The test of two metrics, whichever comes first in it."""
        pair = {one, other}
        return next((each for each in self.tests if {each.a, each.b} == pair), None)


def comparisons(report: Report) -> list[Comparison]:
    """The comparisons in the order of the report; permutation tests before quick looks."""
    order = {key: at for at, key in reversed(list(enumerate(map(_statistic, report.tests))))}
    tests_in_order = sorted(
        report.tests,
        key=lambda each: (not each.method.startswith("perm"), order[_statistic(each)], each.method),
    )
    compared = []
    for (statistic, grouping, method), tests in groupby(
        tests_in_order, lambda each: (*_statistic(each), each.method)
    ):
        clusters = report.clusters.get(f"{statistic}|{grouping}", ())
        compared.append(Comparison(statistic, grouping, method, tuple(tests), clusters))
    return compared


def leading(report: Report, by: Lead) -> Comparison | None:
    """The comparison of the figure that metrics are ordered by."""
    same = (
        each for each in comparisons(report) if (each.statistic, each.grouping) == (by.statistic, by.grouping)
    )
    return next(same, None)


def _statistic(test: MetricTest) -> tuple[str, str]:
    return test.statistic, test.grouping


def answer(report: Report) -> list[str]:
    """One sentence after another, the answer first; there is always one."""
    entries = report.metrics
    by = model.lead(report)
    order = model.best_first(entries, by)
    if not order:
        return ["No metric was evaluated."]
    best = order[0]
    figure = model.of_lead(entries[best], by)
    if figure.value is None:
        return [f"No metric can be compared with people: {figure.reason}."]
    sentences = [
        _best(report, best, figure, by),
        _beside_others(report, order, by),
        _floor(report, figure, by),
    ]
    sentences += [_ceiling(report), _pairs(report, best)]
    return [each for each in sentences if each]


def _best(report: Report, best: str, lead_figure: Figure, by: Lead) -> str:
    count = len(report.metrics)
    who = model.title(report, best)
    metric = f"Of {count} metrics {who} agrees best with people" if count > 1 else f"{who} agrees with people"
    figure = _figure(lead_figure)
    n = f" over {format_whole(lead_figure.n)} answers" if lead_figure.n and by.grouping == "global" else ""
    return f"{metric}: {figure}{n} ({by.title})."


def _beside_others(report: Report, order: list[str], by: Lead) -> str:
    comparison = leading(report, by)
    if len(order) < 2 or comparison is None:
        return ""
    better, alike, unseen = _sorted_out(comparison, order[0], order[1:])

    def names(keys: list[str]) -> str:
        return join_names([model.title(report, key) for key in keys])

    if not better and not alike:
        return ""
    if not alike:
        all_others = "the other one" if len(better) == 1 else f"all {len(better)} others"
        which = all_others if len(better) == len(order) - 1 else names(better)
        return f"It is significantly better than {which} ({_least(comparison, order[0], better)})."
    hidden = f"; a difference below {short(unseen)} is mostly missed" if unseen else ""
    why = f"({_least(comparison, order[0], alike)}{hidden})"
    if better:
        return f"It is significantly better than {names(better)}, but not than {names(alike)} {why}."
    return f"It is not significantly better than {names(alike)} {why}."


def _sorted_out(
    comparison: Comparison, best: str, others: list[str]
) -> tuple[list[str], list[str], float | None]:
    """Those that the best is better than, those that it is not, and the largest unseen difference."""
    better, alike, unseen = [], [], []
    for other in others:
        test = comparison.of(best, other)
        if test is None or test.counts is None:
            continue
        if test.better == best:
            better.append(other)
        else:
            alike.append(other)
            unseen.append(test.mdd)
    counts = [each for each in unseen if each is not None]
    return better, alike, max(counts, default=None)


def _least(comparison: Comparison, best: str, others: list[str]) -> str:
    """The p that is nearest to chance among significant ones, or farthest from it among the others."""
    tests = [comparison.of(best, other) for other in others]
    numbers = [each.counts for each in tests if each is not None and each.counts is not None]
    significant = all(each is not None and each.better == best for each in tests)
    p = max(numbers) if significant else min(numbers)
    sign = " at most" if significant and len(numbers) > 1 else " at least" if len(numbers) > 1 else ""
    corrected = " after Holm" if any(each and each.p_holm is not None for each in tests) else ""
    return f"p{sign} {probability(p)}{corrected}" if sign else f"{p_is(p)}{corrected}"


def _floor(report: Report, figure: Figure, by: Lead) -> str:
    entries = report.floors
    order = model.best_first(entries, by)
    if not order:
        return ""
    floor = model.of_lead(entries[order[0]], by)
    if floor.value is None or figure.value is None:
        return ""
    name = f"\u201c{model.title(report, order[0])}\u201d"
    if floor.value >= figure.value:
        return f"No metric beats a sentinel that does not read the answers: {name} reaches {_with_n(floor)}."
    return f"Of the sentinels, which do not read the answers, {name} comes closest with {_with_n(floor)}."


def _ceiling(report: Report) -> str:
    for called, figure in model.ceilings(report):
        if figure.value is not None:
            return f"The ceiling, at which people agree with one another, is {_with_n(figure)} ({called})."
    reasons = [figure.reason for _, figure in model.ceilings(report) if figure.reason]
    return f"How well people agree with one another is not known: {reasons[0]}." if reasons else ""


def _pairs(report: Report, best: str) -> str:
    figure = report.metrics[best].figure("pair_acc")
    if figure.value is None:
        return f"Whether it orders two answers to the same question right cannot be said: {figure.reason}."
    ends = (
        f" (95 % interval {percent(figure.low)} to {percent(figure.high)})"
        if figure.low is not None and figure.high is not None
        else ""
    )
    pairs = f" of {format_whole(figure.n)} pairs" if figure.n else " of the cases"
    ask = "To order two answers to the same question it is right in"
    return f"{ask} {percent(figure.value)}{pairs}{ends}; guessing is right in half of them."


def _figure(figure: Figure) -> str:
    """The number with its interval; only of figures that have a value."""
    ends = (
        f" {between(figure.low, figure.high)}" if figure.low is not None and figure.high is not None else ""
    )
    return f"{short(figure.value or 0.0)}{ends}"


def _with_n(figure: Figure) -> str:
    """`.710 [.690, .730], n = 900`."""
    return ", ".join(filter(None, (_figure(figure), rests_on(figure.n))))


# An evaluation on the terminal: the figures that people look for first.

_WIDTH = 110
#: Columns of figures: title, and where they stand in the entry of a metric.
_FIGURES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Spearman", ("spearman", "global")),
    ("item Kendall", ("kendall", "item")),
    ("pairs right", ("pair_acc",)),
)


def summary(report: Report, out: TextIO) -> None:
    """Prints the report for people; the same figures as in its JSON."""
    from rich.console import Console  # not needed to parse arguments
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDTH)
    n, scale = report.n, report.scale
    scores = f"scores from {scale[0]:g} to {scale[1]:g}" if scale else "scores on an unknown scale"
    scored = "" if n.scored == n.answers else f", {n.scored:,} of them with a human score"
    console.print(
        f"[bold]{escape(plain(report.title))}[/bold]: {counted(n.answers, 'answer')} to "
        f"{counted(n.questions, 'question')} by {counted(n.systems, 'system')}{scored}; "
        f"{scores}; profile {escape(report.profile)}.\n"
    )
    if simulated := report.simulated:
        console.print(f"[bold yellow]{escape(plain(simulated.what))}[/bold yellow]\n")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("metric", no_wrap=True)
    for title in ("n", "Pearson", "95 % interval", "Spearman", "95 % interval"):
        table.add_column(title, justify="right", no_wrap=True)
    for title, _path in _FIGURES[1:]:
        table.add_column(f"{title} (n)", justify="right")
    clusters = cluster_of(report)
    if clusters:
        table.add_column("cluster", justify="right")
    metrics = dict(sorted(report.metrics.items(), key=_first))
    for kind, entries in (("metrics", metrics), ("floors", report.floors)):
        for name, entry in entries.items():
            table.add_row(
                escape(plain(name)),
                *_cells(entry),
                *([str(clusters.get(name, ""))] if clusters else []),
                style="dim" if kind == "floors" else None,
            )
    console.print(table)
    if report.floors:
        console.print("[dim]The lower rows are floors: what needs no metric at all.[/dim]")
    if clusters:
        several = len(set(clusters.values())) > 1
        sentence = (
            "Metrics of a better cluster agree with people significantly more than those of a worse one."
            if several
            else "There is one cluster: no group of metrics agrees with people significantly better."
        )
        console.print(f"[dim]{sentence}[/dim]")
    for sentence in _beside(report):
        console.print(escape(plain(sentence)))
    _left_out(report, console)
    for line in report.reading:
        console.print(escape(plain(line)))
    simulation = simulated.what if simulated else ""
    for warning in (each for each in report.warnings if each != simulation):
        console.print(f"[yellow]![/yellow] {escape(plain(warning))}")


def _left_out(report: Report, console: "Console") -> None:
    """The table of --leave-one-system-out, where it was asked for."""
    from rich.markup import escape
    from rich.table import Table

    removals = report.protocols.adem_table5
    if removals is None or not removals.metrics:
        return
    console.print("\n[bold]One system left out[/bold]: Pearson over the others, and over its answers alone")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("metric", "system", "others (n)", "95 % interval", "alone (n)", "95 % interval"):
        table.add_column(title, justify="left" if title in ("metric", "system") else "right")
    for name, entry in removals.metrics.items():
        for row in entry.systems:
            figures = [part.figure("pearson") for part in (row.rest, row.removed)]
            cells = [cell for each in figures for cell in (_number_of(each), _interval(each))]
            table.add_row(escape(plain(name)), escape(plain(row.system)), *cells)
    console.print(table)


def cluster_of(report: Report) -> dict[str, int]:
    """The number of each metric's significance cluster, 1 the best; empty where there are none."""
    clusters = report.clusters.get("pearson|global") or next(iter(report.clusters.values()), ())
    return {name: number for number, names in enumerate(clusters, 1) for name in names}


def _first(item: tuple[str, MetricEntry]) -> tuple[float, str]:
    """Metrics that agree most with people first."""
    name, entry = item
    value = entry.figure("pearson", "global").value
    return (2.0 if value is None else -value, name)


def _cells(entry: MetricEntry) -> list[str]:
    pearson, spearman = entry.figure("pearson", "global"), entry.figure("spearman", "global")
    return [
        NONE if entry.n is None else format_whole(entry.n),
        _number(pearson),
        _interval(pearson),
        _number(spearman),
        _interval(spearman),
        *(_number_of(entry.figure(*path)) for _title, path in _FIGURES[1:]),
    ]


def _beside(report: Report) -> list[str]:
    """The ceiling, and why a column has no figure at all."""
    lines = []
    ceiling = report.ceiling.leave_one_out.pearson
    if ceiling is not None and ceiling.value is not None:
        n = "" if ceiling.n is None else f" over {counted(ceiling.n, 'rating')}"
        lines.append(f"Ceiling: one person against the mean of the others has r = {ceiling.value:.3f}{n}.")
    elif ceiling is not None:
        lines.append(f"No ceiling: {ceiling.reason}.")
    for title, path in (("Pearson", ("pearson", "global")), *_FIGURES):
        without: dict[str, list[str]] = {}
        for name, entry in report.metrics.items():
            figure = entry.figure(*path)
            if figure is not NO_FIGURE and figure.value is None:
                without.setdefault(figure.reason, []).append(name)
        for reason, names in without.items():
            of = "any metric" if len(names) == len(report.metrics) else ", ".join(names)
            lines.append(f"No {title} of {of}: {reason}.")
    return lines


def _number(figure: Figure) -> str:
    return NONE if figure.value is None else f"{figure.value:.3f}"


def _number_of(figure: Figure) -> str:
    """The number and what it rests on: `0.312 (47)`."""
    n = "" if figure.value is None or figure.n is None else f" ({format_whole(figure.n)})"
    return f"{_number(figure)}{n}"


def _interval(figure: Figure) -> str:
    return f"{figure.ci[0]:.3f} to {figure.ci[1]:.3f}" if figure.ci else NONE
