"""Somebody opens a task: which units they get, or why they get none.

Our own marketplace signs what the address says. From others it is unproven (anybody can write one): it is
enough to hand out units, but bars no one (`unproven`). What counts is decided when the submission is listed.
"""

import contextlib
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from crowd import budget
from crowd.adapters.link import has_place
from crowd.budget import MovementPurpose
from crowd.bundles import order_for
from crowd.errors import BudgetError, WorkRefusedError
from crowd.kinds import kind_of
from crowd.models import Assignment, Claim, Endpoint, Exclusion, Hit, HitUnit, Stage, Worker
from crowd.services import decisions, persons
from crowd.services.groups import keep_to_part, refuse_apart
from crowd.services.unproven import confirmed, make_room, make_way

State = Assignment.State
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
RETURN_IT = gettext_lazy(
    "Please return this HIT, so that another worker can do it; returning costs you nothing."
)
_OVER = gettext_lazy("This HIT is over: its requester needs no more answers. Thank you for looking.")
_FROM_QUEUE = gettext_lazy("Open the HIT again from your queue at the marketplace.")


@dataclass(frozen=True, slots=True)
class AssignmentUnits:
    """An assignment and its units, in this worker's order."""

    assignment: Assignment
    units: list[str]


def arrive(
    *,
    hit: Hit,
    external_id: str,
    worker_id: str,
    listing: str = "",
    resuming: bool = False,
    proven: bool = True,
    network: str = "",
    is_compared: bool = False,
) -> AssignmentUnits:
    """Give the units of a HIT to the worker who accepted it; the same again on a reload.

    `listing` is the HIT's id at the marketplace as the address says it. With `resuming`, the worker was here
    before and comes back with finished work, which is taken even where nobody new may begin. What is not
    `proven` by the marketplace's signature is refused where the marketplace signs. `network` tells unproven
    arrivals apart by where they come from. `is_compared`: the caller looked for others who may be this
    person.

    Raises WorkRefusedError with a sentence for the worker: the HIT is over, they have done one of these
    before, were excluded, or reached the most HITs of this stage.
    """
    if not _ID.fullmatch(worker_id) or not _ID.fullmatch(external_id):
        raise WorkRefusedError(gettext("The address of this page is not complete.") + f" {_FROM_QUEUE}")
    if listing and hit.external_id and listing != hit.external_id:
        raise WorkRefusedError(gettext("The address of this page mixes two HITs.") + f" {_FROM_QUEUE}")
    _refuse_unsigned(hit.endpoint, proven=proven, resuming=resuming)
    assignment = _find_assignment(hit.endpoint, external_id, worker_id)
    if assignment is None or assignment.state == State.ENDED:
        make_way(hit, external_id=external_id, worker_id=worker_id, proven=proven)
        if not resuming:
            _refuse_what_is_over(hit)
        if proven and not is_compared and persons.has_several_endpoints(hit.stage.project_id):
            persons.find_matches(_worker(hit, worker_id), hit.stage.project)
        assignment = _begin(hit, external_id, worker_id, resuming=resuming, proven=proven, network=network)
    elif proven and not assignment.proven:
        Assignment.objects.filter(pk=assignment.pk).update(proven=True)
        assignment.proven = True
    if assignment.hit_id != hit.pk:
        raise WorkRefusedError(
            gettext("The address of this page belongs to another HIT.") + f" {_FROM_QUEUE}"
        )
    if assignment.state == State.QUARANTINED:
        raise WorkRefusedError(
            gettext(
                "What we know of this assignment is contradictory, so its requester is "
                "looking at it. You need "
                "not do anything; write to the requester if you hear nothing."
            )
        )
    return AssignmentUnits(assignment, units_of(assignment))


def note_proof(endpoint: Endpoint) -> None:
    """The marketplace signs arrivals: from now on those that it did not sign are refused."""
    if not endpoint.proves_arrivals:
        Endpoint.objects.filter(pk=endpoint.pk).update(proves_arrivals=True)
        endpoint.proves_arrivals = True


def _refuse_unsigned(endpoint: Endpoint, *, proven: bool, resuming: bool) -> None:
    """Where arrivals are signed, others are made up. Who resumes has a ticket, which is ours."""
    if endpoint.proves_arrivals and not proven and not resuming:
        raise WorkRefusedError(
            gettext("The address of this page is not the one that you were given.") + f" {_FROM_QUEUE}"
        )


