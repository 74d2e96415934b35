"""What a person decides about work and workers; all of it is logged with a reason and goes by the outbox."""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.money import bonus_fee, format_amount
from core.projects.models import Project
from core.projects.services import record
from crowd import budget
from crowd.adapters.base import CallRefusal, EarlierSuccess
from crowd.budget import Cost, payment_fee
from crowd.counted_work import counts
from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import (
    Assignment,
    Compensation,
    Endpoint,
    Exclusion,
    Hit,
    MarketOperation,
    PanelStudy,
    Stage,
    Worker,
)
from crowd.outbox import results
from crowd.outbox.calls import found_purpose, plan
from crowd.services.approvals import plan_decision
from crowd.services.decisions import recount
from crowd.services.groups import ensure_group, only, put_into
from crowd.services.panels import panel_of
from crowd.services.publication import next_ordinal, plan_listing
from crowd.sources import has_source, source_for_hit, stage_at

Kind, State = MarketOperation.Kind, Assignment.State
_DECIDABLE = (State.SUBMITTED, State.QUARANTINED)
#: People whom one letter goes to, and how many of them one call to the marketplace names.
MOST_WRITTEN_TO, _MOST_TO_MESSAGE = 5_000, 100
#: How often a compensation that is refused can be asked for, and the purposes of its bonuses.
_MOST_COMPENSATIONS = 10
_COMPENSATIONS = (
    "compensation",
    *(f"compensation {attempt}" for attempt in range(2, _MOST_COMPENSATIONS + 1)),
)
_BONUSES = uuid.UUID("5b9a3d0e-6a5e-4f0b-9a37-2f6c7f0f8a11")


@transaction.atomic
def approve(*, assignment: Assignment, actor: Any, note: str = "") -> MarketOperation:
    """Plan to approve submitted work, also work in quarantine: people are paid for our mistakes."""
    _refuse_unless(assignment, _DECIDABLE, "approved")
    operation = plan_decision(assignment, Kind.APPROVE, note)
    _log(assignment, "assignment.approved", actor, note)
    _accept(assignment, actor)
    return operation


@transaction.atomic
def reject(*, assignment: Assignment, actor: Any, reason: str) -> MarketOperation:
    """Plan to reject submitted work; the worker reads the reason, which must be one the marketplace takes."""
    if not reason.strip():
        raise CrowdError("A rejection needs a reason that the worker can read.")
    endpoint = assignment.endpoint
    if endpoint.is_panel and (fault := panel_of(endpoint).check_rejection(reason.strip()[:1024])):
        raise CrowdError(f"Not rejected. {fault}")
    _refuse_unless(assignment, _DECIDABLE, "rejected")
    operation = plan_decision(assignment, Kind.REJECT, reason.strip()[:1024])
    _log(assignment, "assignment.rejected", actor, reason)
    return operation


def least_rejection(endpoint: Endpoint) -> int:
    """Characters that the reason of a rejection has at least."""
    return panel_of(endpoint).capabilities().reject_min_chars if endpoint.is_panel else 1


@transaction.atomic
def override(*, assignment: Assignment, actor: Any, note: str) -> MarketOperation:
    """Plan to approve work that was rejected; possible for 30 days on most marketplaces.

    The money of the rejected work was given back, so BudgetError and SpendingRightError are possible.
    """
    _refuse_unless(assignment, (State.REJECTED,), "approved after all")
    operation = plan_decision(
        assignment, Kind.UNREJECT, note[:1024], cost=budget.unit_cost(assignment.hit), actor=actor
    )
    _log(assignment, "assignment.overridden", actor, note)
    _accept(assignment, actor)
    return operation


@transaction.atomic
def release_hold(*, assignment: Assignment, actor: Any) -> MarketOperation:
    """Let held work go on as if it had not been held: it is approved."""
    _refuse_unless(assignment, _DECIDABLE, "approved")
    before = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    Assignment.objects.filter(pk=before.pk).update(held=False, note="")
    counted, before.held, assignment.held = counts(before), False, False
    if counts(before) and not counted:
        recount(before, "is no longer held")
    operation = plan_decision(assignment, Kind.APPROVE, "")
    _log(assignment, "assignment.released", actor, "")
    _accept(assignment, actor)
    return operation


