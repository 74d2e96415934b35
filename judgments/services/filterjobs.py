"""Applying filters and asking again in the background, where a stage is so large that nobody should wait."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from core.jobs import services as jobs
from core.jobs.models import OPEN_STATES, Job, JobState
from crowd.models import Stage
from judgments.models import FilterRun

APPLY, TOP_UP, REMAKE = "judgments.filter", "judgments.top_up", "judgments.filter_again"
#: How long a page says that a job failed, where nothing was done since.
_SAID = timedelta(days=1)
#: Jobs of a stage among which one is looked for that still runs.
_LOOKED_AT = 20


def ask_apply(
    *,
    stage: Stage,
    recipe: str,
    parameters: Mapping[str, Any],
    actor: Any,
    seed: int,
    seen: int | None,
    once: str,
) -> Job:
    """Have a recipe put in force by a job; one job however often the same wish, `once`, is sent."""
    payload = {
        "stage": stage.pk, "recipe": recipe, "parameters": dict(parameters), "user": actor.pk, "seed": seed,
        "seen": seen, "once": once,
    }  # fmt: skip
    return _ask(APPLY, payload, f"{_prefix(stage)}apply:{once}")


def ask_top_up(*, stage: Stage, most_cents: int, actor: Any, once: str) -> Job:
    """Have what is missing published by a job, for at most what the person confirmed."""
    payload = {"stage": stage.pk, "most_cents": most_cents, "user": actor.pk}
    return _ask(TOP_UP, payload, f"{_prefix(stage)}top-up:{once}")


def ask_remake(*, run: FilterRun, why: str, state: str) -> Job:
    """Have a run made again by a job; one for each state of its judgments in which it was not made."""
    payload = {"run": run.pk, "why": why}
    return _ask(REMAKE, payload, f"{_prefix(run.stage)}again:{run.pk}:{run.remade}:{state}")


def under_way_or_failed(stage: Stage) -> tuple[Job | None, Job | None]:
    """The newest job for a stage that runs or waits; or else the last one where it failed.

    That is said until something else was done or a day is over.
    """
    newest = list(Job.objects.filter(effect__startswith=_prefix(stage)).order_by("-pk")[:_LOOKED_AT])
    open_ones = [job for job in newest if job.state in OPEN_STATES]
    if open_ones or not newest:
        return (open_ones[0] if open_ones else None), None
    last = newest[0]
    if last.state != JobState.FAILED or last.finished_at is None:
        return None, None
    since = Q(created_at__gt=last.finished_at) | Q(ended_at__gt=last.finished_at)
    if last.finished_at < timezone.now() - _SAID or FilterRun.objects.filter(since, stage=stage).exists():
        return None, None
    return None, last


def _ask(kind: str, payload: dict[str, Any], effect: str) -> Job:
    """One job for a wish; asked for again after it failed or was cancelled, it is tried again."""
    job = jobs.enqueue(kind=kind, payload=payload, effect=effect)
    if jobs.retry(job_id=job.pk):
        job.refresh_from_db()
    return job


def _prefix(stage: Stage) -> str:
    return f"filters:{stage.pk}:"
