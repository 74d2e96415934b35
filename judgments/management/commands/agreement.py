"""`manage.py agreement`: Krippendorff's alpha of any table of labels or spans, without a project."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.management.base import CommandError

from judgments.label_table import FIELDS, OpenedTable, label_places, open_table, read_labels, read_spans
from judgments.table_command import TableCommand, bootstrap_options, draw_table, reading_options, sign
from metrics.agreement.alpha import LEVELS
from metrics.agreement.labels import Distances, LabelAlpha, label_alpha, level_distances, set_distances
from metrics.agreement.spans import span_f1, unitized_alpha
from metrics.figure import NONE

_SETS = ("masi", "jaccard")


class Command(TableCommand):
    """Reads labels and measures how far people agree about each question."""

    help = (
        "Krippendorff's alpha of a table of labels (columns item, worker, label), of sets of labels, or of "
        "marked spans (docs/preferences.md)."
    )
    fields = FIELDS
    metavar = "LABELS"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """LABELS and how they are compared."""
        super().add_arguments(parser)
        parser.add_argument(
            "--item",
            action="append",
            default=[],
            metavar="COLUMN",
            help="the column that says what was labelled; several are a key together",
        )
        parser.add_argument(
            "--label",
            action="append",
            default=[],
            metavar="COLUMN",
            help="the column of labels; repeat it for several questions",
        )
        parser.add_argument(
            "--order", default="", metavar="A,N,B", help="ordinal labels that are no numbers, in order"
        )
        parser.add_argument("--level", choices=LEVELS, help="of measurement (default: nominal)")
        parser.add_argument("--distance", choices=_SETS, help="of sets of labels, such as a|b")
        parser.add_argument("--spans", action="store_true", help="columns start and end mark parts of texts")

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """Alpha of each question; of a single one without a name around it."""
        _refuse_contradictions(options)
        table = open_table(
            options["file"],
            columns=columns,
            items=options["item"],
            named=options["label"],
            **reading_options(options),
        )
        head = bootstrap_options(options)
        if options["spans"]:
            return {**head, **_measure_spans(table, columns, options)}
        places = label_places(table, options["label"], columns)
        questions = {table.sheet.columns[place]: _measure_labels(table, place, options) for place in places}
        head = {"read_as": table.reading(label=places).as_json(), **head}
        if len(questions) > 1:
            return {**head, "warnings": list(table.notes()), "questions": questions}
        (only,) = questions.values()
        return {**head, **only, "warnings": [*table.notes(), *only["warnings"]]}

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """A row for each question."""
        questions = facts.get("questions", {"": facts})
        yield draw_table(
            ("", "level", "alpha", "95 % interval", "observed", "expected", "items", "workers"),
            [
                (
                    name,
                    each.get("distance") or each["level"],
                    _number(each["alpha"]),
                    NONE if each["low"] is None else f"{_number(each['low'])} to {_number(each['high'])}",
                    _number(each["observed"]),
                    _number(each["expected"]),
                    f"{each['n_items']:,}",
                    f"{each['n_workers']:,}",
                )
                for name, each in questions.items()
            ],
            left=2,
        )
        for name, each in questions.items():
            start = f"{name}: " if name else ""
            yield from (f"{start}no {what}: {why}." for what, why in each.get("reason", {}).items())
            if "f1_macro" in each:
                macro, micro = _number(each["f1_macro"]), _number(each["f1_micro"])
                yield f"F1 of characters: macro {macro}, micro {micro}."
            if name:
                yield from each["warnings"]


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _refuse_contradictions(options: Mapping[str, Any]) -> None:
    if options["order"] and options["level"] != "ordinal":
        raise CommandError("--order is of ordinal labels: add --level ordinal.")
    if options["distance"] and (options["level"] or options["spans"]):
        raise CommandError("--distance is of sets of labels, which have no --level and are no --spans.")
    if options["spans"] and (options["label"] or options["level"]):
        raise CommandError("--spans compares spans of nominal labels: leave out --label and --level.")


def _measure_labels(table: OpenedTable, place: int, options: Mapping[str, Any]) -> dict[str, Any]:
    level, distance = options["level"] or "nominal", options["distance"]
    order = [name.strip() for name in options["order"].split(",") if name.strip()]
    column = read_labels(
        table,
        place,
        order=order,
        numeric=level in ("interval", "ratio") or (level == "ordinal" and not order),
        sets=bool(distance),
    )
    n_categories = len(column.categories)
    if distance:
        beside: dict[str, Distances] = {
            name: set_distances(column.categories, name)  # type: ignore[arg-type]  # sets, as asked for
            for name in _SETS
        }
        beside["nominal"] = level_distances(range(n_categories), "nominal")
        alpha = label_alpha(column.labels, beside[distance], **bootstrap_options(options))
        others = {name: label_alpha(column.labels, apart).alpha for name, apart in beside.items()}
    else:
        values = range(n_categories) if level == "nominal" or order else column.categories
        alpha = label_alpha(column.labels, level_distances(values, level), **bootstrap_options(options))  # type: ignore[arg-type]
        others = {}
    how = f"distance={distance}" if distance else f"level={level}"
    facts = {
        **_describe(alpha, "items x workers", options, how),
        "level": level,
        "n_items": column.n_items,
        "n_workers": column.n_workers,
        "n_labels": len(column.labels.items),
        "warnings": list(column.notes),
    }
    if distance:
        facts |= {"distance": distance, "beside": others}
    return facts


def _measure_spans(
    table: OpenedTable, columns: Mapping[str, str], options: Mapping[str, Any]
) -> dict[str, Any]:
    texts, reading = read_spans(table, columns)
    alpha = unitized_alpha(texts, **bootstrap_options(options))
    f1 = span_f1(texts)
    facts = {
        "read_as": reading.as_json(),
        **_describe(alpha, "items", options, "spans|level=nominal"),
        "level": "nominal",
        "f1_macro": f1.macro,
        "f1_micro": f1.micro,
        "n_items": len(texts),
        "n_workers": len({worker for text in texts for worker in text.spans}),
        "warnings": list(table.notes()),
    }
    if f1.reason:
        facts["reason"] = {**facts.get("reason", {}), "f1_macro": f1.reason, "f1_micro": f1.reason}
    return facts


def _describe(alpha: LabelAlpha, resampled: str, options: Mapping[str, Any], how: str) -> dict[str, Any]:
    reason = {"alpha": alpha.reason} if alpha.reason else {}
    if alpha.interval_reason:
        reason |= {"low": alpha.interval_reason, "high": alpha.interval_reason}
    return {
        "alpha": alpha.alpha,
        "low": alpha.low,
        "high": alpha.high,
        "observed": alpha.observed,
        "expected": alpha.expected,
        **({"reason": reason} if reason else {}),
        "signatures": {"alpha": sign(f"krippendorff-alpha|{how}", resampled, options)},
    }
