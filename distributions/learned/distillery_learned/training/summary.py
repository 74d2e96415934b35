"""What a study of a trained metric says: on the terminal, in the model's card and read-me, in scores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

import numpy as np

from core.accounts.commandline import plain
from distillery_learned.training.adem import TrainedModel
from distillery_learned.training.sources import Material, Parts
from distillery_learned.training.study import CrossValidation, split_of
from evaluations.report.model import visible
from evaluations.report.protocols import NOT_CALCULATED, Figure
from evaluations.report.tables import between, distinguish, number, p_is, short
from evaluations.scores import Part
from metrics.figure import NONE, counted
from metrics.metaeval.data import Floats, ScoredAnswers

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
        settings_text = f"n {of['n']}, penalty {of['penalty']:g}, rate {of['rate']:g}, epoch {of['epoch']}"
        console.print(f"{_title(report, form)}: {settings_text}.")
    console.print()
    console.print(_table(report, "Test set", mapping(report["table3"])["metrics"], "test"))
    if "folds" in report:
        folds = report["folds"]
        console.print()
        console.print(_table(report, f"{folds['folds']}-fold cross-validation", folds["metrics"], ""))
        for each in folds["differences"]:
            figure = value({"it": each}, "it")
            comparison = f"{_title(report, each['a'])} less {_title(report, each['b'])}, {each['statistic']}"
            if figure.value is None or each["p"] is None:
                console.print(escape(plain(f"{comparison}: {figure.reason}.")))
                continue
            ends = "" if figure.low is None else f" [{short(figure.low)}, {short(figure.high or 0)}]"
            p = p_is(each["p"]).replace("\u00a0", " ")
            console.print(escape(plain(f"{comparison}: {short(figure.value)}{ends}, {p}.")))
    for warning in report["warnings"]:
        console.print(f"[yellow]![/yellow] {escape(plain(warning))}")


def _table(report: Mapping[str, Any], title: str, metrics: Mapping[str, Any], part: str) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(title, no_wrap=True)
    for name in ("Pearson", "95 % interval", "Spearman", "95 % interval"):
        table.add_column(name, justify="right", no_wrap=True)
    by_metric = {name: of[part] if part else of for name, of in metrics.items()}
    order = sorted(by_metric, key=lambda name: -(value(by_metric[name], "pearson").value or -2.0))
    for name in order:
        cells = []
        for which in ("pearson", "spearman"):
            at = value(by_metric[name], which)
            cells.append(NONE if at.value is None else f"{at.value:.3f}")
            cells.append(f"{at.low:.3f} to {at.high:.3f}" if at.low is not None else NONE)
        style = None if metrics[name]["trained"] else "dim"
        table.add_row(escape(plain(_title(report, name))), *cells, style=style)
    return table


def _title(report: Mapping[str, Any], name: str) -> str:
    return str(mapping(report["metrics"].get(name)).get("title") or report["yardsticks"].get(name) or name)


# The report of a study as plain JSON: figures, numbers, titles.

#: The report of a study as `distillery_learned.training.study` writes it.
StudyReport = Mapping[str, Any]


class StudyFigure(Figure):
    """A figure of a study; `more` is what else is beside it, such as p."""

    more: dict[str, Any] = {}


def mapping(raw: Any) -> Mapping[str, Any]:
    """The mapping, or an empty one."""
    return raw if isinstance(raw, Mapping) else {}


def rows(raw: Any) -> list[Mapping[str, Any]]:
    """The rows of a list that are mappings."""
    elements = raw if isinstance(raw, Sequence) and not isinstance(raw, str) else ()
    return [each for each in elements if isinstance(each, Mapping)]


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
    parsed = number(of)
    return StudyFigure(value=parsed, reason=reason)


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


# Scores out of fold as columns: a row for each row of the tables, in their order.

_LINE = "line"


def parts_of(material: Material, answers: ScoredAnswers, crossed: CrossValidation) -> Iterator[Part]:
    """Row, line, id, fold, then people, trained forms and other metrics, empty in rows that are not used."""
    places = material.places
    used = np.array([place.used for place in places])
    texts: dict[str, Sequence[str | int | None]] = {"row": _rows(material)}
    if len(material.sources) > 1:
        texts["source"] = [material.sources[place.source].title for place in places]
    units = {source.unit for source in material.sources}
    if any(units):
        texts[units.pop() if len(units) == 1 else _LINE] = [place.line for place in places]
    if any(place.id for place in places):
        texts["id"] = [place.id for place in places]
    fold = np.zeros(len(places), dtype=np.intp)
    fold[used] = crossed.fold + 1
    texts["fold"] = [number or None for number in fold.tolist()]

    def spread(values: Floats) -> Floats:
        column = np.full(len(places), np.nan)
        column[used] = values
        return column

    values = {"human": answers.human, **crossed.scores, **answers.metrics}
    yield texts, {name: spread(column) for name, column in values.items()}


def _rows(material: Material) -> list[int]:
    """Numbers from 1 within each table."""
    counts = [0] * len(material.sources)
    counts_of_rows = []
    for place in material.places:
        counts[place.source] += 1
        counts_of_rows.append(counts[place.source])
    return counts_of_rows


_FORMS = {"adem": "ADEM", "c-adem": "C-ADEM", "r-adem": "R-ADEM"}


def card_of(
    report: Mapping[str, Any], material: Material, parts: Parts, trained: TrainedModel, seconds: float
) -> dict[str, Any]:
    """Data with digests, counts, results with intervals, what the paper prints, and the time it took.

    `results` are those of the first split, of another model where there was a cross-validation: then the
    model has seen all contexts but its validation, and `cross_validation` says what it is worth.
    """
    printed = mapping(report["printed"])
    card: dict[str, Any] = {
        "data": [source.card() for source in material.sources],
        "scale": report["scale"],
        "answers": report["n"],
        "left_out": report["left_out"],
        "split": split_of(material, parts),
        "results": {
            name: {part: of[part] for part in ("validation", "full", "test") if part in of}
            for name, of in report["table3"]["metrics"].items()
        },
        "results_of": report["split"],
        "printed": {
            "source": printed["source"],
            "table3": {form: mapping(printed["table3"]).get(form) for form in trained.forms},
        },
        "seconds": round(seconds, 1),
        "seed": report["seed"],
        "replicates": report["replicates"],
        "distillery": report["distillery"],
        "versions": report["versions"],
    }
    if "folds" in report:
        card["cross_validation"] = {
            name: report["folds"][name] for name in ("folds", "metrics", "rival", "differences")
        }
    return card


def readme_of(name: str, card: Mapping[str, Any], trained: TrainedModel) -> str:
    """The card in words."""
    crossed = mapping(card.get("cross_validation"))
    lines = [
        f"# {name}",
        "",
        f"ADEM (Lowe et al. 2017), trained on what people said: {', '.join(trained.forms)}.",
        "",
        f"- Encoder: {trained.encoder.name} ({trained.encoder.kind})",
    ]
    lines += [
        f"- {_FORMS.get(form, form)}: n {of.n}, penalty {of.penalty:g}, rate {of.rate:g}, "
        f"epoch {of.best.number}"
        for form, of in trained.best_trials.items()
    ]
    lines += [
        f"- {part}: {of['answers']} answers to {of['contexts']} questions"
        for part, of in card["split"].items()
        if of["answers"]
    ]
    lines += [
        "",
        "Agreement with people (Pearson, 95 % interval), on answers to questions it had not seen:",
        "",
    ]
    for form in trained.forms:
        where = (
            (crossed, "metrics", form, "pearson") if crossed else (card["results"], form, "test", "pearson")
        )
        figure = value(where[0], *where[1:])
        ends = between(figure.low, figure.high) if figure.low is not None and figure.high is not None else ""
        figure_text = "none" if figure.value is None else f"{short(figure.value)} {ends}".strip()
        lines.append(f"- {_FORMS.get(form, form)}: {figure_text}")
    if crossed:
        lines += ["", f"By {crossed['folds']}-fold cross-validation; this model learned from all folds."]
    return "\n".join([*lines, ""])
