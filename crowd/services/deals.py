"""Work is dealt out on arrival: where people come by a link or from a panel, and not by accepting a HIT."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse
from django.utils import timezone

from crowd.adapters.link import ARRIVAL, TAKEN, sign_arrival
from crowd.errors import WorkRefusedError
from crowd.models import (
    Assignment,
    Claim,
    Endpoint,
    Exclusion,
    Group,
    Hit,
    HitUnit,
    MarketOperation,
    Stage,
    Worker,
)
from crowd.services import persons
from crowd.services.arrivals import arrive, most_reached
from crowd.services.groups import PASSED, joined_name
from crowd.services.stage_exclusions import refuse_apart
from crowd.sources import hits_of

State = Assignment.State
#: HITs that are tried for one person before they are told that nothing is left for them.
_TRIES = 40


class NoWork(StrEnum):
    """Why a person gets nothing now."""

    CLOSED = "closed"
    NOTHING_LEFT = "nothing_left"
    EXCLUDED = "excluded"
    LIMIT = "limit"


class NoWorkError(WorkRefusedError):
    """Nothing of this stage for this person now; `reason` says which kind of no it is."""

    def __init__(self, reason: NoWork, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a person was given, and the address of its page, ready to open in their browser."""

    assignment_pk: int
    task_address: str


def deal(
    stage: Stage, *, worker_id: str, submit_to: str, session: str = "", simulated: bool = False
) -> Dealt:
    """Give a person a HIT of the stage: the one they have open, or else the oldest that has a place for them.

    `stage` may be the stage as one of its sources meets it. `worker_id` names the person at its endpoint.
    `session` names this piece of work there; it is made up where it is empty. The page sends the browser to
    `submit_to` by GET when the work is stored; it must be an address of one of the endpoint's submit origins.
    Where the session's work is answered already, the page says so and leads to `submit_to` as well.

    Raises NoWorkError with a sentence for the person and the reason.
    """
    known = _begun(stage, worker_id, session)
    if known is not None:
        return _dealt(known, submit_to)
    if stage.status != Stage.Status.OPEN:
        raise NoWorkError(NoWork.CLOSED, "This study takes no answers at the moment. Thank you for coming.")
    worker, _ = Worker.objects.get_or_create(
        endpoint=stage.endpoint,
        external_id=worker_id,
        defaults={"first_seen_at": timezone.now(), "simulated": simulated},
    )
    persons.find_matches(worker, stage.project)
    people = persons.same_person(worker, stage.project_id)
    _refuse_stage(stage, worker, people)
    refused: WorkRefusedError | None = None
    for hit in _with_a_place(stage, people):
        try:
            units = arrive(
                hit=hit, external_id=session or uuid.uuid4().hex, worker_id=worker_id, is_compared=True
            )
        except WorkRefusedError as error:
            refused = refused or error
            continue
        return _dealt(units.assignment, submit_to)
    if refused is not None and not _has_a_place(stage):
        refused = None
    raise NoWorkError(
        NoWork.EXCLUDED if refused else NoWork.NOTHING_LEFT,
        "You have done everything here that you can do. Thank you."
        if refused
        else "All places are taken at the moment. Thank you for coming.",
    )


def count_finished(stage: Stage, *, worker_id: str) -> int:
    """How many HITs of the stage this person has answered."""
    return Assignment.objects.filter(
        stage=stage, worker__external_id=worker_id, stored_at__isnull=False
    ).count()


def _begun(stage: Stage, worker_id: str, session: str) -> Assignment | None:
    """What the person has open, or what this session is about."""
    mine = Assignment.objects.filter(
        stage=stage, worker__external_id=worker_id, worker__endpoint=stage.endpoint_id
    ).select_related("hit", "worker")
    if session:
        return mine.filter(external_id=session).exclude(state=State.ENDED).first()
    return mine.filter(state=State.WORKING).order_by("-pk").first()


