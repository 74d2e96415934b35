"""What may happen to an evaluation: it is planned, runs, is finished, fails, is cancelled, is shown.

Each transition is one conditional update with an event; where the evaluation is not in the state that it
takes, nothing changes.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from core.errors import on_failure
from core.jobs import services as jobs
from core.jobs.errors import LeaseLostError
from core.jobs.handlers import JobContext
from core.jobs.models import Job
from core.jobs.selectors import is_alive
from core.jobs.services import cancel as cancel_job
from core.jobs.services import enqueue
from core.projects.services import record
from evaluations import storage
from evaluations.errors import EvaluationError
from evaluations.executor import PartRunner
from evaluations.model_shelf import refuse_what_lacks
from evaluations.models import Call, Evaluation, ExternalScores, Part
from evaluations.plans import EvaluationPlan, External, plan_of
from evaluations.report.model import Report, best_of
from evaluations.selectors import score_fields_of, stages_of
from metrics.catalogue import plain_name
from metrics.errors import MetricError
from metrics.profiles import profile
from releases.models import Release
from releases.storage import formats_of

RUN = "evaluations.run"
State = Evaluation.State


@transaction.atomic
def begin(*, release: Release, plan: EvaluationPlan, title: str = "", actor: Any = None) -> Evaluation:
    """Plan an evaluation and queue its job; EvaluationError where that cannot be."""
    evaluation = planned(release=release, plan=plan, title=title, actor=actor)
    _queue(evaluation)
    return evaluation


@transaction.atomic
def planned(*, release: Release, plan: EvaluationPlan, title: str = "", actor: Any = None) -> Evaluation:
    """An evaluation of a ready release that nobody computes yet; EvaluationError where that cannot be."""
    refuse_what_cannot_be(release, plan)
    # Numbers are given out one after another: whoever plans at the same time waits for this row.
    Release.objects.select_for_update().get(pk=release.pk)
    last = Evaluation.objects.filter(release=release).aggregate(last=Max("number"))["last"] or 0
    evaluation = Evaluation.objects.create(
        release=release,
        number=last + 1,
        title=title.strip()[:120],
        plan=plan.as_json(),
        created_by=actor,
        created_at=timezone.now(),
    )
    note(evaluation, "evaluation.planned", actor)
    return evaluation


@transaction.atomic
def begin_again(*, evaluation: Evaluation, actor: Any) -> None:
    """Compute one that failed or was cancelled once more, with the plan that it had."""
    changed = Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OVER).update(
        state=State.PLANNED, why="", started_at=None, finished_at=None
    )
    if not changed:
        raise EvaluationError("Only an evaluation that failed or was cancelled is begun again.")
    _queue(evaluation)
    note(evaluation, "evaluation.planned", actor, again=True)


def refuse_what_cannot_be(release: Release, plan: EvaluationPlan) -> None:
    """EvaluationError where the release has nothing to evaluate, or the plan names what is not there."""
    if release.state != Release.State.READY:
        raise EvaluationError(f"Release {release.version} is not ready, so there is nothing to evaluate.")
    if not formats_of(release.manifest):
        raise EvaluationError(
            f"Release {release.version} has none of the formats that can be read: JSON lines, Parquet, CSV. "
            "Build a release with one of them."
        )
    _refuse_unknown_names(plan)
    stages = stages_of(release)
    if plan.field:
        if (plan.stage, plan.field) not in score_fields_of(release):
            raise EvaluationError(
                f"The stage {plan.stage!r} of the release has no field {plan.field!r} that scores answers or "
                "compares two."
            )
    elif plan.stage and plan.stage not in stages:
        raise EvaluationError(f"The release has no scores of a stage {plan.stage!r}.")
    if plan.metrics or plan.models:
        refuse_what_lacks(plan)
    present = {
        External(name=name, digest=digest)
        for name, digest in ExternalScores.objects.filter(release=release, kept=True).values_list(
            "name", "digest"
        )
    }
    for each in plan.external:
        if each not in present:
            raise EvaluationError(f"The scores {each.name!r} are no longer there. Upload them again.")


def _refuse_unknown_names(plan: EvaluationPlan) -> None:
    try:
        profile(plan.profile)
        for name in plan.metrics:
            plain_name(name)
        if plan.protocols:
            from metrics.metaeval.papers import refuse_unknown_protocols  # noqa: PLC0415 - numpy

            refuse_unknown_protocols(plan.protocols)
    except MetricError as error:
        raise EvaluationError(str(error)) from error


def _queue(evaluation: Evaluation) -> None:
    payload = {"evaluation": evaluation.pk, "project": evaluation.release.project_id}
    job = enqueue(kind=RUN, payload=payload, effect=f"evaluation:{evaluation.pk}:{uuid.uuid4().hex}")
    Evaluation.objects.filter(pk=evaluation.pk).update(job=job.pk)
    evaluation.job = job.pk


def note(evaluation: Evaluation, action: str, actor: Any, **details: Any) -> None:
    """An event of the project's log."""
    release = evaluation.release
    record(
        project=release.project,
        action=action,
        subject=f"{release.version} no. {evaluation.number}",
        actor=actor,
        details={"evaluation": evaluation.pk, "release": release.pk, **details},
    )


_LONGEST_ERROR = 2_000


def start(*, evaluation: Evaluation) -> bool:
    """It is being computed, for the first time or again; False where it is over."""
    open_ones = Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OPEN)
    return bool(open_ones.update(state=State.RUNNING, started_at=timezone.now()))


