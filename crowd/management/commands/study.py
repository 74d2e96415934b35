"""`manage.py study`: a project and its stages as one file; how far they are, and the end of the work."""

import json
import os
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.accounts.commandline import user_named
from core.money import dollars
from core.projects.models import Project
from core.projects.services import ProjectError
from crowd.errors import CrowdError
from crowd.models import Stage
from crowd.selectors.work_lists import stage_cards
from crowd.services import stages as closing
from crowd.services.copies import copy_project, copy_stage
from crowd.services.pictures import take_pictures
from crowd.services.publication import Quote
from crowd.study import planning, reference
from crowd.study.documents import study_toml
from crowd.study.explain import Problem, StudyError, difference, worded
from crowd.study.planning import Change, FieldChange, Plan, plan
from crowd.study.reader import Study, read

_SIGNS = {"add": "+", "change": "~", "unchanged": " "}


class Command(BaseCommand):
    """Parses, calls the app, prints."""

    help = "Describe a project, its marketplaces and its stages in one TOML file (docs/study.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """check, apply, show, fields, status, close, reopen."""
        commands = parser.add_subparsers(dest="what", required=True)
        check = commands.add_parser("check", help="say all that is wrong with a file; exit 1 if anything is")
        check.add_argument("file")
        check.add_argument("--json", action="store_true")
        check.set_defaults(run=self.check_file)
        apply = commands.add_parser("apply", help="show the differences, ask, and make them; opens no stage")
        apply.add_argument("file")
        apply.add_argument("--yes", action="store_true", help="do not ask")
        apply.add_argument(
            "--as", dest="user", metavar="USER", help="whom the log names (default: the system)"
        )
        apply.add_argument("--json", action="store_true", help="needs --yes")
        apply.set_defaults(run=self.apply_file)
        show = commands.add_parser("show", help="print a project as a file")
        show.add_argument("project", help="its short name")
        show.set_defaults(run=self.show_project)
        status = commands.add_parser("status", help="how far each stage of a project is")
        status.add_argument("project", help="its short name")
        status.add_argument("--json", action="store_true")
        status.set_defaults(run=self.show_status)
        for name, help_text, run in (
            ("close", "close a project whose stages are drafts or closed", self.close_project),
            ("reopen", "let stages of a closed project be made and opened again", self.reopen_project),
        ):
            end = commands.add_parser(name, help=help_text)
            end.add_argument("project", help="its short name")
            end.add_argument("--why", default="", help="kept in the log of the project")
            end.add_argument(
                "--as", dest="user", metavar="USER", help="whom the log names (default: the system)"
            )
            end.add_argument("--json", action="store_true")
            end.set_defaults(run=run)
        copy = commands.add_parser("copy", help="drafts with the terms of a stage, or of a project's stages")
        copy.add_argument("what", metavar="PROJECT[/STAGE]")
        copy.add_argument("slug", help="the short name of the copy")
        copy.add_argument("--title", default="", help="default: that of what is copied")
        copy.add_argument(
            "--as", dest="user", metavar="USER", help="who owns a new project, and whom the log names"
        )
        copy.add_argument("--json", action="store_true")
        copy.set_defaults(run=self.copy)
        fields = commands.add_parser("fields", help="print all fields that a file can have")
        fields.set_defaults(run=self.show_fields)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; problems are printed all at once, and end it with status 1."""
        try:
            options["run"](options)
        except StudyError as error:
            self._fail(error.problems, as_json=options.get("json", False))

    def _fail(self, problems: list[Problem], *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(
                json.dumps({"ok": False, "problems": [problem.facts() for problem in problems]})
            )
        else:
            for problem in problems:
                self.stderr.write(str(problem))
        errors = sum(not problem.caution for problem in problems)
        raise CommandError(f"{errors} error{'s' * (errors != 1)}; nothing was changed.")

    def check_file(self, options: dict[str, Any]) -> None:
        """Print what a study file would change, and change nothing."""
        study = read(options["file"])
        study_plan = plan(study, os.environ, to_apply=False)
        if options["json"]:
            self.stdout.write(json.dumps({"ok": True, **_facts(study_plan)}))
            return
        self._cautions(study_plan)
        stages = len(study.fields.stages)
        holds = f"project {study.fields.project.slug}, {stages} stage{'s' * (stages != 1)}"
        outlook = "nothing to change." if study_plan.empty else "`study apply` would change:"
        self.stdout.write(f"{options['file']} is good: {holds}; {outlook}")
        self._differences(study_plan)

    def apply_file(self, options: dict[str, Any]) -> None:
        """Print what a study file changes, ask unless `--yes` was given, and change it."""
        if options["json"] and not options["yes"]:
            raise CommandError("--json cannot ask for confirmation, so it needs --yes.")
        actor = user_named(options["user"])
        study = read(options["file"])
        study_plan = plan(study, os.environ, to_apply=True)
        if study_plan.empty:
            absent = self._take_pictures(options, study, actor)
            self._report(options, study_plan, "nothing to change", absent=absent)
            return
        if not options["json"]:
            self._cautions(study_plan)
            self._differences(study_plan)
        if not options["yes"] and not self._agreed():
            self.stdout.write("Nothing was changed.")
            return
        self._apply(options, study, study_plan, actor)

    def _apply(self, options: dict[str, Any], study: Study, study_plan: Plan, actor: Any) -> None:
        try:
            applied = planning.apply(study, study_plan, os.environ, actor=actor)
        except planning.ChangedMeanwhileError as error:
            raise CommandError(
                "Somebody changed the project meanwhile, and nothing was done. Look at the differences again."
            ) from error
        absent = self._take_pictures(options, study, actor)
        self._report(options, study_plan, "applied", applied, absent=absent)

    def _take_pictures(self, options: dict[str, Any], study: Study, actor: Any) -> list[str]:
        """Take pictures of the instructions that lie beside the file; the names of those that do not."""
        project, folder = study.fields.project.slug, Path(options["file"]).parent
        try:
            return [
                name
                for stage in Stage.objects.filter(project__slug=project).select_related("project")
                for name in take_pictures(stage=stage, folder=folder, actor=actor)
            ]
        except CrowdError as error:
            raise CommandError(f"Everything but a picture is applied. {error}") from error

    def show_project(self, options: dict[str, Any]) -> None:
        """Print a project as the study file that would make it."""
        self.stdout.write(study_toml(_project(options)), ending="")

    def show_status(self, options: dict[str, Any]) -> None:
        """Print how far each stage is."""
        project = _project(options)
        rows: list[dict[str, Any]] = [
            {
                "stage": card.stage.slug,
                "kind": card.stage.kind,
                "status": card.stage.status,
                "done": card.done,
                "total": card.total,
                "held": card.held,
                "waiting_operations": card.undecided,
            }
            for card in stage_cards(project)
        ]
        if options["json"]:
            self.stdout.write(json.dumps({"project": project.slug, "stages": rows}))
            return
        if not rows:
            self.stdout.write(f"{project.slug} has no stages yet.")
            return
        table: list[tuple[str, ...]] = [("stage", "kind", "status", "done", "held")]
        table += [
            (row["stage"], row["kind"], row["status"], f"{row['done']}/{row['total']}", str(row["held"]))
            for row in rows
        ]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for cells in table:
            line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            self.stdout.write(line.rstrip())

    def close_project(self, options: dict[str, Any]) -> None:
        """Close a project: no stage is made or opened in it."""
        self._end(options, closing.close_project, "closed")

    def reopen_project(self, options: dict[str, Any]) -> None:
        """Reopen a project; no stage is opened by this."""
        self._end(options, closing.reopen_project, "open again")

    def _end(self, options: dict[str, Any], service: Callable[..., Project], state: str) -> None:
        actor = user_named(options["user"])
        try:
            row = service(project=_project(options), actor=actor, why=options["why"])
        except CrowdError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            at = row.closed_at.isoformat() if row.closed_at else None
            self.stdout.write(json.dumps({"project": row.slug, "closed_at": at}))
            return
        self.stdout.write(f"{row.slug} is {state}.")

    def copy(self, options: dict[str, Any]) -> None:
        """Copy a stage within its project, or a project."""
        name, _, stage_slug = options["what"].partition("/")
        project, slug, actor = _project({"project": name}), options["slug"], user_named(options["user"])
        try:
            if stage_slug:
                stage = (
                    Stage.objects.filter(project=project, slug=stage_slug).select_related("endpoint").first()
                )
                if stage is None:
                    raise CommandError(f"{project.slug} has no stage {stage_slug!r}.")
                stage_copy = copy_stage(stage=stage, slug=slug, title=options["title"], actor=actor)
                facts = {"project": project.slug, "stage": stage_copy.slug}
            elif actor is None:
                raise CommandError("Say who owns the new project: --as USER.")
            else:
                title = options["title"] or project.title
                facts = {"project": copy_project(project=project, slug=slug, title=title, owner=actor).slug}
        except (CrowdError, ProjectError) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write(f"{'/'.join(facts.values())} is there; its stages are drafts without a budget.")

    def show_fields(self, _options: dict[str, Any]) -> None:
        """Print the reference of all fields as Markdown."""
        for heading, lines in reference.tables():
            self.stdout.write("\n".join([f"`{heading}`", "", *lines, ""]))

    def _agreed(self) -> bool:
        self.stdout.write("Apply this? [y/N] ", ending="")
        self.stdout.flush()
        try:
            return input().strip().lower() in ("y", "yes")
        except EOFError:
            self.stdout.write("")
            return False

    def _report(
        self,
        options: dict[str, Any],
        study_plan: Plan,
        outcome: str,
        applied: planning.StudyResult | None = None,
        absent: Sequence[str] = (),
    ) -> None:
        quotes = applied.quotes if applied else {}
        cautions = applied.cautions if applied else {}
        if options["json"]:
            costs = {
                slug: _costs(quote) | {"cautions": list(cautions[slug])} for slug, quote in quotes.items()
            }
            self.stdout.write(
                json.dumps(
                    {
                        "ok": True,
                        "outcome": outcome,
                        **_facts(study_plan),
                        "quotes": costs,
                        "missing_pictures": list(absent),
                    }
                )
            )
            return
        if applied is None:
            self._cautions(study_plan)
            self._notes(study_plan)
        self.stdout.write(f"{outcome.capitalize()}.")
        for name in absent:
            self.stderr.write(
                f"{name}: no such picture beside {options['file']}. Put it there, and apply again."
            )
        for slug, quote in quotes.items():
            self.stdout.write(f"Stage {slug}, a draft: {_quoted(quote)}")
            for caution in cautions[slug]:
                self.stderr.write(f"Stage {slug}: {caution}")

    def _cautions(self, study_plan: Plan) -> None:
        for problem in study_plan.cautions:
            self.stderr.write(str(problem))

    def _differences(self, study_plan: Plan) -> None:
        for change in study_plan.changes:
            self.stdout.write(f"{_SIGNS[change.action]} {change.what} {change.name}" + _unchanged(change))
            for field in change.fields:
                self.stdout.write(f"    {field.name}: {_old_and_new(change, field)}")
        self._notes(study_plan)

    def _notes(self, study_plan: Plan) -> None:
        for note in study_plan.notes:
            self.stdout.write(note)


def _project(options: dict[str, Any]) -> Project:
    project = Project.objects.filter(slug=options["project"]).first()
    if project is None:
        there_are = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:50])
        raise CommandError(
            f"There is no project {options['project']!r}; there are: {there_are or 'none yet'}."
        )
    return project


