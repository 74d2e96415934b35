"""`distillery judge FILE`: a table of answers becomes a study in which people score them."""

from argparse import ArgumentParser
from typing import Any

from distillery.studies.command import StudyCommand
from distillery.studies.tables import StudyTable, read_study_table
from judgments.answer_files import system_columns


class Command(StudyCommand):
    """Read answers, open a study link, serve it."""

    help = (
        "Have people judge the answers in a file: prints a study link, and serves it until Ctrl-C "
        "(docs/one-file.md)."
    )
    kind, unit, contribution, people_option = "judging", "answer", "ratings", "--judges"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose answers they are, beside what both commands take."""
        super().add_arguments(parser)
        parser.add_argument("--system", default="", help="whose answers they are, where no column says so")
        parser.add_argument(
            "--systems-from",
            type=system_columns,
            default=(),
            metavar="COLUMN,COLUMN",
            help="columns with the answers of a system each, which has the column's name",
        )

        parser.add_argument(
            "--pairs", action="store_true", help="have pairs of answers compared: the same as --preset pairs"
        )

    def read(self, options: dict[str, Any]) -> tuple[StudyTable, list[str]]:
        """The answers with all that belongs to them."""
        return read_study_table(options["file"], self.choices(options)), []