def _accept(assignment: Assignment, actor: Any) -> None:
    """A person's approval of work is one of its parts; a program's says nothing about them."""
    if actor is not None:
        kind_of(assignment.stage).accept(assignment, actor)


def _refuse_unless(assignment: Assignment, states: tuple[str, ...], what: str) -> None:
    assignment.refresh_from_db(fields=["state"])
    if assignment.state not in states:
        raise CrowdError(f"This work is {assignment.state}; it cannot be {what}.")
    under_way = MarketOperation.objects.filter(
        assignment=assignment, kind__in=[Kind.APPROVE, Kind.REJECT, Kind.UNREJECT]
    ).exclude(state__in=MarketOperation.FINAL)
    if under_way.exists():
        raise CrowdError("A decision on this work is on its way already.")


@transaction.atomic
def bonus(*, assignment: Assignment, actor: Any, cents: int, reason: str, purpose: str) -> MarketOperation:
    """Plan a bonus; one per assignment and purpose, however often it is asked for."""
    if cents < 1 or not reason.strip():
        raise CrowdError("A bonus is at least one cent and has a reason that the worker can read.")
    _refuse_unless_submitted(assignment)
    stage = assignment.stage
    pk = _bonus_key(assignment, purpose)
    if earlier := MarketOperation.objects.filter(
        kind=Kind.BONUS, assignment=assignment, purpose=found_purpose(pk.hex[:8])
    ).first():
        return earlier
    operation = plan(
        pk=pk,
        kind=Kind.BONUS,
        endpoint=assignment.endpoint,
        stage=stage,
        assignment=assignment,
        target=f"assignment:{assignment.pk}",
        purpose=_bonus_purpose(purpose),
        payload={
            "submission": assignment.external_id,
            "worker": assignment.worker.external_id,
            "reason": reason.strip()[:900],
            "currency": assignment.endpoint.currency,
            **_study_named(assignment.stage_id, assignment.endpoint),
        },
        cost=Cost(cents, bonus_fee(assignment.endpoint.fee_profile, bonus_cents=cents)),
        actor=actor,
    )
    amount = format_amount(cents, assignment.endpoint.currency)
    _log(assignment, "bonus.planned", actor, f"{amount} for {purpose}: {reason}")
    return operation


def _bonus_purpose(purpose: str) -> str:
    return f"bonus {purpose}"[:120]


def _study_named(stage: int, endpoint: Endpoint) -> dict[str, str]:
    """A panel pays bonuses and takes messages study by study."""
    if not endpoint.is_panel:
        return {}
    study = PanelStudy.objects.get(stage=stage, endpoint=endpoint)
    return {"study": study.external_id}


def _bonus_key(assignment: Assignment, purpose: str) -> uuid.UUID:
    """The same bonus has the same key, and so the same token and reference, in every copy of the database."""
    submission, worker = assignment.external_id, assignment.worker.external_id
    return uuid.uuid5(_BONUSES, json.dumps([assignment.endpoint.url, submission, worker, purpose]))


def _refuse_unless_submitted(assignment: Assignment) -> None:
    if assignment.submitted_at is None:
        raise CrowdError("The marketplace has not listed this work as submitted; a bonus cannot be paid yet.")


@transaction.atomic
def compensate(*, stage: Stage, worker: Worker, cents: int, reason: str, actor: Any) -> MarketOperation:
    """Pay a worker whose session broke through our fault.

    Somebody with submitted work gets a bonus. Somebody without gets a HIT for them alone: one place, nothing
    to do but submit, visible to them alone. CrowdError where they were paid so in this stage before, in
    either way. What the marketplace refused was not paid: it is asked for again, under a name of its own.
    """
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
    work = list(
        Assignment.objects.select_related("stage__project", "stage__endpoint", "worker__endpoint")
        .filter(stage=stage, worker=worker)
        .exclude(submitted_at=None)
        .order_by("-submitted_at", "-pk")
    )
    paid_cents = _compensated_cents(stage, worker, work)
    if paid_cents is not None:
        paid = format_amount(paid_cents, stage.endpoint.currency)
        raise CrowdError(
            f"They were compensated in this stage already, with {paid}. "
            "To pay more, pay a bonus on their work."
        )
    attempt = 1 + _count_refused(stage, worker, work)
    if attempt > _MOST_COMPENSATIONS:
        raise CrowdError(
            f"The marketplace refused {_MOST_COMPENSATIONS} compensations of this worker in this stage. "
            "The list of calls says why."
        )
    if work:
        purpose = _COMPENSATIONS[attempt - 1]
        operation = bonus(assignment=work[0], actor=actor, cents=cents, reason=reason, purpose=purpose)
    else:
        operation = _offer_compensation(
            stage, worker, cents=cents, reason=reason, actor=actor, attempt=attempt
        )
    _note_compensation(stage, worker, operation)
    return operation


