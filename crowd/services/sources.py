"""Several sources for one stage: made, changed, paused and closed, and their work given to the others.

Each function changes rows in one short transaction and plans operations; `crowd.outbox` performs them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone

from core.money import format_amount
from core.projects.services import record
from core.revisions import ShownValues, mark_of_values
from crowd import rights
from crowd.adapters.link import TAKEN
from crowd.errors import CrowdError, StageStateError
from crowd.models import Endpoint, Hit, MarketOperation, Stage, StageSource
from crowd.services.persons import note_marks_of_project
from crowd.services.publication import MOVE
from crowd.services.stages import arm_stage, by_key, expire_hit, has_fixed_terms, prepare_source
from crowd.sources import forget_rows, hits_of, source_rows, stage_at
from metrics.figure import counted

Status = StageSource.Status
#: HITs that one round takes from a source because they were on offer for too long.
_MOST_AT_ONCE = 500
#: Sources that one stage can have.
MOST_SOURCES = 12


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """A source as a person wants it: its weight, or so many answers at most; money in cents."""

    endpoint: Endpoint
    share: int | None = None
    most_answers: int | None = None
    reward_cents: int | None = None
    move_after_seconds: int | None = None


#: Columns of a source that a plan says.
TERMS = ("share", "most_answers", "reward_cents", "move_after_seconds")


def mark_of_sources(stage: Stage) -> str:
    """Equal as long as the sources of a stage and their terms are."""
    rows = StageSource.objects.filter(stage=stage).order_by("position")
    return mark_of_values(f"crowd.sources {stage.pk}", list(rows.values_list("endpoint_id", *TERMS)))


def set_sources(
    *,
    stage: Stage,
    plans: Sequence[SourcePlan],
    actor: Any = None,
    typed_cents: int | None = None,
    seen: ShownValues | None = None,
) -> None:
    """Make these the sources of a stage; none: its own endpoint alone. What is so already stays.

    A running stage can get more of them, and their quotas can change; one that has published stays, closed
    if need be. Raises CrowdError, in words, and NotArmedError where real money would be spent and
    `typed_cents` is not the stage's budget; then nothing is changed. With `seen`, ConflictError where the
    sources are other than were shown.
    """
    if stage.source is not None:
        raise TypeError("Sources are set for the stage itself.")
    _check_plans(stage, plans)
    if seen is not None:
        seen.check(mark_of_sources(stage))
    forget_rows(stage)
    rows_by_endpoint = {row.endpoint_id: row for row in source_rows(stage)}
    new = [plan for plan in plans if plan.endpoint.pk not in rows_by_endpoint]
    if stage.status == Stage.Status.OPEN:
        _prepare(stage, new, typed_cents, actor)
    with transaction.atomic():
        Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
        if seen is not None:
            seen.check(mark_of_sources(stage))
        forget_rows(stage)
        rows_by_endpoint = {row.endpoint_id: row for row in source_rows(stage)}
        endpoint_ids = {plan.endpoint.pk for plan in plans}
        _remove(row for row in rows_by_endpoint.values() if row.endpoint_id not in endpoint_ids)
        changed = [_store(stage, plan, rows_by_endpoint.get(plan.endpoint.pk)) for plan in plans]
        if any(changed) or len(endpoint_ids) != len(rows_by_endpoint):
            record(
                project=stage.project,
                action="stage.sources_changed",
                subject=stage.slug,
                actor=actor,
                details={plan.endpoint.name: describe_plan(plan) for plan in plans},
            )
    forget_rows(stage)
    note_marks_of_project(stage.project)


def describe_plan(plan: SourcePlan | StageSource) -> str:
    """A source's quota and terms in words."""
    quota = f"share {plan.share}" if plan.share else f"at most {counted(plan.most_answers or 0, 'answer')}"
    if plan.reward_cents is None:
        return quota
    return f"{quota}, reward {format_amount(plan.reward_cents, plan.endpoint.currency)}"


