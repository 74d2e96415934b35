"""`manage.py preferences`: strengths of systems from any table of judged pairs, without a project."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from core.files.atomic import json_of, text_of
from judgments.pair_table import FIELDS, read_pairs
from judgments.preference_report import page_of, sections
from judgments.table_command import TableCommand, bootstrap_options, reading_options, version
from metrics.preferences.report import ModelChoice, report
from metrics.preferences.strengths import TIES

_MOST_PSEUDO = 100


class Command(TableCommand):
    """Reads pairs and fits a model for each question that was asked about them."""

    help = (
        "Strengths of systems from a table of judged pairs (columns item, left, right, winner, worker), with "
        "ties, side, style and intervals (docs/preferences.md)."
    )
    fields = FIELDS
    metavar = "PAIRS"
    writers = {"report": json_of, "html": lambda facts: text_of(page_of(facts))}

    def add_arguments(self, parser: ArgumentParser) -> None:
        """PAIRS, the questions and the model."""
        super().add_arguments(parser)
        parser.add_argument(
            "--winner",
            action="append",
            default=[],
            metavar="COLUMN",
            help="the column that says who won; repeat it for several questions about each pair",
        )
        parser.add_argument(
            "--systems", type=Path, metavar="FILE", help="a table with columns response and system"
        )
        parser.add_argument(
            "--ties", choices=TIES, default="davidson", help="how ties are modelled (default: davidson)"
        )
        parser.add_argument("--side", action="store_true", help="estimate an effect of being shown first")
        parser.add_argument(
            "--style",
            action="append",
            default=[],
            metavar="COLUMN",
            help="a number of each answer, such as its length, whose effect is taken out; repeat",
        )
        parser.add_argument(
            "--pseudo",
            type=_pseudo,
            default=0.0,
            metavar="N",
            help="so many comparisons more of each pair of systems, where the estimate is separated: 0.1",
        )

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """The model of each question; of a single one without a name around it."""
        table = read_pairs(
            options["file"],
            columns=columns,
            winners=options["winner"],
            systems=options["systems"],
            styles=options["style"],
            **reading_options(options),
        )
        choice = ModelChoice(
            options["ties"], options["side"], options["pseudo"], **bootstrap_options(options)
        )
        questions = {
            name: {
                **report(comparisons, choice, styles=options["style"], version=version()),
                "counts": table.counts[name],
            }
            for name, comparisons in table.comparisons.items()
        }
        head = {"read_as": table.reading.as_json(), **bootstrap_options(options)}
        if len(questions) > 1:
            return {**head, "warnings": list(table.notes), "questions": questions}
        (only,) = questions.values()
        return {**head, **only, "warnings": [*table.notes, *only["warnings"]]}

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """Each question with its strengths."""
        return sections(facts)


def _pseudo(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= _MOST_PSEUDO:
        raise ArgumentTypeError(f"{text!r} is no number from 0 to {_MOST_PSEUDO}")
    return value
