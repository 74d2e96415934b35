"""What `manage.py score` says beside the scores: means, corpus scores, signatures."""

from typing import TYPE_CHECKING, Any, TextIO

from evaluations.tables.rows import simulation_of
from evaluations.tables.simulation import simulated_rows
from judgments.reporting.summary import plain
from metrics.agreement.quotes import NONE, counted
from metrics.tokens.scripts import spacing_warning

if TYPE_CHECKING:
    from evaluations.answer_scores import Tally
    from evaluations.choices import MetricChoice
    from evaluations.tables.rows import AnswerTable

#: Grows when the JSON has other fields.
FORM = 2
_WIDTH = 100


def facts_of(table: "AnswerTable", chosen: "MetricChoice", tally: "Tally", *, version: str) -> dict[str, Any]:
    """As JSON: for each metric title, signature, number of values, mean, corpus scores, what is undefined.

    `corpus` is null for a metric without a rule for the whole corpus, and `corpus_by_system` is there where
    the table names systems.
    """
    metrics = {}
    for metric in tally.metrics:
        said = {
            "title": metric.title,
            "signature": metric.signature,
            "n": tally.defined(metric.name),
            "mean": tally.mean(metric.name),
            "corpus": tally.corpus.get(metric.name) if metric.corpus is not None else None,
            "undefined": tally.undefined.get(metric.name, {}),
        }
        if metric.corpus is not None and tally.systems.get(metric.name):
            said["corpus_by_system"] = dict(sorted(tally.systems[metric.name].items()))
        metrics[metric.name] = said
    marked = simulation_of(table) or simulated_rows(tally.simulated, tally.n)
    return {
        "scores": FORM,
        "file": table.title,
        "distillery": version,
        "profile": chosen.profile,
        "tokeniser": chosen.tokeniser,
        "models": chosen.models,
        "n": tally.n,
        "simulated": marked,
        "metrics": metrics,
        "notes": [
            *([marked["what"]] if marked and marked["what"] not in table.notes else []),
            *table.notes,
            *chosen.notes,
            *spacing_warning(tally.unspaced, tally.n, chosen.tokeniser),
        ],
    }


def show(said: dict[str, Any], out: TextIO) -> None:
    """The same for people."""
    from rich.console import Console  # noqa: PLC0415  # not needed to parse arguments
    from rich.markup import escape  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    console = Console(file=out, highlight=False, width=None if out.isatty() else _WIDTH)
    console.print(
        f"[bold]{escape(plain(said['file']))}[/bold]: {counted(said['n'], 'answer')}; "
        f"profile {escape(said['profile'])}, tokeniser {escape(said['tokeniser'])}."
    )
    shown = Table(box=None, padding=(0, 3, 0, 0), header_style="dim")
    shown.add_column("metric")
    for name in ("mean", "corpus", "n"):
        shown.add_column(name, justify="right")
    for name, each in said["metrics"].items():
        shown.add_row(name, _number(each["mean"]), _number(each["corpus"]), f"{each['n']:,}")
    console.print(shown)
    for name, each in said["metrics"].items():
        for reason, count in each["undefined"].items():
            console.print(f"[yellow]![/yellow] {name} is not defined for {count:,}: {escape(plain(reason))}.")
    for name, each in said["metrics"].items():
        console.print(f"[dim]{name}[/dim] {escape(each['signature'])}", soft_wrap=True)
    for note in said["notes"]:
        console.print(f"[yellow]![/yellow] {escape(plain(note))}")


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.4f}"