def _dealt(assignment: Assignment, submit_to: str) -> Dealt:
    hit = assignment.hit
    signed = sign_arrival(
        listing=hit.external_id,
        submission=assignment.external_id,
        worker=assignment.worker.external_id,
        submit_to=submit_to,
    )
    address = f"{settings.TASK_URL}{reverse('crowd:task', args=[hit.key])}?{ARRIVAL}={signed}"
    return Dealt(assignment.pk, address)


def _refuse_stage(stage: Stage, worker: Worker, people: Sequence[int]) -> None:
    """Refuse whom the whole stage does not take, before any HIT is tried."""
    if Exclusion.objects.filter(worker__in=people, scope=f"stage:{stage.pk}").exists():
        raise NoWorkError(NoWork.EXCLUDED, "This study does not take people who did its other parts.")
    try:
        refuse_apart(stage, people)
    except WorkRefusedError as error:
        raise NoWorkError(
            NoWork.EXCLUDED, "You worked on another part of this study, and one person may not do both."
        ) from error
    if not _is_in_groups(stage, worker):
        raise NoWorkError(NoWork.EXCLUDED, "This part is for people who passed a test of this study.")
    if most_reached(stage, people):
        raise NoWorkError(NoWork.LIMIT, "You have done as many of these tasks as one person can. Thank you.")


def _is_in_groups(stage: Stage, worker: Worker) -> bool:
    """Whether the person has what the stage's rules ask for; only rules about our own groups can be kept."""
    for rule in stage.eligibility:
        if rule["kind"] == "group" and stage.endpoint.protocol == Endpoint.Protocol.LINK:
            if _has_joined(stage, worker, str(rule["values"][0])) != (rule["op"] == "Exists"):
                return False
            continue
        if rule["kind"] != PASSED:
            continue
        tests = Stage.objects.filter(project=stage.project_id, slug=rule["values"][0])
        groups = Group.objects.filter(
            endpoint=stage.endpoint_id, stage__in=tests, name__contains=": passed (#"
        )
        granted = MarketOperation.objects.filter(
            kind=MarketOperation.Kind.GRANT,
            target__in=[f"group:{pk}" for pk in groups.values_list("pk", flat=True)],
            purpose=f"grant {worker.external_id}",
        )
        if not granted.exclude(state=MarketOperation.State.REFUSED).exists():
            return False
    return True


def _has_joined(stage: Stage, worker: Worker, name: str) -> bool:
    """Whether the person joined by a link of the project that grants this name."""
    groups = Group.objects.filter(endpoint=stage.endpoint_id, name=joined_name(stage.project, name))
    targets = [f"group:{pk}" for pk in groups.values_list("pk", flat=True)]
    granted = MarketOperation.objects.filter(
        kind=MarketOperation.Kind.GRANT, target__in=targets, purpose=f"grant {worker.external_id}"
    )
    return granted.exclude(state=MarketOperation.State.REFUSED).exists()


def _on_offer(stage: Stage) -> Q:
    return hits_of(stage) & Q(state=Hit.State.OPEN, expires_at__gt=timezone.now(), compensates=None)


def _has_a_place(stage: Stage) -> bool:
    return Hit.objects.filter(_on_offer(stage)).annotate(taken=TAKEN).filter(taken__lt=F("places")).exists()


def _with_a_place(stage: Stage, people: Sequence[int]) -> Iterator[Hit]:
    """HITs on offer with a free place, of which the person has no unit, the oldest first."""
    mine = Claim.objects.filter(stage=stage, worker__in=people)
    known = HitUnit.objects.filter(hit=OuterRef("pk"), role=HitUnit.Role.UNIT, unit__in=mine.values("unit"))
    rows = Hit.objects.filter(_on_offer(stage)).annotate(taken=TAKEN)
    found = rows.filter(taken__lt=F("places")).exclude(Exists(known)).order_by("pk")
    whole = Hit.objects.select_related("stage__project", "stage__endpoint", "source__endpoint")
    # Nearly always the first one is taken: the others are not read.
    for key in list(found.values_list("pk", flat=True)[:_TRIES]):
        yield whole.get(pk=key)
