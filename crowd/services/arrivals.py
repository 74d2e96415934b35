"""Somebody opens a task: which units they get, or why they get none.

What the address says is unproven (anybody can write one). It is enough to hand out units; what counts is
decided when the marketplace lists the submission.
"""

import re
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from crowd.bundles import order_for
from crowd.errors import WorkRefusedError
from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Exclusion, Hit, HitUnit, Stage, Worker
from crowd.services import decisions
from crowd.services.apart import refuse_apart
from crowd.services.parts import keep_to_part

State = Assignment.State
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
RETURN_IT = "Please return this HIT, so that somebody else can do it; returning costs you nothing."
_OVER = f"This HIT is over: its requester needs no more answers. Thank you for looking. {RETURN_IT}"
_FROM_QUEUE = "Open the HIT again from your queue at the marketplace."


@dataclass(frozen=True, slots=True)
class Arrived:
    """An assignment and its units, in this worker's order."""

    assignment: Assignment
    units: list[str]


def arrive(
    *, hit: Hit, external_id: str, worker_id: str, listing: str = "", resuming: bool = False
) -> Arrived:
    """Give the units of a HIT to the worker who accepted it; the same again on a reload.

    `listing` is the HIT's id at the marketplace as the address says it. With `resuming`, the worker was here
    before and comes back with finished work, which is taken even where nobody new may begin.

    Raises WorkRefusedError with a sentence for the worker: the HIT is over, they have done one of these
    before, were excluded, or reached the most HITs of this stage.
    """
    if not _ID.fullmatch(worker_id) or not _ID.fullmatch(external_id):
        raise WorkRefusedError(f"The address of this page is not complete. {_FROM_QUEUE}")
    if listing and hit.external_id and listing != hit.external_id:
        raise WorkRefusedError(f"The address of this page mixes two HITs. {_FROM_QUEUE}")
    known = _known(hit.stage, external_id, worker_id)
    if known is None or known.state == State.ENDED:
        known = _begin(hit, external_id, worker_id, resuming=resuming)
    if known.hit_id != hit.pk:
        raise WorkRefusedError(f"The address of this page belongs to another HIT. {_FROM_QUEUE}")
    if known.state == State.QUARANTINED:
        raise WorkRefusedError(
            "What we know of this assignment does not fit together, so its requester is looking at it. "
            "You need to do nothing; write to the requester if you hear nothing."
        )
    return Arrived(known, units_of(known))


def units_of(assignment: Assignment) -> list[str]:
    """The units of an assignment, in its worker's order."""
    units = sorted(assignment.claims.values_list("unit", flat=True))
    stage = assignment.stage
    together = kind_of(stage).together(stage, units) if len(units) > 1 else {}
    return order_for(units, seed=stage.seed, worker=assignment.worker.external_id, together=together)


def _known(stage: Stage, external_id: str, worker_id: str) -> Assignment | None:
    return (
        Assignment.objects.select_related("stage__project", "stage__endpoint", "hit", "worker")
        .filter(external_id=external_id, worker__external_id=worker_id, worker__endpoint=stage.endpoint_id)
        .first()
    )


def _begin(hit: Hit, external_id: str, worker_id: str, *, resuming: bool) -> Assignment:
    """Check and claim in one transaction that holds the worker: pages opened at once come one by one."""
    if not resuming:
        _refuse_what_is_over(hit)
    try:
        with transaction.atomic():
            worker, _ = Worker.objects.get_or_create(
                endpoint=hit.stage.endpoint,
                external_id=worker_id,
                defaults={"first_seen_at": timezone.now()},
            )
            Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
            known = _known(hit.stage, external_id, worker_id)
            if known is not None and (known.hit_id != hit.pk or known.state != State.ENDED):
                return known
            return _claim(hit, external_id, worker, known)
    except IntegrityError as error:
        raise WorkRefusedError(f"You have this task open in another HIT. {RETURN_IT}") from error


