"""What happens to an evaluation after it was planned: it runs, is finished, fails, is cancelled, is shown.

Each is one conditional update with an event; where the evaluation is not in the state that it takes, nothing
changes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from core.jobs.models import Job
from core.jobs.selectors import is_alive
from core.jobs.services import cancel as cancel_job
from evaluations.errors import EvaluationError
from evaluations.models import Call, Evaluation, Part
from evaluations.services.planning import note
from evaluations.summaries import best_of
from releases.models import Release

State = Evaluation.State
_LONGEST_ERROR = 2_000


def start(*, evaluation: Evaluation) -> bool:
    """It is being computed, for the first time or again; False where it is over."""
    open_ones = Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OPEN)
    return bool(open_ones.update(state=State.RUNNING, started_at=timezone.now()))


@transaction.atomic
def finish(*, evaluation: Evaluation, report: Mapping[str, Any], files: Sequence[Mapping[str, Any]]) -> None:
    """Make it ready, with its report; from now on nothing of it changes. EvaluationError where it is over."""
    best, value = best_of(report)
    changed = Evaluation.objects.filter(pk=evaluation.pk, state__in=Evaluation.OPEN).update(
        state=State.READY,
        report=report,
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
        state=State.FAILED, why=why[:_LONGEST_ERROR] or "Nobody knows why.", finished_at=timezone.now()
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
def show(*, evaluation: Evaluation, actor: Any) -> None:
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
        raise EvaluationError("Somebody else has just chosen another one; look again.") from error
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