def units_of(assignment: Assignment) -> list[str]:
    """The units of an assignment, in its worker's order."""
    units = sorted(assignment.claims.values_list("unit", flat=True))
    stage = assignment.stage
    together = kind_of(stage).together(stage, units) if len(units) > 1 else {}
    return order_for(units, seed=stage.seed, worker=assignment.worker.external_id, together=together)


def _find_assignment(endpoint: Endpoint, external_id: str, worker_id: str) -> Assignment | None:
    return (
        Assignment.objects.select_related("stage__project", "stage__endpoint", "hit", "worker")
        .filter(external_id=external_id, worker__external_id=worker_id, worker__endpoint=endpoint)
        .first()
    )


def _begin(
    hit: Hit, external_id: str, worker_id: str, *, resuming: bool, proven: bool, network: str
) -> Assignment:
    """Check and claim in one transaction that holds the worker: pages opened at once come one by one."""
    try:
        with transaction.atomic():
            worker = _worker(hit, worker_id)
            people = persons.hold_person(worker, hit.stage.project_id)
            assignment = _find_assignment(hit.endpoint, external_id, worker_id)
            if assignment is not None and (assignment.hit_id != hit.pk or assignment.state != State.ENDED):
                return assignment
            if assignment is None and not proven:
                make_room(hit, but=worker)
            return _claim(
                hit,
                external_id,
                worker,
                people,
                assignment,
                proven=proven,
                network=network,
                resuming=resuming,
            )
    except IntegrityError as error:
        raise WorkRefusedError(
            gettext("You have this task open in another HIT.") + f" {RETURN_IT}"
        ) from error


def _worker(hit: Hit, worker_id: str) -> Worker:
    worker, _ = Worker.objects.get_or_create(
        endpoint=hit.endpoint, external_id=worker_id, defaults={"first_seen_at": timezone.now()}
    )
    return worker