def _claim(hit: Hit, external_id: str, worker: Worker, before: Assignment | None) -> Assignment:
    draft = _given_back(hit, worker)
    units = dict(hit.units.order_by("position").values_list("unit", "role"))
    if hit.compensates_id is None:
        _refuse_excluded(hit.stage, worker, list(units))
        refuse_apart(hit.stage, worker)
        _refuse_too_many(hit.stage, worker)
    elif hit.compensates_id != worker.pk:
        raise WorkRefusedError(f"This HIT was made for somebody else. {RETURN_IT}")
    held = set(
        Claim.objects.filter(stage=hit.stage, worker=worker, unit__in=units).values_list("unit", flat=True)
    )
    if any(role == HitUnit.Role.UNIT and unit in held for unit, role in units.items()):
        raise WorkRefusedError(
            f"You have already worked on this; every answer must be another person's. {RETURN_IT}"
        )
    _refuse_conflicts(hit.stage, worker, list(units))
    if before is None:
        assignment = Assignment.objects.create(
            stage=hit.stage,
            hit=hit,
            worker=worker,
            external_id=external_id,
            arrived_at=timezone.now(),
            draft=draft,
        )
    else:
        assignment = before
        assignment.state, assignment.arrived_at = State.WORKING, timezone.now()
        assignment.draft = assignment.draft or draft
        assignment.save(update_fields=["state", "arrived_at", "draft"])
    Claim.objects.bulk_create(
        Claim(stage=hit.stage, unit=unit, worker=worker, assignment=assignment)
        for unit in units
        if unit not in held
    )
    keep_to_part(hit.stage, worker, hit)
    assignment.stage, assignment.hit, assignment.worker = hit.stage, hit, worker
    return assignment


def _given_back(hit: Hit, worker: Worker) -> dict[str, str]:
    """End what this worker began in this HIT under another assignment id; its draft goes on.

    A marketplace lets a worker hold a HIT once: with a new id they have returned it and accepted it again.
    """
    draft: dict[str, str] = {}
    for earlier in Assignment.objects.filter(hit=hit, worker=worker, state=State.WORKING):
        if decisions.ended(earlier):
            draft = earlier.draft
    return draft


def _refuse_what_is_over(hit: Hit) -> None:
    if hit.stage.status == Stage.Status.CLOSED or hit.state in (Hit.State.CLOSED, Hit.State.REFUSED):
        raise WorkRefusedError(_OVER)
    last = hit.expires_at and hit.expires_at + timedelta(seconds=hit.stage.work_seconds)
    if last and last < timezone.now():
        raise WorkRefusedError(_OVER)


def _refuse_excluded(stage: Stage, worker: Worker, units: list[str]) -> None:
    kind = kind_of(stage)
    scopes = {f"stage:{stage.pk}"}.union(*(kind.scopes(stage, unit) for unit in units))
    excluded = Exclusion.objects.filter(worker=worker, scope__in=scopes).first()
    if excluded is not None:
        raise WorkRefusedError(
            f"You cannot do this HIT, because of other work of yours here: {excluded.reason}. {RETURN_IT}"
        )


def _refuse_conflicts(stage: Stage, worker: Worker, units: list[str]) -> None:
    """Refuse what would bar from work that is open now, or is barred by it, once either is sent."""
    kind = kind_of(stage)
    scopes = {scope for unit in units for scope in kind.scopes(stage, unit)}
    marks = {mark for unit in units for mark in kind.marks(stage, unit)}
    if not scopes and not marks:
        return
    working = Claim.objects.select_related("stage").filter(
        worker=worker, assignment__state=State.WORKING, stage__project=stage.project_id
    )
    for claim in working.exclude(stage=stage):
        other = kind_of(claim.stage)
        if scopes.intersection(other.marks(claim.stage, claim.unit)) or marks.intersection(
            other.scopes(claim.stage, claim.unit)
        ):
            raise WorkRefusedError(
                "You have another HIT open about the same thing, and nobody may do both. "
                f"{RETURN_IT} Then go on with the other one."
            )


def _refuse_too_many(stage: Stage, worker: Worker) -> None:
    if stage.max_hits_per_worker is None:
        return
    still = timezone.now() - timedelta(seconds=stage.work_seconds)
    given_up = Q(state__in=[State.ENDED, State.QUARANTINED]) | Q(state=State.WORKING, arrived_at__lt=still)
    taken = Assignment.objects.filter(stage=stage, worker=worker).exclude(given_up).count()
    if taken >= stage.max_hits_per_worker:
        raise WorkRefusedError(
            f"Everybody can do at most {stage.max_hits_per_worker} of these HITs, and you have. "
            f"Thank you. {RETURN_IT}"
        )
