"""An evaluation on the terminal: the figures that people look for first."""

from typing import TYPE_CHECKING, TextIO

from evaluations.report.figures import NO_FIGURE, Figure
from evaluations.report.parts import MetricEntry, Report
from judgments.report.summary import plain
from metrics.agreement.quotes import NONE, counted

if TYPE_CHECKING:
    from rich.console import Console

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
    n, scale = report.n, report.scale or (0, 0)
    scored = "" if n.scored == n.answers else f", {n.scored:,} of them with a human score"
    console.print(
        f"[bold]{escape(plain(report.title))}[/bold]: {counted(n.answers, 'answer')} to "
        f"{counted(n.questions, 'question')} by {counted(n.systems, 'system')}{scored}; scores from "
        f"{scale[0]:g} to {scale[1]:g}; profile {escape(report.profile)}.\n"
    )
    if simulated := report.simulated:
        console.print(f"[bold yellow]{escape(plain(simulated.what))}[/bold yellow]\n")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("metric", no_wrap=True)
    for title in ("Pearson", "95 % interval", "Spearman", "95 % interval"):
        table.add_column(title, justify="right", no_wrap=True)
    for title, _path in _FIGURES[1:]:
        table.add_column(title, justify="right")
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
    said = simulated.what if simulated else ""
    for warning in (each for each in report.warnings if each != said):
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
    for title in ("metric", "system", "others", "95 % interval", "alone", "95 % interval"):
        table.add_column(title, justify="left" if title in ("metric", "system") else "right")
    for name, entry in removals.metrics.items():
        for row in entry.systems:
            figures = [part.figure("pearson") for part in (row.rest, row.removed)]
            cells = [cell for each in figures for cell in (_number(each), _interval(each))]
            table.add_row(escape(plain(name)), escape(plain(row.system)), *cells)
    console.print(table)


def cluster_of(report: Report) -> dict[str, int]:
    """The number of each metric's significance cluster, 1 the best; empty where there are none."""
    found = report.clusters.get("pearson|global") or next(iter(report.clusters.values()), ())
    return {name: number for number, names in enumerate(found, 1) for name in names}


def _first(item: tuple[str, MetricEntry]) -> tuple[float, str]:
    """Metrics that agree most with people first."""
    name, entry = item
    value = entry.figure("pearson", "global").value
    return (2.0 if value is None else -value, name)


def _cells(entry: MetricEntry) -> list[str]:
    pearson, spearman = entry.figure("pearson", "global"), entry.figure("spearman", "global")
    return [
        _number(pearson),
        _interval(pearson),
        _number(spearman),
        _interval(spearman),
        *(_number(entry.figure(*path)) for _title, path in _FIGURES[1:]),
    ]


def _beside(report: Report) -> list[str]:
    """The ceiling, and why a column has no figure at all."""
    said = []
    ceiling = report.ceiling.leave_one_out.pearson
    if ceiling is not None and ceiling.value is not None:
        said.append(f"Ceiling: one person against the mean of the others has r = {ceiling.value:.3f}.")
    elif ceiling is not None:
        said.append(f"No ceiling: {ceiling.reason}.")
    for title, path in (("Pearson", ("pearson", "global")), *_FIGURES):
        without: dict[str, list[str]] = {}
        for name, entry in report.metrics.items():
            figure = entry.figure(*path)
            if figure is not NO_FIGURE and figure.value is None:
                without.setdefault(figure.reason, []).append(name)
        for reason, names in without.items():
            of = "any metric" if len(names) == len(report.metrics) else ", ".join(names)
            said.append(f"No {title} of {of}: {reason}.")
    return said


def _number(figure: Figure) -> str:
    return NONE if figure.value is None else f"{figure.value:.3f}"


def _interval(figure: Figure) -> str:
    return f"{figure.ci[0]:.3f} to {figure.ci[1]:.3f}" if figure.ci else NONE