def _check_plans(stage: Stage, plans: Sequence[SourcePlan]) -> None:
    if not plans:
        return
    endpoints = [plan.endpoint.pk for plan in plans]
    if len(set(endpoints)) != len(endpoints):
        raise CrowdError("One marketplace is named twice. Give each of a stage's sources once.")
    if not 2 <= len(plans) <= MOST_SOURCES:
        raise CrowdError(f"A stage has its own marketplace alone, or from 2 to {MOST_SOURCES} sources.")
    if stage.endpoint_id not in endpoints:
        raise CrowdError(
            f"The stage's own marketplace, {stage.endpoint.label}, is not among its sources. Add it."
        )
    for plan in plans:
        if (plan.share is None) == (plan.most_answers is None) or plan.share == 0:
            raise CrowdError(
                f"{plan.endpoint.label}: give a share of 1 or more, or a number of answers, and not both."
            )
        if plan.endpoint.currency != stage.endpoint.currency:
            raise CrowdError(
                f"{plan.endpoint.label} pays in {plan.endpoint.currency}, and the stage's budget is in "
                f"{stage.endpoint.currency}. All sources of a stage have one currency: make a stage of its "
                "own for this one."
            )


def _prepare(stage: Stage, new: Sequence[SourcePlan], typed_cents: int | None, actor: Any) -> None:
    """Ask new sources of a running stage whether they take it, and the person for right and amount."""
    source_stages = []
    for plan in new:
        rights.refuse_spending(plan.endpoint, stage, actor)
        terms = {name: getattr(plan, name) for name in TERMS}
        row = StageSource(stage=stage, endpoint=plan.endpoint, **terms)
        stage.__dict__["_source_rows"] = [row]
        source_stages.append(stage_at(stage, plan.endpoint))
        forget_rows(stage)
    for source_stage in source_stages:
        prepare_source(source_stage)
    if any(source_stage.endpoint.real_money for source_stage in source_stages):
        stage.__dict__["_source_rows"] = [source_stage.source for source_stage in source_stages]
        try:
            arm_stage(stage, typed_cents)
        finally:
            forget_rows(stage)


def _remove(rows: Any) -> None:
    for row in rows:
        own = row.position == 0 and has_fixed_terms(row.stage)
        if own or Hit.objects.filter(source=row).exists():
            raise StageStateError(
                f"HITs were published at {row.endpoint.label}, so it stays a source of the stage. "
                "Close it there: others then do what it leaves undone."
            )
        row.delete()


def _store(stage: Stage, plan: SourcePlan, row: StageSource | None) -> bool:
    """Make or change a row; whether anything is other than it was."""
    terms = {name: getattr(plan, name) for name in TERMS}
    if row is None:
        own = plan.endpoint.pk == stage.endpoint_id
        last = StageSource.objects.filter(stage=stage).aggregate(last=Max("position"))["last"]
        if own and plan.reward_cents not in (None, stage.reward_cents) and has_fixed_terms(stage):
            raise _fixed_reward(plan.endpoint)
        StageSource.objects.create(
            stage=stage,
            endpoint=plan.endpoint,
            position=0 if own else max(0, last or 0) + 1,
            created_at=timezone.now(),
            **terms,
        )
        return True
    changed = [name for name, value in terms.items() if getattr(row, name) != value]
    if "reward_cents" in changed and Hit.objects.filter(source=row).exists():
        raise _fixed_reward(row.endpoint)
    if changed:
        StageSource.objects.filter(pk=row.pk).update(**terms)
    return bool(changed)


def _fixed_reward(endpoint: Endpoint) -> StageStateError:
    return StageStateError(f"HITs are published at {endpoint.label}, so the reward there cannot change.")


# One source of a running stage


def row_of(stage: Stage, endpoint_name: str) -> StageSource:
    """The source of this name. CrowdError where the stage has none."""
    row = next((row for row in source_rows(stage) if row.endpoint.name == endpoint_name), None)
    if row is None:
        names = ", ".join(row.endpoint.name for row in source_rows(stage)) or "none besides its own"
        raise CrowdError(f"The stage has no source {endpoint_name!r}. Its sources are: {names}.")
    return row


def pause_source(*, stage: Stage, row: StageSource, actor: Any = None, why: str = "") -> None:
    """Publish nothing more there for now; what is on offer stays, and what is for it waits for it."""
    _move(stage, row, (Status.OPEN,), Status.PAUSED, "source.paused", actor=actor, why=why)