def _note_compensation(stage: Stage, worker: Worker, operation: MarketOperation) -> None:
    """One row for a worker and stage: it takes another call only in place of one that was refused."""
    now = timezone.now()
    mine = Compensation.objects.filter(stage=stage, worker=worker)
    again = mine.filter(operation__state=MarketOperation.State.REFUSED).update(operation=operation, at=now)
    if not again:
        Compensation.objects.create(stage=stage, worker=worker, operation=operation, at=now)


def _count_refused(stage: Stage, worker: Worker, work: Sequence[Assignment]) -> int:
    hits = Hit.objects.filter(stage=stage, compensates=worker, state=Hit.State.REFUSED)
    return hits.count() + _compensation_bonuses(work).filter(state=MarketOperation.State.REFUSED).count()


def _compensation_bonuses(work: Sequence[Assignment]) -> QuerySet[MarketOperation]:
    names = [_bonus_purpose(purpose) for purpose in _COMPENSATIONS]
    recovered_purposes = [
        found_purpose(_bonus_key(each, name).hex[:8]) for each in work for name in _COMPENSATIONS
    ]
    return MarketOperation.objects.filter(
        kind=Kind.BONUS, assignment__in=work, purpose__in=[*names, *recovered_purposes]
    )


def _compensated_cents(stage: Stage, worker: Worker, work: Sequence[Assignment]) -> int | None:
    """With how much a worker was or will be compensated in a stage; None where they were not.

    A row says so, except of what came before there were rows and of what a restored database found at the
    marketplace. What was refused does not count.
    """
    refused = MarketOperation.State.REFUSED
    rows = Compensation.objects.filter(stage=stage, worker=worker).exclude(operation__state=refused)
    row = rows.select_related("operation").first()
    if row is not None:
        return row.operation.amount_cents
    hit = Hit.objects.filter(stage=stage, compensates=worker).exclude(state=Hit.State.REFUSED).first()
    if hit is not None:
        return hit.reward_cents
    paid = _compensation_bonuses(work).exclude(state=refused).first()
    return None if paid is None else paid.amount_cents


def _offer_compensation(
    stage: Stage, worker: Worker, *, cents: int, reason: str, actor: Any, attempt: int
) -> MarketOperation:
    """Plan the HIT of a worker who submitted nothing, with a group of its own for each attempt."""
    if cents < 1 or not reason.strip():
        raise CrowdError("A compensation is at least one cent and has a reason that the worker can read.")
    source_stage = stage_at(stage, worker.endpoint_id)
    group = ensure_group(
        endpoint=source_stage.endpoint,
        name=f"Compensation for {worker.external_id} ({stage.project.slug}/{stage.slug})"
        + (f" {attempt}" if attempt > 1 else ""),
        description="A HIT without work, to pay for a session that broke.",
        stage=stage,
    )
    put_into(group, worker)
    hit = Hit.objects.create(
        stage=stage,
        source=source_for_hit(source_stage),
        ordinal=next_ordinal(stage),
        places=1,
        reward_cents=cents,
        fee_cents=payment_fee(source_stage.endpoint, cents),
        compensates=worker,
    )
    operation = plan_listing(
        source_stage,
        hit,
        title=f"Compensation: {stage.task_title}"[:128],
        description=reason.strip()[:2000],
        rules=[only(group)],
        actor=actor,
    )
    record(
        project=stage.project,
        action="bonus.planned",
        subject=worker.external_id,
        actor=actor,
        details={"cents": cents, "why": reason, "by": "compensation HIT"},
    )
    return operation