def _unchanged(change: Change) -> str:
    return " (unchanged)" if change.action == "unchanged" else ""


def _old_and_new(change: Change, field: FieldChange) -> str:
    return worded(field.new) if change.action == "add" else difference(field.old, field.new)


def _quoted(quote: Quote) -> str:
    screen_outs = f" + {dollars(quote.screen_out_cents)} for screen-outs" if quote.screen_out_cents else ""
    return (
        f"{quote.units} units for {quote.assignments} answers in {quote.hits} HITs would cost "
        f"{dollars(quote.reward_cents)} + {dollars(quote.fee_cents)} in fees{screen_outs} = "
        f"{dollars(quote.total_cents)}, "
        f"with {dollars(quote.budget_left_cents)} left of the budget"
        + ("." if quote.affordable else ": not enough to open it.")
    )


def _costs(quote: Quote) -> dict[str, Any]:
    return {
        "units": quote.units,
        "hits": quote.hits,
        "assignments": quote.assignments,
        "rewards": dollars(quote.reward_cents),
        "fees": dollars(quote.fee_cents),
        "screen_outs": dollars(quote.screen_out_cents),
        "total": dollars(quote.total_cents),
        "affordable": quote.affordable,
    }


def _facts(study_plan: Plan) -> dict[str, Any]:
    return {
        "changes": [asdict(change) for change in study_plan.changes],
        "problems": [problem.facts() for problem in study_plan.cautions],
        "notes": list(study_plan.notes),
    }