def _claim(
    hit: Hit,
    external_id: str,
    worker: Worker,
    people: Sequence[int],
    before: Assignment | None,
    *,
    proven: bool,
    network: str,
    resuming: bool,
) -> Assignment:
    _find_place(hit, resuming=resuming)
    draft = _given_back(hit, worker)
    units = dict(hit.units.order_by("position").values_list("unit", "role"))
    if hit.compensates_id is None:
        _refuse_excluded(hit.stage, people, list(units))
        refuse_apart(hit.stage, people)
        _refuse_too_many(hit.stage, people)
    elif hit.compensates_id != worker.pk:
        raise WorkRefusedError(gettext("This HIT was made for another worker.") + f" {RETURN_IT}")
    claims = Claim.objects.filter(stage=hit.stage, worker__in=people, unit__in=units)
    claimed_pairs = set(claims.values_list("unit", "worker"))
    own_units = {unit for unit, holder in claimed_pairs if holder == worker.pk}
    had = {unit for unit, _ in claimed_pairs}
    if any(role == HitUnit.Role.UNIT and unit in had for unit, role in units.items()):
        raise WorkRefusedError(
            gettext("You have already worked on this; every answer must be from another person.")
            + f" {RETURN_IT}"
        )
    _refuse_conflicts(hit.stage, people, list(units))
    if before is None:
        assignment = Assignment.objects.create(
            stage=hit.stage,
            hit=hit,
            worker=worker,
            external_id=external_id,
            arrived_at=timezone.now(),
            proven=proven,
            arrived_from="" if proven else network,
            draft=draft,
            instructions_version=hit.stage.instructions_version,
        )
    else:
        assignment = before
        assignment.state, assignment.arrived_at = State.WORKING, timezone.now()
        assignment.draft = assignment.draft or draft
        assignment.proven = assignment.proven or proven
        assignment.save(update_fields=["state", "arrived_at", "draft", "proven"])
    Claim.objects.bulk_create(
        Claim(stage=hit.stage, unit=unit, worker=worker, assignment=assignment)
        for unit in units
        if unit not in own_units
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
        if decisions.end_assignment(earlier):
            draft = earlier.draft
    return draft


def _refuse_what_is_over(hit: Hit) -> None:
    if hit.stage.status == Stage.Status.CLOSED or hit.state in (Hit.State.CLOSED, Hit.State.REFUSED):
        raise WorkRefusedError(f"{_OVER} {RETURN_IT}")
    last = hit.expires_at and hit.expires_at + timedelta(seconds=hit.stage.work_seconds)
    if last and last < timezone.now():
        raise WorkRefusedError(f"{_OVER} {RETURN_IT}")


def _refuse_excluded(stage: Stage, people: Sequence[int], units: list[str]) -> None:
    scopes = {f"stage:{stage.pk}"} | kind_of(stage).all_scopes(stage, units)
    excluded = Exclusion.objects.filter(worker__in=people, scope__in=scopes).first()
    if excluded is not None:
        raise WorkRefusedError(
            gettext("You cannot do this HIT, because of other work of yours here: %(reason)s.")
            % {"reason": excluded.reason}
            + f" {RETURN_IT}"
        )


def _refuse_conflicts(stage: Stage, people: Sequence[int], units: list[str]) -> None:
    """Refuse what would bar from work that is open now, or is barred by it, once either is sent."""
    kind = kind_of(stage)
    scopes, marks = kind.all_scopes(stage, units), kind.all_marks(stage, units)
    if not scopes and not marks:
        return
    working = Claim.objects.filter(
        confirmed("assignment__"),
        worker__in=people,
        assignment__state=State.WORKING,
        stage__project=stage.project_id,
    )
    open_elsewhere: dict[int, list[str]] = defaultdict(list)
    for elsewhere, unit in working.exclude(stage=stage).values_list("stage", "unit"):
        open_elsewhere[elsewhere].append(unit)
    for other in Stage.objects.filter(pk__in=open_elsewhere):
        claimed = open_elsewhere[other.pk]
        if scopes & kind_of(other).all_marks(other, claimed) or marks & kind_of(other).all_scopes(
            other, claimed
        ):
            raise WorkRefusedError(
                gettext("You have another HIT open about the same thing, and one person may not do both.")
                + f" {RETURN_IT} "
                + gettext("Then go on with the other one.")
            )


def _refuse_too_many(stage: Stage, people: Sequence[int]) -> None:
    if most_reached(stage, people):
        raise WorkRefusedError(
            ngettext(
                "Everybody can do at most %(most)s of these HITs, and you have. Thank you.",
                "Everybody can do at most %(most)s of these HITs, and you have. Thank you.",
                stage.max_hits_per_worker or 0,
            )
            % {"most": stage.max_hits_per_worker}
            + f" {RETURN_IT}"
        )


def most_reached(stage: Stage, people: Sequence[int]) -> bool:
    """Whether a person, by all workers that they may be, did as many of the stage's HITs as one may."""
    if stage.max_hits_per_worker is None:
        return False
    hit_count = taken_hits(stage).filter(worker__in=people).count()
    return hit_count >= stage.max_hits_per_worker


def taken_hits(stage: Stage) -> "QuerySet[Assignment]":
    """What counts towards the most HITs of a person: not what was given up."""
    still = timezone.now() - timedelta(seconds=stage.work_seconds)
    given_up = Q(state__in=[State.ENDED, State.QUARANTINED]) | Q(state=State.WORKING, arrived_at__lt=still)
    return Assignment.objects.filter(confirmed(), stage=stage).exclude(given_up)


def _find_place(hit: Hit, *, resuming: bool) -> None:
    """Where we deal the work out ourselves, a HIT has as many answers as places; its row is held.

    Who comes back with finished work after their place went to another person gets one more, within the
    budget: the work is done, and nothing that was answered may be lost.
    """
    if not hit.endpoint.deals_work:
        return
    if resuming:  # the order of locks that closing a HIT has
        Stage.objects.select_for_update(no_key=True).get(pk=hit.stage_id)
    row = Hit.objects.select_for_update(no_key=True).get(pk=hit.pk)
    if not resuming and row.expires_at is not None and row.expires_at <= timezone.now():
        raise WorkRefusedError(f"{_OVER} {RETURN_IT}")
    if hit.assignments.filter(has_place()).count() < row.places:
        return
    if resuming and row.state == Hit.State.OPEN:
        with contextlib.suppress(BudgetError):
            cost = budget.unit_cost(hit)
            budget.reserve(hit.stage, cost, MovementPurpose("late answer", hit=hit), at=timezone.now())
            Hit.objects.filter(pk=hit.pk).update(places=row.places + 1)
            return
    raise WorkRefusedError(
        gettext("Others have taken all places of this task meanwhile. Thank you for coming.")
    )
