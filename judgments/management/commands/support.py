"""`manage.py support`: how far cited passages support answers, from labels, without a project."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from judgments.answer_measures import SUPPORT_FIELDS, SUPPORT_FIGURES, measure_support
from judgments.answer_report import agreement_sentences, mean_text
from judgments.table_command import TableCommand, draw_table
from metrics.support import PROTOCOLS


class Command(TableCommand):
    """Reads labels of sentences and citations, and scores answers and systems."""

    help = (
        "How far the passages that answers cite support them, by AIS, ALCE or TREC's support "
        "(docs/preferences.md)."
    )
    fields = SUPPORT_FIELDS
    metavar = "FILE"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """FILE and its protocol."""
        super().add_arguments(parser)
        parser.add_argument(
            "--protocol", choices=PROTOCOLS, required=True, help="how sentences and citations were judged"
        )

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """Means of each system, and the figures of each answer."""
        return measure_support(options["file"], options, columns)

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """A row for each system."""
        names = SUPPORT_FIGURES[facts["protocol"]]
        yield draw_table(
            ("system", *(name.replace("_", " ") for name in names), "answers"),
            [
                (each["system"], *(mean_text(each[name]) for name in names), f"{each['n_answers']:,}")
                for each in facts["systems"]
            ],
        )
        yield from agreement_sentences(facts["agreement"])
