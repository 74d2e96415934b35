"""Beginning an evaluation: its row with its plan, and the job that computes it."""

import uuid
from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from core.jobs.services import enqueue
from core.projects.services import record
from evaluations.errors import EvaluationError
from evaluations.models import Evaluation, ExternalScores
from evaluations.plans import EvaluationPlan, External
from evaluations.selectors import stages_of
from releases.models import Release
from releases.reader import formats_of

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
    stages = stages_of(release)
    if plan.stage and plan.stage not in stages:
        raise EvaluationError(f"The release has no scores of a stage {plan.stage!r}.")
    if plan.metrics or plan.models:
        from evaluations.learned.pinned_models import refuse_what_lacks  # noqa: PLC0415 - the library of metrics

        refuse_what_lacks(plan)
    there = {
        External(name=name, digest=digest)
        for name, digest in ExternalScores.objects.filter(release=release, kept=True).values_list(
            "name", "digest"
        )
    }
    for each in plan.external:
        if each not in there:
            raise EvaluationError(f"The scores {each.name!r} are no longer there. Upload them again.")


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
