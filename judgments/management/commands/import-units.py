"""`manage.py import-units`: nuggets, sentences, conversations or rows for the units of a questionnaire."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import user_named
from core.files.reading import reading_lines
from core.files.refusals import FileRefusedError
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Stage
from judgments.questionnaire.kind import Questionnaire
from judgments.questionnaire.materials import import_units, take_nuggets

_SHOWN = 10


class Command(BaseCommand):
    """Parses, calls the service, prints."""

    help = "Bring in what a questionnaire shows beside answers: see docs/questionnaires.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """PROJECT/STAGE, and FILE or the stage in which people write nuggets."""
        parser.add_argument("stage", metavar="PROJECT/STAGE")
        origin = parser.add_mutually_exclusive_group(required=True)
        origin.add_argument("file", type=Path, nargs="?", help="CSV, TSV, XLSX, JSON or JSONL")
        origin.add_argument(
            "--from", dest="source", metavar="STAGE", help="take the nuggets that people wrote there"
        )
        parser.add_argument("--encoding", default="", help="of the file; without it, it is guessed and said")
        parser.add_argument("--sheet", default="", help="of a workbook; default: the first with data")
        parser.add_argument("--as", dest="user", help="whom the log names (default: the system)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and say what came of it; a refused file ends it with status 1."""
        project, _, slug = options["stage"].partition("/")
        stage = Stage.objects.select_related("project").filter(project__slug=project, slug=slug).first()
        if stage is None or stage.kind != Questionnaire.name:
            raise CommandError(f"There is no questionnaire {options['stage']!r}. Write PROJECT/STAGE.")
        try:
            if options["source"]:
                file = take_nuggets(stage=stage, source=options["source"])
            else:
                file = import_units(
                    stage=stage, path=options["file"], encoding=options["encoding"], sheet=options["sheet"]
                )
        except (FileRefusedError, CrowdError, OSError) as error:
            raise CommandError(str(error)) from error
        name = options["source"] or options["file"].name
        details = {"file": name, "units": len(file.materials), "refused": len(file.refused)}
        record(
            project=stage.project,
            action="units.imported",
            subject=stage.slug,
            actor=user_named(options["user"]),
            details=details,
        )
        for line in reading_lines(file.read_as):
            self.stdout.write(line)
        for line in file.refused[:_SHOWN]:
            self.stdout.write(line)
        if len(file.refused) > _SHOWN:
            self.stdout.write(f"… and {len(file.refused) - _SHOWN:,} more rows that were left out.")
        self.stdout.write(f"Units' material: {len(file.materials):,}, of it new or changed: {file.stored:,}.")
