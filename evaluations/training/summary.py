"""A study of a trained metric on the terminal."""

from collections.abc import Mapping
from typing import Any, TextIO

from evaluations.report.tables import p_is, short
from evaluations.training.study_values import mapping, value
from judgments.report.summary import plain
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
