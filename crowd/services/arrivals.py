"""Somebody opens a task: which units they get, or why they get none.

What the address says is unproven (anybody can write one). It is enough to hand out units; what counts is
decided when the marketplace lists the submission.
"""

import re
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.utils import timezone

from crowd.bundles import order_for
from crowd.errors import WorkRefusedError
from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Exclusion, Hit, HitUnit, Stage, Worker

State = Assignment.State
_WORKER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_RETURN_IT = "Please return this HIT, so that somebody else can do it; returning costs you nothing."


@dataclass(frozen=True, slots=True)
class Arrived:
    """An assignment and its units, in this worker's order."""

    assignment: Assignment
    units: list[str]


def arrive(*, hit: Hit, external_id: str, worker_id: str) -> Arrived:
    """Give the units of a HIT to the worker who accepted it; the same again on a reload.

    Raises WorkRefusedError with a sentence for the worker: they have done one of these before, were
    excluded, or reached the most HITs of this stage.
    """
    if not _WORKER_ID.fullmatch(worker_id) or not _WORKER_ID.fullmatch(external_id):
        raise WorkRefusedError("This address is not complete. Open the HIT again from your queue.")
    worker, _ = Worker.objects.get_or_create(
        endpoint=hit.stage.endpoint,
        external_id=worker_id,
        defaults={"first_seen_at": timezone.now()},
    )
    known = (
        Assignment.objects.select_related("stage__project", "stage__endpoint", "hit", "worker")
        .filter(external_id=external_id, worker=worker)
        .first()
    )
    if known is not None and known.hit_id != hit.pk:
        raise WorkRefusedError("This address belongs to another HIT. Open the HIT again from your queue.")
    if known is not None and known.state == State.QUARANTINED:
        raise WorkRefusedError("Something is wrong with this assignment; its requester is looking at it.")
    if known is None or known.state == State.ENDED:
        known = _begin(hit, external_id, worker, known)
    units = list(known.claims.values_list("unit", flat=True))
    return Arrived(known, order_for(sorted(units), seed=hit.stage.seed, worker=worker_id))


def _begin(hit: Hit, external_id: str, worker: Worker, before: Assignment | None) -> Assignment:
    stage, kind = hit.stage, kind_of(hit.stage)
    units = dict(hit.units.order_by("position").values_list("unit", "role"))
    scopes = {f"stage:{stage.pk}"}.union(*(kind.scopes(stage, unit) for unit in units))
    excluded = Exclusion.objects.filter(worker=worker, scope__in=scopes).first()
    if excluded is not None:
        raise WorkRefusedError(
            f"You cannot do this HIT, because of other work of yours here: {excluded.reason}. {_RETURN_IT}"
        )
    _refuse_too_many(stage, worker)
    own = [unit for unit, role in units.items() if role == HitUnit.Role.UNIT]
    held = set(
        Claim.objects.filter(stage=stage, worker=worker, unit__in=units).values_list("unit", flat=True)
    )
    if held.intersection(own):
        raise WorkRefusedError(
            f"You have already worked on this; every answer must be another person's. {_RETURN_IT}"
        )
    try:
        with transaction.atomic():
            if before is None:
                assignment = Assignment.objects.create(
                    stage=stage,
                    hit=hit,
                    worker=worker,
                    external_id=external_id,
                    arrived_at=timezone.now(),
                )
            else:
                assignment = before
                Assignment.objects.filter(pk=before.pk).update(
                    state=State.WORKING, arrived_at=timezone.now(), draft={}
                )
                assignment.state = State.WORKING
            Claim.objects.bulk_create(
                Claim(stage=stage, unit=unit, worker=worker, assignment=assignment)
                for unit in units
                if unit not in held
            )
    except IntegrityError as error:
        raise WorkRefusedError(f"You have this task open in another HIT. {_RETURN_IT}") from error
    assignment.stage, assignment.hit, assignment.worker = stage, hit, worker
    return assignment


def _refuse_too_many(stage: Stage, worker: Worker) -> None:
    if stage.max_hits_per_worker is None:
        return
    taken = (
        Assignment.objects.filter(stage=stage, worker=worker)
        .exclude(state__in=[State.ENDED, State.QUARANTINED])
        .count()
    )
    if taken >= stage.max_hits_per_worker:
        raise WorkRefusedError(
            f"Everybody can do at most {stage.max_hits_per_worker} of these HITs, and you have. "
            f"Thank you. {_RETURN_IT}"
        )