@transaction.atomic
def exclude_worker(*, worker: Worker, reason: str, actor: Any, stage: Stage) -> Exclusion:
    """Bar a worker from a stage from now on; what they did stays and is paid."""
    if not reason.strip():
        raise CrowdError("An exclusion needs a reason; it is shown to the worker.")
    exclusion, _ = Exclusion.objects.get_or_create(
        worker=worker,
        scope=f"stage:{stage.pk}",
        defaults={"reason": reason.strip()[:300], "created_at": timezone.now()},
    )
    record(
        project=stage.project,
        action="worker.excluded",
        subject=worker.external_id,
        actor=actor,
        details={"stage": stage.slug, "why": reason},
    )
    return exclusion


@transaction.atomic
def readmit_worker(*, worker: Worker, reason: str, actor: Any, stage: Stage) -> None:
    """Let an excluded worker take work of a stage again. Raises CrowdError where they are not excluded.

    What bars them from single units, such as queries that they curated, stays.
    """
    if not reason.strip():
        raise CrowdError("A readmission needs a reason, for the log of events.")
    if not Exclusion.objects.filter(worker=worker, scope=f"stage:{stage.pk}").delete()[0]:
        raise CrowdError(f"{worker.external_id} is not excluded from the stage {stage.slug!r}.")
    record(
        project=stage.project,
        action="worker.readmitted",
        subject=worker.external_id,
        actor=actor,
        details={"stage": stage.slug, "why": reason},
    )


#: Why a message does not reach some workers.
NO_INBOX = "People of a study link have no inbox."


def split_by_inbox(workers: Sequence[Worker]) -> tuple[list[Worker], list[Worker]]:
    """Who can be written to, and who cannot."""
    endpoints = Endpoint.objects.in_bulk({worker.endpoint_id for worker in workers})
    reached = {pk for pk, endpoint in endpoints.items() if endpoint.has_inboxes}
    readers = [worker for worker in workers if worker.endpoint_id in reached]
    return readers, [worker for worker in workers if worker.endpoint_id not in reached]


@transaction.atomic
def message_workers(
    *, stage: Stage, workers: list[Worker], subject: str, text: str, actor: Any
) -> list[MarketOperation]:
    """Plan a message to workers of a stage, a hundred at a time."""
    if not subject.strip() or not text.strip() or not workers:
        raise CrowdError("A message needs somebody to get it, a subject and a text.")
    stamp = timezone.now().isoformat(timespec="microseconds")
    operations = []
    for start, batch in _batches_by_endpoint(workers):
        endpoint = stage_at(stage, batch[0].endpoint_id).endpoint
        operations.append(
            plan(
                kind=Kind.MESSAGE,
                endpoint=endpoint,
                stage=stage,
                target=f"stage:{stage.pk}",
                purpose=f"message {stamp} {start}",
                payload={
                    "workers": [worker.external_id for worker in batch],
                    "subject": subject.strip()[:200],
                    "text": text.strip()[:4096],
                    **_study_named(stage.pk, endpoint),
                },
                actor=actor,
            )
        )
    record(
        project=stage.project,
        action="worker.messaged",
        subject=stage.slug,
        actor=actor,
        details={"workers": len(workers), "subject": subject},
    )
    return operations


def _batches_by_endpoint(workers: Sequence[Worker]) -> Iterator[tuple[int, list[Worker]]]:
    """As many as one message takes, of one endpoint each, with the number of those before."""
    start = 0
    for pk in sorted({worker.endpoint_id for worker in workers}):
        endpoint_workers = [worker for worker in workers if worker.endpoint_id == pk]
        for begin in range(0, len(endpoint_workers), _MOST_TO_MESSAGE):
            batch = endpoint_workers[begin : begin + _MOST_TO_MESSAGE]
            yield start, batch
            start += len(batch)