@transaction.atomic
def finish(*, evaluation: Evaluation, report: Report, files: Sequence[Mapping[str, Any]]) -> None:
    """Make it ready, with its report; from now on nothing of it changes. EvaluationError where it is over."""
    best, value = best_of(report)
    changed = Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OPEN).update(
        state=State.READY,
        report=report.as_json(),
        files=list(files),
        best=best,
        best_value=value,
        finished_at=timezone.now(),
    )
    if not changed:
        raise EvaluationError("The evaluation is over already.")
    sweep(evaluation.pk)
    note(evaluation, "evaluation.ready", evaluation.created_by)


@transaction.atomic
def fail(*, evaluation: Evaluation, why: str) -> bool:
    """Say why it could not be computed; False where it is over already. It can be begun again."""
    changed = _open(evaluation).update(
        state=State.FAILED, why=why[:_LONGEST_ERROR] or "The cause is not known.", finished_at=timezone.now()
    )
    if changed:
        sweep(evaluation.pk)
        note(evaluation, "evaluation.failed", evaluation.created_by, why=why[:300])
    return bool(changed)


@transaction.atomic
def cancel(*, evaluation: Evaluation, actor: Any) -> None:
    """End it with its job; nothing of it is kept. EvaluationError where it is over already."""
    if not _open(evaluation).update(state=State.CANCELLED, finished_at=timezone.now()):
        raise EvaluationError("The evaluation is over already.")
    if evaluation.job is not None:
        cancel_job(job_id=evaluation.job)
    sweep(evaluation.pk)
    note(evaluation, "evaluation.cancelled", actor)


def stuck(evaluation: Evaluation, job: Job | None) -> bool:
    """Whether it waits for a job that nobody does any more: its worker died for the last time."""
    return evaluation.state in Evaluation.OPEN and (job is None or not is_alive(job_id=job.pk))


@transaction.atomic
def show_evaluation(*, evaluation: Evaluation, actor: Any) -> None:
    """Make it the public leaderboard of its release, in place of another one."""
    Release.objects.select_for_update().get(pk=evaluation.release_id)
    if not Release.objects.filter(pk=evaluation.release_id, state=Release.State.READY).exists():
        raise EvaluationError("The release was withdrawn, so it has no leaderboard.")
    Evaluation.objects.filter(release=evaluation.release_id, leaderboard=True).exclude(
        pk=evaluation.pk
    ).update(leaderboard=False)
    rows = Evaluation.objects.filter(pk=evaluation.pk, state=State.READY, leaderboard=False)
    try:
        changed = rows.update(leaderboard=True)
    except IntegrityError as error:
        raise EvaluationError("Another person has just chosen another one; look again.") from error
    if not changed:
        raise EvaluationError("It is the leaderboard already, or it is not finished.")
    note(evaluation, "leaderboard.shown", actor)


@transaction.atomic
def hide(*, evaluation: Evaluation, actor: Any) -> None:
    """Take the public leaderboard away."""
    if not Evaluation.objects.filter(pk=evaluation.pk, leaderboard=True).update(leaderboard=False):
        raise EvaluationError("It is not the leaderboard.")
    note(evaluation, "leaderboard.hidden", actor)


def sweep(evaluation: int) -> None:
    """Forget what parts of its work gave, and those that nobody has computed."""
    Part.objects.filter(call__evaluation=evaluation).delete()
    Call.objects.filter(evaluation=evaluation).delete()


def _open(evaluation: Evaluation) -> Any:
    return Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OPEN)


def run_with(context: JobContext, evaluation: Evaluation) -> None:
    """Compute, put the files on their shelf, then make the evaluation ready together with the job's end."""
    from evaluations.release_evaluation import compute  # noqa: PLC0415 - numpy, only where something is computed

    with storage.workroom() as folder:
        spread = PartRunner(context, evaluation)
        plan = plan_of(evaluation.plan)
        report = compute(evaluation, plan, folder, spread=spread, progress=spread.progress)
        context.progress(0, 0, "Putting the files away")
        files = storage.keep(evaluation, folder)
    context.commit(lambda: finish(evaluation=evaluation, report=report, files=files))


def evaluate_here(
    *, release: Release, plan: EvaluationPlan, title: str = "", actor: Any = None
) -> Evaluation:
    """Plan an evaluation and compute it in this process; one that cannot be computed is marked failed.

    The process holds a job of its own under a lease that it extends while it lives. So pages show how far it
    is and can cancel it. EvaluationError, MetricError or ReleaseError say why it could not be.
    """
    evaluation = planned(release=release, plan=plan, title=title, actor=actor)
    payload = {"evaluation": evaluation.pk, "project": release.project_id}
    job = jobs.begin(kind=RUN, payload=payload)
    context = JobContext(job)

    def mark_failed(error: BaseException) -> None:
        why = str(error) or type(error).__name__
        fail(evaluation=evaluation, why=why)
        jobs.fail(job=job, error=why, permanent=True)
        if isinstance(error, LeaseLostError):
            raise EvaluationError("The evaluation was cancelled; nothing is kept.") from error

    with on_failure(mark_failed):
        Evaluation.objects.filter(pk=evaluation.pk).update(job=job.pk)
        start(evaluation=evaluation)
        with context.heartbeats():
            run_with(context, evaluation)
    return Evaluation.objects.select_related("release__project").get(pk=evaluation.pk)
