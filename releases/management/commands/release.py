"""`manage.py release`: build a project's data set, check one, compare two."""

import json
import shutil
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core.accounts.commandline import bar, natural, plain, user_named
from core.projects.models import Project
from judgments.selectors.live import list_late_judgments
from releases.build import release_now
from releases.diff import content_lines, diff, difference_lines, selection_lines
from releases.errors import ReleaseError
from releases.formats import FORMATS
from releases.management.terminal import card, formats, groups, shares, terminated
from releases.manifest import verify
from releases.models import PrivacyFinding, Release
from releases.options import OPTIONAL, options_of
from releases.privacy import check_project
from releases.selectors import content_of
from releases.storage import fetched_folder


class Command(BaseCommand):
    """Parses, calls the app, prints."""

    help = "Build a release of a project, check a folder of one, compare two (docs/releases.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """build, content, verify, diff, check."""
        commands = parser.add_subparsers(dest="what", required=True)
        build = commands.add_parser("build", help="build a release, and keep it")
        build.add_argument("project", help="its short name")
        build.add_argument(
            "--formats",
            type=formats,
            default=(),
            metavar="A,B",
            help=f"of {', '.join(FORMATS)}; or all (default: jsonl,csv,parquet)",
        )
        build.add_argument(
            "--include",
            type=groups,
            default=(),
            metavar="A,B",
            help="bring in what is not accepted: "
            f"{', '.join(OPTIONAL)}; or all (default: only what is accepted)",
        )
        build.add_argument("--out", type=Path, metavar="DIR", help="write the files there too; empty or new")
        build.add_argument("--release-version", default="", help="such as 1.0.0 (default: the next one)")
        build.add_argument("--notes", default="", help="what is new in it")
        build.add_argument("--seed", type=natural, default=0, help="of the splits")
        build.add_argument(
            "--splits",
            type=shares,
            default=(1.0, 0.0, 0.0),
            metavar="A,B,C",
            help="shares of train, validation and test, such as 0.8,0.1,0.1 (default: all in train)",
        )
        build.add_argument(
            "--card", type=Path, metavar="FILE", help="answers to the data card's questions, as JSON"
        )
        build.add_argument(
            "--accept-findings", default="", metavar="REASON", help="accept what the privacy check finds"
        )
        build.add_argument("--as", dest="user", metavar="USER", help="whom the log names")
        build.add_argument("--json", action="store_true")
        build.set_defaults(run=self.build_release)
        content = commands.add_parser("content", help="count what a release would take, and what not and why")
        content.add_argument("project", help="its short name")
        content.add_argument("--include", type=groups, default=(), metavar="A,B", help="as for build")
        content.add_argument("--json", action="store_true")
        content.set_defaults(run=self.count_content)
        verify = commands.add_parser(
            "verify", help="check every file of a folder; exit 1 if anything is wrong"
        )
        verify.add_argument("folder", type=Path)
        verify.add_argument("--digest", default="", help="of manifest.json, as it was published")
        verify.add_argument("--json", action="store_true")
        verify.set_defaults(run=self.verify_folder)
        compare = commands.add_parser("diff", help="what differs between two releases")
        compare.add_argument("a", help="a folder, or PROJECT@VERSION")
        compare.add_argument("b", help="the same")
        compare.add_argument("--json", action="store_true")
        compare.set_defaults(run=self.diff_releases)
        check = commands.add_parser(
            "check", help="look for what tells who a person is; exit 1 if anything is open"
        )
        check.add_argument("project", help="its short name")
        check.add_argument("--as", dest="user", metavar="USER", help="whom the log names")
        check.add_argument("--json", action="store_true")
        check.set_defaults(run=self.check_project)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; what cannot be done ends it with status 1 and a sentence."""
        try:
            options["run"](options)
        except ReleaseError as error:
            raise CommandError(str(error)) from error

    def build_release(self, options: dict[str, Any]) -> None:
        """build PROJECT."""

        project, actor, out = _project(options["project"]), user_named(options["user"]), options["out"]
        if out is not None:
            _refuse_full(out)
        release_options = options_of(
            {
                "include": options["include"],
                "seed": options["seed"],
                "shares": options["splits"],
                "answers": card(options["card"]),
                **({"formats": options["formats"]} if options["formats"] else {}),
            }
        )
        for each in list_late_judgments(project):
            self.stderr.write(
                f"{each} Apply the filters again on the stage's page Filters first to count them."
            )
        with bar() as progress, terminated():
            done, built = release_now(
                project,
                options=release_options,
                version=options["release_version"],
                notes=options["notes"],
                accepting=options["accept_findings"],
                actor=actor,
                progress=progress,
                copy=partial(_copy, out) if out is not None else None,
            )
        again = built.same is not None
        if options["json"]:
            self.stdout.write(json.dumps({"same_as_before": again, **_facts(done)}))
            return
        if again:
            self.stdout.write(
                f"Nothing has changed since {project.slug} {done.version}; that is the release."
            )
        else:
            self.stdout.write(
                f"Built {project.slug} {done.version}: {len(built.files) + 2} files, {built.bytes:,} bytes."
            )
        for table in done.manifest["tables"]:
            splits = ", ".join(f"{name} {count:,}" for name, count in table["rows"].items())
            if splits:
                self.stdout.write(f"  {table['name']:<12}{sum(table['rows'].values()):>12,}  ({splits})")
        for line in selection_lines(done.manifest):
            self.stdout.write(line)
        self.stdout.write(f"digest of manifest.json: {done.digest}")
        if out is not None:
            self.stdout.write(f"Written to {out}. Check it with: manage.py release verify {out}")

    def count_content(self, options: dict[str, Any]) -> None:
        """content PROJECT."""

        counts = content_of(_project(options["project"]), options["include"])
        if options["json"]:
            self.stdout.write(json.dumps(counts.as_json))
            return
        for line in content_lines(counts):
            self.stdout.write(line)

    def verify_folder(self, options: dict[str, Any]) -> None:
        """verify DIR."""

        folder = options["folder"]
        if not folder.is_dir():
            raise CommandError(f"There is no folder {folder}.")
        with bar() as progress:
            verification = verify(folder, options["digest"], progress=progress)
        registration = (
            _check_registration(verification.digest, verification.name, verification.version)
            if not options["digest"]
            else ""
        )
        problems = [*verification.problems, *([registration] if registration not in ("", "known") else [])]
        if options["json"]:
            facts = {
                **asdict(verification),
                "folder": str(folder),
                "problems": problems,
                "fine": not problems,
            }
            facts["known"] = verification.known or registration == "known"
            self.stdout.write(json.dumps(facts))
        else:
            for problem in problems:
                self.stderr.write(problem)
        if problems:
            number_of_problems = "one problem" if len(problems) == 1 else f"{len(problems):,} problems"
            raise CommandError(f"{folder} is not as it was built: {number_of_problems}.")
        if not options["json"]:
            self.stdout.write(
                f"{verification.name} {verification.version}: {verification.files} files, "
                f"{verification.bytes:,} bytes, all as they were built."
            )
            self.stdout.write(f"digest of manifest.json: {verification.digest}")
            if not verification.known and registration != "known":
                self.stdout.write(
                    "Nothing here knows this digest. Compare it with the one that was published, or give it "
                    "with --digest."
                )

    def diff_releases(self, options: dict[str, Any]) -> None:
        """diff A B."""

        with _folder(options["a"]) as a, _folder(options["b"]) as b:
            difference = diff(a, b)
        if options["json"]:
            self.stdout.write(json.dumps(difference.as_json))
            return
        for line in difference_lines(difference):
            self.stdout.write(line)

    def check_project(self, options: dict[str, Any]) -> None:
        """Look for personal data in the texts of a project and print what is open."""

        project = _project(options["project"])
        with bar() as progress:
            checked = check_project(project=project, actor=user_named(options["user"]), progress=progress)
        findings = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN)
        if options["json"]:
            rows = list(findings.order_by("pk").values("rule", "subject", "field", "start", "end", "excerpt"))
            self.stdout.write(json.dumps({"counts": checked.counts, "open": rows}))
        else:
            for rule, subject, excerpt in findings.order_by("rule", "pk").values_list(
                "rule", "subject", "excerpt"
            ):
                self.stdout.write(f"{rule}  {subject}  {plain(excerpt)}")
            for rule, states in checked.counts.items():
                counts = ", ".join(f"{count:,} {state}" for state, count in states.items())
                self.stdout.write(f"{rule}: {counts}")
        if checked.open:
            raise CommandError(
                f"{checked.open:,} of the findings need a person: accept or black them out on the release "
                "pages, or build with --accept-findings REASON."
            )
        if not options["json"]:
            self.stdout.write("Nothing is open.")


