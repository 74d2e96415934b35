"""`distillery results`: what a study found so far, on the terminal and as files."""

import json
import shutil
import tempfile
from argparse import ArgumentParser
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core.projects.models import Project
from crowd.models import Stage
from distillery.schema import inspect_schema
from distillery.studies.command import why_full
from distillery.studies.outcomes import results_of, write_results
from distillery.studies.preparation import settle
from judgments.table_command import draw_table
from metrics.figure import NONE, counted
from releases.build import release_now
from releases.errors import ReleaseError
from releases.models import PrivacyFinding, Release
from releases.options import options_of
from releases.privacy import GROUP, accept_findings, check_project, reopen_findings

if TYPE_CHECKING:
    from rich.console import Console

KINDS = ("judging", "questionnaire", "distillation")
#: What a study has of its own accord: answers that no reviewer looked at, and questions without a reference.
INCLUDED = ("undecided", "unanswered")
_MOST_LISTED = 20


class Command(BaseCommand):
    """Print figures; with `--out`, write them, all single responses and a release."""

    help = (
        "Say what a study found: means with intervals, agreement, people to look at. With --out, write it, "
        "also while no server runs (docs/one-file.md)."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which study, and where its files go."""
        parser.add_argument(
            "project", nargs="?", default="", metavar="PROJECT[/STAGE]", help="default: the newest study"
        )
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="write results.json, scores.csv, responses.jsonl, release/",
        )
        parser.add_argument(
            "--accept-findings", default="", metavar="REASON", help="accept what the privacy check finds"
        )
        parser.add_argument(
            "--data", metavar="DIR", help=f"where the study is kept (default: {settings.DATA_DIR})"
        )
        parser.add_argument("--json", action="store_true", help="print results.json, no tables")

    def handle(self, *args: Any, **options: Any) -> None:
        """Take in what came last, then say and write everything."""
        from rich.console import Console  # no start waits for it

        console = Console(stderr=options["json"], highlight=False)
        try:
            stage = _stage(options["project"])
            if options["out"] is not None:
                refuse_other_files(options["out"], stage)
            settle(stage)  # what people sent after the last round of a server that was stopped
            results = results_of(stage)
            if options["json"]:
                self.stdout.write(json.dumps(results, ensure_ascii=False))
            else:
                _show(console, results)
            if options["out"] is not None:
                self._write(console, stage, results, options)
        except (OSError, DatabaseError) as error:
            if sentence := why_full(error):
                raise CommandError(sentence) from error
            if isinstance(error, OSError):
                raise CommandError(f"{error.filename or options['out']}: {error.strerror}.") from error
            raise

    def _write(
        self, console: "Console", stage: Stage, results: dict[str, Any], options: dict[str, Any]
    ) -> None:
        out: Path = options["out"]
        names = write_results(stage, results, out)
        try:
            release = self._release(console, stage.project, out / "release", options["accept_findings"])
        except ReleaseError as error:
            raise CommandError(
                f"Written to {out}: {', '.join(names)}. There is no release: {error} Decide on the desk, or "
                "accept all with --accept-findings REASON."
            ) from error
        console.print(
            f"Written to {out}: {', '.join(names)}, release (version {release.version}).", markup=False
        )

    def _release(self, console: "Console", project: Project, folder: Path, accepting: str) -> Release:
        """Build a release into a folder. That few people took part is told, and asked again each time."""
        check_project(project=project, actor=None)
        few = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN, rule=GROUP)
        keys = []
        for finding in few:
            keys.append(finding.pk)
            console.print(f"{finding.excerpt} Think of it before you publish the release.", style="yellow")
        privacy_findings = PrivacyFinding.objects.filter(pk__in=keys)
        accept_findings(
            findings=privacy_findings, reason="Written to a folder and not published.", actor=None
        )
        try:
            release, _ = release_now(
                project,
                options=options_of({"include": INCLUDED}),
                accepting=accepting,
                copy=partial(_replace, folder),
            )
        finally:
            reopen_findings(findings=privacy_findings, actor=None)
        return release


def refuse_other_files(out: Path, stage: Stage) -> None:
    """CommandError where a folder holds anything but results of the same study, which are written again."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    try:
        before = json.loads((out / "results.json").read_text(encoding="utf-8"))
        same = (before["project"], before["stage"]) == (stage.project.slug, stage.slug)
    except (OSError, ValueError, LookupError, TypeError):
        same = False
    if not same:
        raise CommandError(f"--out {out} holds something else than results of this study. Name a new folder.")


def _replace(out: Path, folder: Path) -> None:
    """Put a release where an earlier one of the same study lies."""
    with tempfile.TemporaryDirectory(prefix=".release-", dir=out.parent) as beside:
        shutil.copytree(folder, Path(beside, "new"))
        if out.exists():
            out.rename(Path(beside, "former"))
        Path(beside, "new").rename(out)


def _stage(name: str) -> Stage:
    """The stage of PROJECT[/STAGE]; of the newest study where none is named."""
    report = inspect_schema()
    if report.waiting or not report.is_well:
        raise CommandError(
            f"There is no study of this version in {settings.DATA_DIR}. Begin one with `distillery judge "
            "FILE`, or name its folder: --data DIR."
        )
    project, _, slug = name.partition("/")
    stages = Stage.objects.filter(kind__in=KINDS).select_related("project", "endpoint").order_by("-pk")
    if project:
        stages = stages.filter(project__slug=project)
    if slug:
        stages = stages.filter(slug=slug)
    candidates = list(stages[:2])
    if not candidates:
        slugs = ", ".join(Project.objects.order_by("-pk").values_list("slug", flat=True)[:10]) or "none"
        raise CommandError(f"There is no study {name or 'here'} with answers or ratings; projects: {slugs}.")
    if project and not slug and len(candidates) > 1:
        names = " or ".join(f"{project}/{each.slug}" for each in stages)
        raise CommandError(f"{project} has several such stages. Name one: {names}.")
    return candidates[0]


def _show(console: "Console", results: dict[str, Any]) -> None:
    """Tables for a terminal."""
    from rich.table import Table  # as above

    say = partial(console.print, markup=False, soft_wrap=True)
    say(f"{results['title']} ({results['project']}/{results['stage']})", style="bold")
    if results["kind"] == "questionnaire":
        _show_questionnaire(console, say, results)
        return
    if results["kind"] != "judging":
        answers, questions = (
            counted(results["n_answers"], "answer"),
            counted(results["n_questions"], "question"),
        )
        say(f"{answers} to {questions}; people: {results['n_people']:,}.")
        say(f"Answers with flags for review: {results['flagged_answers']:,}.")
        for warning in results["warnings"]:
            say(warning, style="yellow")
        return
    low, high = results["scale"]
    ratings, answers = counted(results["n_ratings"], "rating"), counted(results["n_answers"], "answer")
    say(f"{ratings} of {answers}, from {low:g} to {high:g}; people: {results['n_people']:,}.")
    table = Table("system", "questions", "mean", "95 % interval")
    for row in results["systems"]:
        mean = "—" if row["mean"] is None else f"{row['mean']:.2f}"
        interval = "—" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        table.add_row(row["system"], f"{row['n']:,}", mean, interval)
    if results["systems"]:
        console.print(table)
    agreement = results["agreement"]
    alpha = agreement["alpha"]
    if alpha["interval"] is None and agreement["reason"] not in results["warnings"]:
        say(f"Krippendorff's alpha: {agreement['reason'].rstrip('.')}.")
    if alpha["interval"] is not None:
        say(f"Krippendorff's alpha: {alpha['interval']:.2f} (interval), {alpha['ordinal']:.2f} (ordinal).")
        if alpha["low"] is not None:
            say(f"Its 95 % interval: {alpha['low']:.2f} to {alpha['high']:.2f}.")
    flagged = [person for person in results["people"] if person["flags"]]
    for person in flagged[:_MOST_LISTED]:
        why, ratings = ", ".join(person["flags"]), counted(person["ratings"], "rating")
        say(f"Look at {person['person']}: {why} ({ratings}).")
    if not flagged and results["people"]:
        say("No one was very fast, failed two checks, or gave one score throughout.")
    for warning in results["warnings"]:
        say(warning, style="yellow")


def _show_questionnaire(console: "Console", say: Any, results: dict[str, Any]) -> None:
    """Each field, and the systems by the protocol that the fields are those of."""
    responses, units = counted(results["n_responses"], "response"), counted(results["n_units"], "unit")
    say(f"{responses} about {units}; people: {results['n_people']:,}.")
    if not results["n_responses"]:
        return
    rows = [
        (
            each["name"],
            f"{each['n']:,}",
            each["reason"] if each["alpha"] is None else f"{each['alpha']:.2f}",
            ", ".join(f"{value} {count:,}" for value, count in each["counts"].items() if count),
        )
        for each in results["fields"]
    ]
    console.print(draw_table(("field", "answers", "alpha", "how often"), rows, left=4))
    for name, facts in results.get("preferences", {}).items():
        strengths = sorted(facts["strengths"], key=lambda row: -(row["strength"] or 0))
        lines = [(row["system"], _figure(row["strength"], row["low"], row["high"])) for row in strengths]
        console.print(draw_table((name, "strength"), lines))
    for name in ("support", "nuggets", "rubric"):
        figures = ("attributable", "precision", "recall", "vital_strict", "score")
        for row in results.get(name, {}).get("systems", ()):
            texts = [
                f"{figure.replace('_', ' ')} {_figure(**_parts_of(row, figure))}"
                for figure in figures
                if figure in row
            ]
            say(f"{row['system']}: {'; '.join(texts)}.")
    for each in results["fields"]:
        for row in each.get("systems", ()):
            say(f"{each['name']}, {row['system']}: {_figure(row['value'], row['low'], row['high'])}.")
    for warning in results["warnings"]:
        say(warning, style="yellow")


def _parts_of(row: dict[str, Any], figure: str) -> dict[str, Any]:
    value = row[figure]
    if isinstance(value, dict):
        return {name: value[name] for name in ("value", "low", "high")}
    return {"value": value, "low": row["low"], "high": row["high"]}


def _figure(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return NONE
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} ({low:.2f} to {high:.2f})"
