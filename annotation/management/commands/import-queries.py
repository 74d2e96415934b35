"""`manage.py import-queries`: a query log or a public data set becomes queries of a project."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.importing.datasets import read_rewrites
from annotation.importing.detect import FORMATS
from annotation.importing.run import differences_in_words, nothing_new
from annotation.importing.selection import DESIGNS, LONGEST, RULES, SHORTEST, STRATA, Design, read_words
from annotation.services.importing import START_AT, ImportRefusedError, Options, import_queries
from core.accounts.commandline import add_header, bar, pairs, user_named
from core.files.reading import reading_lines
from core.files.refusals import FileRefusedError
from core.projects.models import Project

_SHOWN = 10


class Command(BaseCommand):
    """Parses, calls the service, prints."""

    help = "Import and sample queries from a file (docs/importing.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """PROJECT FILE and how to read, screen and sample it."""
        parser.add_argument("project", help="its short name")
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", choices=FORMATS, default="auto")
        parser.add_argument("--encoding", default="", help="of the file; without it, it is guessed and said")
        parser.add_argument("--sheet", default="", help="of a workbook (.xlsx); default: the first with data")
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="such as text=Question; repeat",
        )
        add_header(parser)
        parser.add_argument(
            "--without", action="append", default=[], choices=RULES, help="a rule to switch off"
        )
        parser.add_argument("--words", type=Path, help="word list instead of the shipped one, a term a line")
        parser.add_argument("--shortest", type=int, default=SHORTEST, help="characters")
        parser.add_argument("--longest", type=int, default=LONGEST, help="characters")
        parser.add_argument("--sample", type=int, help="how many queries; without it, all")
        parser.add_argument(
            "--by", choices=[each for each in DESIGNS if each != "all"], help="default: uniform"
        )
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--strata", choices=STRATA, default="count")
        parser.add_argument(
            "--quota", action="append", default=[], metavar="STRATUM=N", help="such as head=200; repeat"
        )
        parser.add_argument("--head-from", type=int, help="least count of the head")
        parser.add_argument("--torso-from", type=int, help="least count of the torso")
        parser.add_argument(
            "--rewrites", type=Path, help="ids, a tab, and the queries written so that they stand alone"
        )
        parser.add_argument("--start-at", choices=START_AT, default="screening")
        parser.add_argument("--strict", action="store_true", help="one bad line refuses the file")
        parser.add_argument("--dry-run", action="store_true", help="read, screen and sample; store nothing")
        parser.add_argument("--report", type=Path, help="write the whole report there, as JSON")
        parser.add_argument("--json", action="store_true", help="print the whole report as JSON, no table")
        parser.add_argument("--as", dest="user", help="whom the log names (default: the system)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and say what came of it; a refused file ends it with status 1."""
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        try:
            with bar() as progress:
                report = import_queries(
                    project=project,
                    path=options["file"],
                    options=_options(options),
                    actor=user_named(options["user"]),
                    dry_run=options["dry_run"],
                    progress=progress,
                )
        except ImportRefusedError as error:
            raise CommandError(str(error)) from error
        if options["report"]:
            try:
                options["report"].write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", "utf-8")
            except OSError as error:
                raise CommandError(f"The report could not be written: {error}.") from error
        if options["json"]:
            self.stdout.write(json.dumps(report, indent=2, ensure_ascii=False))
        else:
            self._show(report)

    def _show(self, report: dict[str, Any]) -> None:
        design = report["design"]
        rows = [("records read", report["records"])]
        rows += [(f"  {each['words']}", -each["dropped"]) for each in report["rules"].values()]
        rows += [
            ("  refused", -report["refused"]),
            ("  merged", -report["merged"]),
            ("  repeated", report["merged"] - report["duplicates"]),
            ("distinct queries", report["distinct"]),
            ("in the sample", report["sampled"]),
        ]
        rows += [(f"  {name}", number) for name, number in report["strata"].items()]
        rows += [("with a rewrite", report["rewrites"])] if "rewrites" in report else []
        rows.append(("already there", report["already_there"]))
        rows += [("  in another spelling", number)] if (number := report.get("other_spelling")) else []
        rows.append(("stored", report["stored"]))
        self.stdout.write(
            f"{report['file']}: {report['format_words']}; {design['words']}, seed {design['seed']}."
        )
        width = max(len(label) for label, _ in rows)
        for label, number in rows:
            self.stdout.write(f"{label:<{width}}  {number:>14,}")
        for line in reading_lines(report["read_as"]):
            self.stdout.write(line)
        if "guess" in report["encoding_words"]:
            self.stdout.write(f"Encoding: {report['encoding_words']}. Another one: --encoding NAME.")
        for sentence in report["hints"]:
            self.stdout.write(sentence)
        for sentence in differences_in_words(report):
            self.stdout.write(sentence)
        if nothing_new(report):
            self.stdout.write(
                f"Nothing was added: the project has all {report['already_there']:,} queries already."
            )
        for each in report["refusals"][:_SHOWN]:
            self.stdout.write(f"{report['file']}, {report['unit']} {each['line']}: {each['reason']}")
        if report["refused"] > _SHOWN:
            self.stdout.write(f"… and {report['refused'] - _SHOWN:,} more; --report FILE lists them.")
        if report.get("dry_run"):
            self.stdout.write("A dry run: nothing was stored.")


def _options(options: dict[str, Any]) -> Options:
    quotas = {name: _number(name, value) for name, value in pairs("--quota", options["quota"]).items()}
    screen_words = None
    if options["words"]:
        try:
            screen_words = tuple(read_words(options["words"]))
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"The word list could not be read: {error}.") from error
    sampled = options["sample"] is not None or quotas
    if options["by"] and not sampled:
        raise CommandError("--by needs a --sample, or a --quota for each stratum.")
    if quotas and options["by"] not in (None, "strata"):
        raise CommandError("Quotas are for --by strata.")
    return Options(
        format=options["format"],
        encoding=options["encoding"],
        sheet=options["sheet"],
        columns=pairs("--column", options["column"]),
        header=options["header"],
        header_row=options["header_row"],
        without=tuple(options["without"]),
        words=screen_words,
        shortest=options["shortest"],
        longest=options["longest"],
        design=Design(
            by=("strata" if quotas else options["by"] or "uniform") if sampled else "all",
            size=options["sample"] or 0,
            seed=options["seed"],
            strata=options["strata"],
            quotas=quotas,
            head_from=options["head_from"],
            torso_from=options["torso_from"],
        ),
        strict=options["strict"],
        start_at=options["start_at"],
        rewrites=_rewrites(options["rewrites"]),
    )


def _rewrites(path: Path | None) -> dict[str, str] | None:
    try:
        return read_rewrites(path) if path else None
    except FileRefusedError as error:
        raise CommandError(str(error)) from error


def _number(name: str, value: str) -> int:
    if not value.isdecimal():
        raise CommandError(f"The quota of {name!r} is no whole number: {value!r}.")
    return int(value)