def _copy(out: Path, folder: Path) -> None:
    """The files, in their place in one step: nobody sees half of them."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
        new = Path(beside, "new")
        shutil.copytree(folder, new)
        if out.is_dir():
            out.rmdir()
        new.rename(out)


def _refuse_full(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CommandError(f"--out {out} is not empty. Name a folder that is empty or not there yet.")


def _facts(release: Release) -> dict[str, Any]:
    return {
        "project": release.project.slug,
        "version": release.version,
        "state": release.state,
        "digest": release.digest,
        "content": release.content,
        "bytes": release.bytes,
        "simulated": release.simulated,
        "include": release.manifest["parameters"]["include"],
        "brought_in": release.manifest["parameters"]["brought_in"],
        "steps": release.manifest["steps"],
        "files": list(release.files.order_by("path").values("path", "format", "bytes", "rows", "sha256")),
        "tables": {table["name"]: table["rows"] for table in release.manifest["tables"]},
    }


def _check_registration(digest: str, name: str, version: str) -> str:
    """ "known" for a release of this installation, a problem where it has another of that name, else "".

    Whoever checks a download may have no database, or none that was set up.
    """
    try:
        if Release.objects.filter(digest=digest, state__in=Release.BUILT).exists():
            return "known"
        ours = Release.objects.filter(project__slug=name, version=version, state__in=Release.BUILT).first()
    except DatabaseError:
        return ""
    if ours is None:
        return ""
    return (
        f"manifest.json is not that of {name} {version} as it was built here, whose digest is {ours.digest}. "
        "Get it again from where it was published."
    )


@contextmanager
def _folder(text: str) -> Iterator[Path]:
    """The folder of a release that is named by its path or as PROJECT@VERSION."""
    path = Path(text)
    if path.is_dir():
        yield path
        return
    slug, sign, version = text.rpartition("@")
    if not sign:
        raise CommandError(f"{text!r} is neither a folder nor of the form PROJECT@VERSION.")
    release = (
        Release.objects.select_related("project")
        .filter(project=_project(slug), version=version, state__in=Release.BUILT)
        .first()
    )
    if release is None:
        versions = Release.objects.filter(project__slug=slug, state__in=Release.BUILT).order_by("pk")
        version_names = ", ".join(versions.values_list("version", flat=True)) or "none"
        raise CommandError(f"{slug} has no release {version!r}; there are: {version_names}.")

    with fetched_folder(release) as folder:
        yield folder


def _project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(
            f"There is no project {slug!r}. `manage.py study show` prints one; the desk lists all."
        )
    return project
