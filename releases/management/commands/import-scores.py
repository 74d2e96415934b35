"""`manage.py import-scores`: human scores from elsewhere become a read-only project with a release."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.importing import ImportRefusedError
from core.accounts.commandline import add_header, bar, pair, user_named
from core.files.reading import reading_lines
from core.progress import Progress
from core.projects.models import Project
from releases.build import release_now, released
from releases.errors import ReleaseError
from releases.management.terminal import formats, terminated
from releases.models import PrivacyFinding, Release
from releases.options import Options as Chosen
from releases.score_files import FIELDS, FORMATS, Options, Scale, scale_of
from releases.score_imports import ImportResult, import_scores

#: Formats of the release unless others are asked for: all that hold human scores.
_RELEASED = ("jsonl", "csv", "parquet", "mt-metrics-eval")
_REASON = 300


class Command(BaseCommand):
    """Parses, calls the services, prints."""

    help = "Import human scores that were collected elsewhere (docs/importing.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """FILE, how to read it, and what the project is called."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", default="", metavar="SLUG", help="short name; made from the file's")
        parser.add_argument("--title", default="")
        parser.add_argument("--licence", default="", help="under which the scores may be passed on")
        parser.add_argument("--language", default="en", help="BCP 47 tag, such as en or zh-Hans")
        parser.add_argument(
            "--owner", metavar="USER", help="who owns the project; else superusers alone see it"
        )
        parser.add_argument(
            "--scale", type=_scale, default=Scale(), metavar="LOW-HIGH", help="of the scores (default: 1-5)"
        )
        parser.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="FIELD=COLUMN",
            help="such as answer=Response, or query_id= for none; repeat, also for several columns. "
            f"Fields: {', '.join(FIELDS)}",
        )
        parser.add_argument(
            "--system-names",
            nargs="+",
            default=[],
            metavar="NAME",
            help="where no column names the system: whose a query's first, second … row is",
        )
        parser.add_argument("--format", choices=FORMATS, default="auto")
        parser.add_argument("--encoding", default="", help="of the file; without it, it is guessed and said")
        parser.add_argument("--sheet", default="", help="of a workbook (.xlsx); default: the first with data")
        add_header(parser)
        parser.add_argument(
            "--formats",
            type=formats,
            default=_RELEASED,
            metavar="A,B",
            help=f"of the release; or all (default: {','.join(_RELEASED)})",
        )
        findings = parser.add_mutually_exclusive_group()
        findings.add_argument(
            "--accept-findings",
            default="",
            metavar="REASON",
            help="why what the privacy check finds is accepted (default: the file has it already)",
        )
        findings.add_argument(
            "--stop-at-findings",
            action="store_true",
            help="build no release before somebody decided about them",
        )
        parser.add_argument("--no-release", action="store_true", help="only import; build nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON, no sentences")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, and say what came of it; a refused file ends it with status 1."""
        owner = user_named(options["owner"])
        try:
            with bar() as progress:
                done = import_scores(
                    path=options["file"],
                    options=_options(options),
                    owner=owner,
                    actor=owner,
                    progress=progress,
                )
        except ImportRefusedError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(
                json.dumps(
                    {**done.report, "project": done.project.slug, "already": done.already},
                    indent=2,
                    ensure_ascii=False,
                )
            )
        else:
            self._show(done)
        if options["no_release"]:
            return
        try:
            with bar() as progress, terminated():
                release = _release(done, options, owner, progress)
        except ReleaseError as error:
            raise CommandError(
                f"{error} The scores are imported. Decide, then give the same command again; or give it with "
                "--accept-findings REASON."
            ) from error
        if options["json"]:
            return
        if accepted := accepted_in(done.project):
            self.stdout.write(
                f"Accepted what the privacy check found: {accepted:,} that the file has already. "
                f"Look at them with `manage.py release check {done.project.slug}`, or on the release pages, "
                "where they can be blacked out for a next release."
            )
        self.stdout.write(f"Release {release.version}, marked imported: {release.bytes:,} bytes.")
        self.stdout.write(f"digest of manifest.json: {release.digest}")

    def _show(self, done: ImportResult) -> None:
        report, project = done.report, done.project
        if done.already:
            self.stdout.write(f"{report['file']} is in the project {project.slug} already; nothing changed.")
        else:
            self.stdout.write(f"{report['file']}: {report['format_words']}.")
            if "guess" in report["encoding_words"]:
                self.stdout.write(f"Encoding: {report['encoding_words']}. Another one: --encoding NAME.")
            for line in [*reading_lines(report["read_as"]), *report["hints"]]:
                self.stdout.write(line)
            if report["simulated"]:
                self.stdout.write(
                    f"{report['simulated']:,} of the scores are simulated, says the file: the project's "
                    "releases and figures are marked as SIMULATED DATA."
                )
            if report["further"]:
                self.stdout.write(f"{report['further']:,} rows only added references to earlier ones.")
        self.stdout.write(
            f"The read-only project {project.slug} has {report['queries']:,} queries and "
            f"{report['answers']:,} scored answers:"
        )
        for name, count in report["systems"].items():
            self.stdout.write(f"  {name}: {count:,}")
        if not project.licence:
            self.stdout.write("No licence is stated: find out under which the scores may be passed on.")


def _release(done: ImportResult, options: dict[str, Any], owner: Any, progress: Progress) -> Release:
    """The release that the project has already, or its first."""

    reason = options["accept_findings"] or f"It is in {done.report['file']}, which was made elsewhere."
    earlier = released(done.project)
    if earlier is not None:
        return earlier
    release, _ = release_now(
        done.project,
        options=Chosen(formats=options["formats"]),
        accepting="" if options["stop_at_findings"] else reason[:_REASON],
        actor=owner,
        progress=progress,
    )
    return release


def accepted_in(project: Project) -> int:
    """How many findings of the privacy check were accepted in a project."""
    return PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.ACCEPTED).count()


def _scale(text: str) -> Scale:
    try:
        return scale_of(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _options(options: dict[str, Any]) -> Options:
    return Options(
        format=options["format"],
        encoding=options["encoding"],
        sheet=options["sheet"],
        columns=_columns(options["column"]),
        header=options["header"],
        header_row=options["header_row"],
        scale=options["scale"],
        systems=tuple(options["system_names"]),
        slug=options["project"],
        title=options["title"],
        licence=options["licence"],
        language=options["language"],
    )


def _columns(texts: list[str]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {}
    for each in texts:
        name, value = pair("--column", each, "FIELD=COLUMN")
        columns.setdefault(name, []).append(value)
    return columns
