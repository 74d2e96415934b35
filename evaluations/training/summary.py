"""The report of a study of a trained metric: what is in it, and how the terminal shows it."""

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from evaluations.report.model import visible
from evaluations.report.protocols import NOT_CALCULATED, Figure
from evaluations.report.tables import distinguish, number, p_is, short
from judgments.report import plain
from metrics.agreement.quotes import NONE, counted

_WIDTH = 110


def summary(report: Mapping[str, Any], out: TextIO) -> None:
    """Prints the report for people; the same figures as in its JSON."""
    from rich.console import Console  # not needed to parse arguments
    from rich.markup import escape

    console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDTH)
    n, split = report["n"], report["split"]
    systems = "" if n["systems"] is None else f" by {counted(n['systems'], 'system')}"
    console.print(
        f"[bold]{escape(plain(report['title']))}[/bold]: {counted(n['answers'], 'answer')} to "
        f"{counted(n['contexts'], 'question')}{systems}; {split['train']['answers']:,} answers to train on, "
        f"{split['validation']['answers']:,} for validation, {split['test']['answers']:,} to test on."
    )
    for why, count in report["left_out"].items():
        console.print(f"[yellow]![/yellow] Left out: {counted(count, 'row')} with {escape(why)}.")
    for form, of in report["chosen"].items():
        said = f"n {of['n']}, penalty {of['penalty']:g}, rate {of['rate']:g}, epoch {of['epoch']}"
        console.print(f"{_title(report, form)}: {said}.")
    console.print()
    console.print(_table(report, "Test set", mapping(report["table3"])["metrics"], "test"))
    if "folds" in report:
        folds = report["folds"]
        console.print()
        console.print(_table(report, f"{folds['folds']}-fold cross-validation", folds["metrics"], ""))
        for each in folds["differences"]:
            found = value({"it": each}, "it")
            words = f"{_title(report, each['a'])} less {_title(report, each['b'])}, {each['statistic']}"
            if found.value is None or each["p"] is None:
                console.print(escape(plain(f"{words}: {found.reason}.")))
                continue
            ends = "" if found.low is None else f" [{short(found.low)}, {short(found.high or 0)}]"
            p = p_is(each["p"]).replace("\u00a0", " ")
            console.print(escape(plain(f"{words}: {short(found.value)}{ends}, {p}.")))
    for warning in report["warnings"]:
        console.print(f"[yellow]![/yellow] {escape(plain(warning))}")


def _table(report: Mapping[str, Any], title: str, metrics: Mapping[str, Any], part: str) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(title, no_wrap=True)
    for name in ("Pearson", "95 % interval", "Spearman", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    found = {name: of[part] if part else of for name, of in metrics.items()}
    order = sorted(found, key=lambda name: -(value(found[name], "pearson").value or -2.0))
    for name in order:
        cells = []
        for which in ("pearson", "spearman"):
            at = value(found[name], which)
            cells.append(NONE if at.value is None else f"{at.value:.3f}")
            cells.append(f"{at.low:.3f} to {at.high:.3f}" if at.low is not None else NONE)
        style = None if metrics[name]["trained"] else "dim"
        table.add_row(escape(plain(_title(report, name))), *cells, style=style)
    return table


def _title(report: Mapping[str, Any], name: str) -> str:
    return str(mapping(report["metrics"].get(name)).get("title") or report["yardsticks"].get(name) or name)


# The report of a study as plain JSON: figures, numbers, titles.

#: The report of a study as `evaluations.training.study` writes it.
StudyReport = Mapping[str, Any]


class StudyFigure(Figure):
    """A figure of a study; `more` is what else stands beside it, such as p."""

    more: dict[str, Any] = {}


def mapping(given: Any) -> Mapping[str, Any]:
    """The mapping, or an empty one."""
    return given if isinstance(given, Mapping) else {}


def rows(given: Any) -> list[Mapping[str, Any]]:
    """The rows of a list that are mappings."""
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    return [each for each in listed if isinstance(each, Mapping)]


def value(of: Any, *path: str) -> StudyFigure:
    """The figure at a path; a reason anywhere on the way is its reason."""
    reason = NOT_CALCULATED
    for part in path:
        inside = mapping(of)
        why = inside.get("reason")
        reason = why if isinstance(why, str) and why else reason
        of = inside.get(part)
    if isinstance(of, Mapping):
        return _figure(of, reason)
    found = number(of)
    return StudyFigure(value=found, reason=reason)


def _figure(of: Mapping[str, Any], reason: str) -> StudyFigure:
    ends = [number(end) for end in of.get("ci") or ()]
    low, high = ends if len(ends) == 2 else (None, None)
    n = number(of.get("n"))
    return StudyFigure(
        value=number(of.get("value")),
        ci=None if low is None or high is None else (low, high),
        n=None if n is None else int(n),
        reason=of.get("reason") or reason,
        more={name: each for name, each in of.items() if name not in ("value", "ci", "n", "reason")},
    )


def labels(report: StudyReport) -> dict[str, str]:
    """What each metric is called; where two have the same title, both have their names."""
    entries = mapping(report.get("metrics"))
    return distinguish(
        {name: visible(str(mapping(each).get("title") or name)) for name, each in entries.items()}
    )


def scale_of(report: StudyReport) -> tuple[float, float]:
    """The ends of the scale that people used."""
    low, high = report["scale"]
    return float(low), float(high)
