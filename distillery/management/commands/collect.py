"""`distillery collect FILE`: a table of questions becomes a study in which people answer them."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from distillery.studies.command import StudyCommand
from distillery.studies.passages import add_passages
from distillery.studies.tables import StudyTable, read_study_table


class Command(StudyCommand):
    """Read questions and passages, open a study link, serve it."""

    help = (
        "Have people answer the questions in a file from given passages: prints a study link, and serves it "
        "until Ctrl-C (docs/one-file.md)."
    )
    kind, unit, contribution, people_option = "distillation", "question", "answers", "--answers"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where passages are, beside what both commands take."""
        super().add_arguments(parser)
        parser.add_argument(
            "--passages",
            type=Path,
            metavar="FILE",
            help="passages of each question, or a collection that is searched; default: a column of the file",
        )

    def read(self, options: dict[str, Any]) -> tuple[StudyTable, list[str]]:
        """The questions with their passages; answers that the file has are not read."""
        table = read_study_table(options["file"], self.choices(options, answer="", system=""))
        if options["passages"] is None:
            return table, []
        notes = add_passages(table, options["passages"], options["language"])
        return table, notes