@transaction.atomic
def resolve_operation(
    *, operation: MarketOperation, actor: Any, happened: bool, why: str, ref: str = ""
) -> MarketOperation:
    """A person says what became of an operation that nobody answered.

    It happened: it is booked as done; publishing needs the HIT's id in `ref`. It did not: its money is
    free again, and the same purpose is never tried again by itself.
    """
    operation = MarketOperation.objects.select_for_update().get(pk=operation.pk)
    if operation.state != MarketOperation.State.UNKNOWN or not operation.needs_person:
        raise CrowdError("This operation needs no decision.")
    if happened and operation.kind == Kind.PUBLISH and not ref.strip():
        raise CrowdError("Give the HIT's id at the marketplace.")
    outcome = EarlierSuccess(ref.strip() or operation.target) if happened else CallRefusal("NotDone", why)
    results.apply(operation, outcome)
    if operation.stage:
        record(
            project=operation.stage.project,
            action="operation.resolved",
            subject=f"{operation.kind} {operation.target}",
            actor=actor,
            details={"happened": happened, "ref": ref, "why": why},
        )
    operation.refresh_from_db()
    return operation


def _log(assignment: Assignment, action: str, actor: Any, why: str) -> None:
    record(
        project=assignment.stage.project,
        action=action,
        subject=f"{assignment.stage.slug} {assignment.external_id}",
        actor=actor,
        details={"worker": assignment.worker.external_id, "why": why[:500]},
    )


# What a researcher does about somebody in all stages of a project.


@transaction.atomic
def exclude_from_project(*, worker: Worker, project: Project, reason: str, actor: Any) -> int:
    """Bar somebody from all stages that the project has at their marketplace; how many. Each is logged.

    Stages made later are not among them: exclusions are by stage.
    """
    rows = list(
        Stage.objects.filter(has_source(worker.endpoint_id), project=project)
        .select_related("project")
        .order_by("pk")
    )
    for row in rows:
        exclude_worker(worker=worker, reason=reason, actor=actor, stage=row)
    return len(rows)


@transaction.atomic
def readmit_to_project(*, worker: Worker, project: Project, reason: str, actor: Any) -> int:
    """Let a worker take work again of every stage of the project that they are excluded from; how many."""
    stages = Stage.objects.filter(project=project).select_related("project").order_by("pk")
    barred = set(Exclusion.objects.filter(worker=worker).values_list("scope", flat=True))
    rows = [row for row in stages if f"stage:{row.pk}" in barred]
    if not rows:
        raise CrowdError(f"{worker.external_id} is not excluded from any stage of the project.")
    for row in rows:
        readmit_worker(worker=worker, reason=reason, actor=actor, stage=row)
    return len(rows)


# One decision about many pieces of work, each as if it had been made alone.

#: Pieces of work that one request decides about.
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many were approved, and each that was not: the worker's id and why.

    `undecided` names approved work in which something still waits for a reviewer, and what.
    """

    approved: int
    refused: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...] = ()


def approve_chosen(*, stage: Stage, assignments: Sequence[int], actor: Any, note: str = "") -> Outcome:
    """Plan to approve these assignments of the stage, each in a transaction of its own with its own event.

    One that somebody else has decided about is refused in words and stops no other. Raises CrowdError where
    nothing or more than `MOST_AT_ONCE` is chosen; then nothing happens. Ids of other stages are passed over.
    """
    assignment_ids = sorted(set(assignments))
    if not assignment_ids:
        raise CrowdError("Nothing is chosen. Tick the work to approve first.")
    if len(assignment_ids) > MOST_AT_ONCE:
        raise CrowdError(f"{len(assignment_ids)} are chosen; at most {MOST_AT_ONCE} are approved at once.")
    return approve_each(stage=stage, assignments=assignment_ids, actor=actor, note=note)


def approve_each(*, stage: Stage, assignments: Sequence[int], actor: Any, note: str = "") -> Outcome:
    """The same for as many as are named, at least one."""
    approved, refused, undecided = 0, [], []
    for pk in assignments:
        with transaction.atomic():
            row = (
                Assignment.objects.select_related("worker__endpoint")
                .select_for_update(of=("self",), no_key=True)
                .filter(stage=stage, pk=pk)
                .first()
            )
            if row is None:
                continue
            row.stage = stage
            try:
                with transaction.atomic():
                    approve(assignment=row, actor=actor, note=note)
            except CrowdError as error:
                refused.append((row.worker.external_id, str(error)))
            else:
                approved += 1
                if reason := kind_of(stage).undecided(row):
                    undecided.append((row.worker.external_id, reason))
    return Outcome(approved, tuple(refused), tuple(undecided))
