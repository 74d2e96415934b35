"""The honest report on the terminal: what was removed, what is left, and what to quote."""

from collections.abc import Mapping
from typing import Any, TextIO

from metrics.agreement.quotes import NONE, OVERALL, counted, figure, interval, quotes

_WIDTH = 100
_SHOWN = 8
_OVERALL = "overall score"


def summary(report: Mapping[str, Any], out: TextIO, *, file: str, colour: bool | None = None) -> None:
    """Prints the report for people; the same figures as in its JSON."""
    from rich.console import Console  # not needed to parse arguments
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=out, highlight=False, soft_wrap=False, width=None if out.isatty() else _WIDTH)
    console.print(
        f"[bold]{escape(plain(file))}[/bold]: {counted(report['n_ratings'], 'rating')} of "
        f"{counted(report['n_items'], 'item')} by {counted(report['n_workers'], 'worker')}; "
        f"recipe {escape(title(report))}."
    )
    removed = report["removed"]
    console.print(f"\n[bold]Removed[/bold] {removed['removed']:,} ratings ({_share(removed['share'])})")
    for reason, each in removed["by_reason"].items():
        console.print(f"  {reason}: {each['removed']:,} ({_share(each['share'])})")
    for each in report["removed_workers"][:_SHOWN]:
        console.print(f"  worker {escape(plain(each['worker']))} {escape(each['words'])}")
    if len(report["removed_workers"]) > _SHOWN:
        console.print(
            f"  … and {len(report['removed_workers']) - _SHOWN:,} more workers; --report FILE lists them."
        )
    unsure = len({each["worker"] for each in report["undetermined_workers"]})
    if unsure:
        console.print(f"  Kept, but not decided on: {counted(unsure, 'worker')} of whom too little is known.")
    console.print()
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name in ("alpha", "interval", "95 % interval", "ordinal", "nominal", "beside it"):
        table.add_column(name)
    for words, figures, beside in rows(report["alpha"]):
        table.add_row(
            words,
            figure(figures["interval"]),
            interval(figures.get("ci")).strip() or NONE,
            figure(figures["ordinal"]),
            figure(figures["nominal"]),
            beside,
        )
    console.print(table)
    console.print()
    if report.get("aspects"):
        console.print(_aspect_table(report))
        for sentence in aspect_gaps(report):
            console.print(f"  {escape(plain(sentence))}", style="dim")
        console.print()
    for sentence in quotes(report):
        console.print(escape(sentence), style="bold" if sentence.startswith("Quote") else None)
    for warning in report["warnings"]:
        console.print(f"[yellow]![/yellow] {escape(plain(warning))}")


def rows(alpha: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], str]]:
    """The alphas that may be shown, each with what must stand beside it."""
    after = alpha["after_workers"]
    shown: list[tuple[str, Mapping[str, Any], str]] = [("before", alpha["before"], "")]
    if after["removes"]:
        shown.append(("after worker removal", after, f"cross-fitted {figure(after['cross_fitted'])}"))
    after_z = alpha["after_z"]
    if after_z["interval"] is not None:
        shown.append(
            (
                "after response z",
                after_z,
                f"expected {figure(after_z['expected'])}, null {figure(after_z['null'])}",
            )
        )
    return shown


def _aspect_table(report: Mapping[str, Any]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    for name in (
        "aspect",
        "",
        "alpha",
        "95 % interval",
        "median kappa",
        "reliability",
        "r with overall score",
    ):
        table.add_column(name)
    for name, step, figures in aspect_rows(report):
        numbers = (figure(figures[each]) for each in ("kappa", "spearman_brown", "pearson"))
        between = interval(figures.get("ci")).strip() or NONE
        table.add_row(escape(plain(name)), step, figure(figures["alpha"]), between, *numbers)
    return table


def aspect_rows(report: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Name, step and figures of the overall score and each aspect; nothing where there are no aspects."""
    steps = {"before": "before"}
    if report["alpha"]["after_workers"]["removes"]:
        steps["after_workers"] = "after removal"
    return [
        (_aspect_name(row), words, row[step])
        for row in report.get("aspects", ())
        for step, words in steps.items()
    ]


def aspect_gaps(report: Mapping[str, Any]) -> list[str]:
    """Why figures of aspects are not there, a sentence per reason."""
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    words = {"alpha": "alpha", "kappa": "kappa", "spearman_brown": "reliability", "pearson": "r"}
    for name, step, figures in aspect_rows(report):
        for key, why in figures.get("reason", {}).items():
            if key in words and not (key == "pearson" and name == _OVERALL):
                steps, missing = found.setdefault((name, why), ([], []))
                steps += [step] if step not in steps else []
                missing += [words[key]] if words[key] not in missing else []
    return [
        f"{name}, {' and '.join(steps)}: no {', '.join(missing)}: {why}."
        for (name, why), (steps, missing) in found.items()
    ]


def _aspect_name(row: Mapping[str, Any]) -> str:
    return _OVERALL if row["aspect"] == OVERALL else str(row["aspect"])


def title(report: Mapping[str, Any]) -> str:
    """Name and version of the recipe, and what was changed of it."""
    details = report["recipe_details"]
    changed = f" with other {', '.join(details['changed'])}" if details["changed"] else ""
    return f"{report['recipe']} v{details['version']}{changed}"


def plain(text: str) -> str:
    """A text of strangers without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


def _share(share: float | None) -> str:
    return NONE if share is None else f"{share:.1%}"
