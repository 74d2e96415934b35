"""`manage.py import-candidates`: answers of systems become candidates to be judged."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.importing import ImportRefusedError
from core.accounts.commandline import add_header, bar, pairs, user_named
from core.files.reading import reading_lines
from core.files.refusals import UnmappedError
from core.projects.models import Project
from judgments.answer_files import FIELDS, FORMATS, system_columns
from judgments.services.candidates import human_candidates
from judgments.services.imports import Options, import_candidates

_SHOWN = 10
_HINT = "(--system NAME, --column FIELD=COLUMN, --systems-from COLUMN,COLUMN)"


class Command(BaseCommand):
    """Parses, calls the services, prints."""

    help = "Import answers of systems, or make held-out answers of people candidates (docs/judging.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """PROJECT and FILE, or PROJECT --human."""
        parser.add_argument("project", help="its short name")
        parser.add_argument("file", type=Path, nargs="?")
        parser.add_argument("--format", choices=FORMATS, default="auto")
        parser.add_argument("--encoding", default="", help="of the file; without it, it is guessed and said")
        parser.add_argument("--sheet", default="", help="of a workbook (.xlsx); default: the first with data")
        parser.add_argument(
            "--system", default="", help="whose answers they are, in lines that do not say so"
        )
        parser.add_argument(
            "--systems-from",
            type=system_columns,
            default=(),
            metavar="COLUMN,COLUMN",
            help="columns with the answers of a system each, which has the column's name",
        )
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help=f"such as text=Answer, or query_id= for none; repeat. Fields: {', '.join(FIELDS)}",
        )
        add_header(parser)
        parser.add_argument(
            "--keep-exact", action="store_true", help="have copies of a reference judged as well"
        )
        parser.add_argument("--strict", action="store_true", help="one bad line refuses the file")
        parser.add_argument("--dry-run", action="store_true", help="read and sort; store nothing")
        parser.add_argument("--report", type=Path, help="write the whole report there, as JSON")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON, no table")
        parser.add_argument("--human", action="store_true", help="make held-out answers candidates, no file")
        parser.add_argument("--as", dest="user", help="whom the log names (default: the system)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and say what came of it; a refused file ends it with status 1."""
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        actor = user_named(options["user"])
        if options["human"] == (options["file"] is not None):
            raise CommandError("Name a file, or give --human for answers that are held out.")
        if options["human"]:
            self._human(project, actor)
            return
        try:
            with bar() as progress:
                report = import_candidates(
                    project=project,
                    path=options["file"],
                    options=_options(options),
                    actor=actor,
                    dry_run=options["dry_run"],
                    progress=progress,
                )
        except ImportRefusedError as error:
            hint = f" {_HINT}" if isinstance(error.__cause__, UnmappedError) else ""
            raise CommandError(f"{error}{hint}") from error
        if options["report"]:
            try:
                options["report"].write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
            except OSError as error:
                raise CommandError(f"The report could not be written: {error}.") from error
        if options["json"]:
            self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False))
        else:
            self._show(report)

    def _human(self, project: Project, actor: Any) -> None:
        done = human_candidates(project, actor=actor)
        self.stdout.write(
            f"Held-out answers that became candidates: {done.new:,}; of them set aside as copies of a "
            f"reference: {done.exact:,}; put back: {done.back:,}; taken out: {done.withdrawn:,}."
        )
        if done.too_late:
            self.stdout.write(f"No longer held out, but judged already, so they stay: {done.too_late:,}.")

    def _show(self, report: dict[str, Any]) -> None:
        self.stdout.write(f"{report['file']}: {report['format_words']}.")
        rows = [(f"{report['unit']}s read", report["records"])]
        rows += [(f"  {each['words']}", each["count"]) for each in report["rules"].values()]
        notes = [
            ("without any reference to compare with", report["without_reference"]),
            ("of queries that are taken out: not judged", report["query_out"]),
            ("of queries that the project spells otherwise", report["other_spelling"]),
            ("further answers of a line, left out", report["further"]),
        ]
        rows += [(f"  ({label})", number) for label, number in notes if number]
        width = max(len(label) for label, _ in rows)
        for label, number in rows:
            self.stdout.write(f"{label:<{width}}  {number:>12,}")
        if "guess" in report["encoding_words"]:
            self.stdout.write(f"Encoding: {report['encoding_words']}. Another one: --encoding NAME.")
        for line in [*reading_lines(report["read_as"]), *report["hints"]]:
            self.stdout.write(line)
        if not report["stored"] and not report["refused"]:
            self.stdout.write("Nothing was added: the project has all of these answers already.")
        for name, counts in list(report["systems"].items())[:_SHOWN]:
            rule_counts = ", ".join(f"{count:,} {rule}" for rule, count in counts.items() if count)
            self.stdout.write(f"{name}: {rule_counts}")
        for each in report["refusals"][:_SHOWN]:
            field = "" if each["field"] == report["unit"] else f", {each['field']}"
            label = f"{each['reason']} {each['remedy']}".strip()
            self.stdout.write(f"{report['file']}, {report['unit']} {each['line']}{field}: {label}")
        if report["refused"] > _SHOWN:
            self.stdout.write(f"… and {report['refused'] - _SHOWN:,} more; --report FILE lists them.")
        if report["dry_run"]:
            self.stdout.write("A dry run: nothing was stored.")


def _options(options: dict[str, Any]) -> Options:
    return Options(
        format=options["format"],
        encoding=options["encoding"],
        sheet=options["sheet"],
        columns=pairs("--column", options["column"], "FIELD=COLUMN"),
        header=options["header"],
        header_row=options["header_row"],
        system=options["system"],
        systems_from=options["systems_from"],
        strict=options["strict"],
        keep_exact=options["keep_exact"],
    )
