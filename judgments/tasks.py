"""Jobs of this app."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model

from annotation.services import staged_files
from annotation.services.importing import ImportRefusedError
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext, handler
from core.projects.models import Project
from crowd.errors import SpendingRightError
from crowd.models import Stage
from judgments.models import FilterRun
from judgments.services import filter_runs, reports
from judgments.services.filter_decisions import FilteringError, NothingMissingError
from judgments.services.imports import Options, import_candidates

IMPORT = "judgments.import"
_KIB = 1024


@handler(IMPORT, longest=timedelta(hours=12))
def import_staged(context: JobContext) -> None:
    """Import an uploaded file of answers; the report is the job's result."""
    payload = context.payload
    project = Project.objects.get(pk=payload["project"])
    file = staged_files.staged(project=project, sha256=payload["sha256"])
    if file is None:
        raise PermanentError("The uploaded file is no longer there. Upload it again.")

    def progress(done: int, total: int, what: str) -> None:
        # In KiB, for the numbers of a job have 31 bits. Storing is the job's effect: nobody sees into it.
        if what != "Storing":
            context.progress(done // _KIB, total // _KIB, what)

    try:
        import_candidates(
            project=project,
            path=file.path,
            name=file.name,
            options=Options(**payload["options"]),
            actor=get_user_model().objects.filter(pk=payload["user"]).first(),
            progress=progress,
            commit=context.commit,
        )
    except ImportRefusedError as error:
        raise PermanentError(str(error)) from error
    staged_files.forget(file)


@handler(filter_runs.APPLY, longest=timedelta(hours=6))
def apply_filters(context: JobContext) -> int:
    """Put a recipe in force, with the job or not at all; the run's key is the job's result."""
    payload = context.payload
    try:
        run = filter_runs.apply(
            stage=_stage(payload["stage"]),
            recipe=payload["recipe"],
            parameters=payload["parameters"],
            seed=payload["seed"],
            seen=payload["seen"],
            once=payload["once"],
            actor=_actor(payload["user"]),
            progress=context.progress,
            commit=context.commit,
        )
    except FilteringError as error:
        raise PermanentError(str(error)) from error
    return int(run.pk)


@handler(filter_runs.REMAKE, longest=timedelta(hours=6))
def remake_filters(context: JobContext) -> int:
    """Make a run again on the judgments that count now; the run's key is the job's result."""
    run = FilterRun.objects.select_related("stage__project", "stage__endpoint").get(pk=context.payload["run"])
    try:
        filter_runs.remake(
            run=run, why=context.payload["why"], progress=context.progress, commit=context.commit
        )
    except FilteringError as error:
        raise PermanentError(str(error)) from error
    return int(run.pk)


@handler(filter_runs.TOP_UP, longest=timedelta(hours=12))
def top_up(context: JobContext) -> int:
    """Publish what is missing; the number of HITs is the job's result.

    Where an attempt before died, what it published stays and counts; where nothing is missing any more, by
    its work or the stage's own round, the job is done.
    """
    payload = context.payload
    context.progress(0, 1, "Publishing what is missing")
    try:
        return filter_runs.top_up(
            stage=_stage(payload["stage"]),
            most_cents=payload["most_cents"],
            actor=_actor(payload["user"]),
            since=context.job.started_at,
        )
    except NothingMissingError:
        return 0
    except (FilteringError, SpendingRightError) as error:
        raise PermanentError(str(error)) from error


def _stage(pk: int) -> Stage:
    stage = Stage.objects.select_related("project", "endpoint").filter(pk=pk).first()
    if stage is None:
        raise PermanentError("The stage is no longer there.")
    return stage


def _actor(pk: int) -> Any:
    return get_user_model().objects.filter(pk=pk).first()


@handler(reports.REPORT, longest=timedelta(hours=6))
def make_report(context: JobContext) -> None:
    """Work out the honest report of a stage; its key is the job's result."""
    row = reports.make(_stage(context.payload["stage"]), context.progress)
    context.commit(lambda: reports.keep(row))