def open_source(
    *, stage: Stage, row: StageSource, actor: Any = None, typed_cents: int | None = None, why: str = ""
) -> None:
    """Let a paused or closed source take work again, after asking it whether it still does.

    Raises NotArmedError where real money would be spent and `typed_cents` is not the stage's budget.
    """
    if stage.status == Stage.Status.OPEN:
        plan = SourcePlan(row.endpoint, **{name: getattr(row, name) for name in TERMS})
        _prepare(stage, [plan], typed_cents, actor)
    _move(stage, row, (Status.PAUSED, Status.CLOSED), Status.OPEN, "source.opened", actor=actor, why=why)


def close_source(*, stage: Stage, row: StageSource, actor: Any = None, why: str = "") -> int:
    """Take nothing more from there: its HITs expire, and others do what is missing; how many expire.

    Work in progress may still come in and is paid. Done again after a crash, it goes on where it stopped.
    """
    row.refresh_from_db()
    if row.status != Status.CLOSED:
        if not any(other.status == Status.OPEN for other in source_rows(stage) if other.pk != row.pk):
            raise StageStateError("No other source is open. Close the stage, or open another source first.")
        _move(stage, row, (Status.OPEN, Status.PAUSED), Status.CLOSED, "source.closed", actor=actor, why=why)
    return _expire(Hit.objects.filter(hits_of(stage_at(stage, row.endpoint)), state=Hit.State.OPEN), "close")


def move_work(*, stage: Stage, row: StageSource, actor: Any = None) -> int:
    """Give the free places of a source to the others: their HITs there expire; how many do.

    Nobody is asked twice: where people accept HITs at a marketplace, the others get a place only when it
    says that nobody can fill it any more.
    """
    _refuse_without_others(stage, row)
    count = _expire(list_hits_with_places(stage_at(stage, row.endpoint)), "by hand")
    if count:
        record(
            project=stage.project,
            action="source.work_moved",
            subject=stage.slug,
            actor=actor,
            details={"source": row.endpoint.name, "hits": count},
        )
    return count


def move_overdue(source_stage: Stage) -> int:
    """Take from a source what was on offer there for longer than its rule says; how many HITs.

    `source_stage` is the stage as the source meets it.
    """
    row = source_stage.source
    if row is None or not row.move_after_seconds or not _others_open(source_stage, row):
        return 0
    since = timezone.now() - timedelta(seconds=row.move_after_seconds)
    return _expire(
        list_hits_with_places(source_stage).filter(published_at__lte=since), "overdue", _MOST_AT_ONCE
    )


def _others_open(stage: Stage, row: StageSource) -> bool:
    others = StageSource.objects.filter(stage=stage.pk, status=Status.OPEN).exclude(pk=row.pk)
    return others.exists()


def _refuse_without_others(stage: Stage, row: StageSource) -> None:
    if not _others_open(stage, row):
        raise StageStateError("No other source is open that could do the work. Open one first.")


def list_hits_with_places(source_stage: Stage) -> "QuerySet[Hit]":
    """HITs on offer at a source with a free place, which nothing ends."""
    closing = MarketOperation.objects.filter(hit=OuterRef("pk"), kind=MarketOperation.Kind.CLOSE).exclude(
        state=MarketOperation.State.REFUSED
    )
    on_offer = Hit.objects.filter(hits_of(source_stage), state=Hit.State.OPEN, compensates=None)
    free = on_offer.annotate(taken=TAKEN).filter(taken__lt=F("places"), expires_at__gt=timezone.now())
    return free.exclude(Exists(closing))


def _expire(hits: "QuerySet[Hit]", why: str, most: int | None = None) -> int:
    count = 0
    for hit in by_key(hits.select_related("stage__project", "stage__endpoint", "source__endpoint")):
        if most is not None and count == most:
            break
        expire_hit(hit=hit, purpose=f"{MOVE} {why}")
        count += 1
    return count


@transaction.atomic
def _move(
    stage: Stage,
    row: StageSource,
    before: tuple[str, ...],
    after: str,
    action: str,
    *,
    actor: Any,
    why: str,
) -> None:
    if not StageSource.objects.filter(pk=row.pk, status__in=before).update(status=after):
        row.refresh_from_db()
        raise StageStateError(
            f"{row.endpoint.label} is {row.status}; this is possible from: {', '.join(before)}."
        )
    record(
        project=stage.project,
        action=action,
        subject=stage.slug,
        actor=actor,
        details={"source": row.endpoint.name, **({"why": why} if why else {})},
    )
    row.status = after
    forget_rows(stage)
