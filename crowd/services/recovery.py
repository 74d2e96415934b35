"""After a restore: comparing everything at a marketplace with what the restored database knows.

What was done after the backup is taken over: HITs by our annotation, work by the marketplace's lists and
the copies of answers that it carries, bonuses by the reference in their reasons. Operations that the backup
holds for planned are looked up before they are ever sent; those that it holds for unfinished are settled
last, once HITs, work and bonuses were compared. Each thing found is booked in a transaction of its own and
found booked the next time, so a run that was killed is repeated from its beginning.
"""

import hashlib
import logging
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.errors import logged_failure
from core.money import bonus_fee, format_amount
from core.projects.services import record
from crowd import budget
from crowd.adapters import registry
from crowd.adapters.base import BonusPaid, EarlierSuccess, Listing, Marketplace
from crowd.budget import Cost, MovementPurpose
from crowd.errors import BudgetError, CrowdError
from crowd.kinds import kind_of
from crowd.models import Assignment, DispatchHalt, Endpoint, Hit, HitUnit, MarketOperation, Stage, Worker
from crowd.outbox import results
from crowd.outbox.calls import bonus_reference, found_purpose
from crowd.services import rollback
from crowd.services.collection import collect_hit
from crowd.services.publication import next_ordinal
from crowd.services.rollback import created_at, note_comparison, publication_token
from crowd.sources import has_source, hits_at, source_for_hit, stage_at

_LOOK_AT_MESSAGE = (
    "Planned before a restore, and messages are not listed: its readers may have it already. Say that it "
    "happened, or that it did not and write it again."
)
_LOOK_AT_DEADLINE = (
    "Planned before a restore, and the HIT has expired at the marketplace. Say that it happened if it "
    "should stay so, or that it did not and give it more time again."
)


def unfinished(endpoint: Endpoint, *kinds: MarketOperation.Kind) -> QuerySet[MarketOperation]:
    """Operations of these kinds that were planned and not finished."""
    return (
        MarketOperation.objects.select_related("stage__project", "hit", "assignment", "endpoint")
        .filter(endpoint=endpoint, kind__in=kinds)
        .exclude(state__in=MarketOperation.FINAL)
        .order_by("planned_at", "pk")
    )


def compare_operations(endpoint: Endpoint) -> None:
    """What is left: decisions that were made, messages that nobody lists, and ends that were set."""
    for operation in unfinished(endpoint, Kind.APPROVE, Kind.REJECT, Kind.UNREJECT).iterator(500):
        _conclude_decision(operation)
    for operation in unfinished(endpoint, Kind.MESSAGE).iterator(500):
        results.ask_a_person(operation, _LOOK_AT_MESSAGE)
    now = timezone.now()
    for operation in unfinished(endpoint, Kind.DEADLINE).filter(hit__expires_at__lte=now).iterator(500):
        results.ask_a_person(operation, _LOOK_AT_DEADLINE)


@transaction.atomic
def _conclude_decision(operation: MarketOperation) -> None:
    """A decision that the marketplace has already, or that another one overtook after the backup."""
    assert operation.assignment is not None
    state = Assignment.objects.values_list("state", flat=True).get(pk=operation.assignment.pk)
    if state not in (Assignment.State.APPROVED, Assignment.State.REJECTED):
        return
    decided_state = Assignment.State.REJECTED if operation.kind == Kind.REJECT else Assignment.State.APPROVED
    if state == decided_state:
        results.apply(operation, EarlierSuccess(operation.assignment.external_id))
    elif operation.kind != Kind.UNREJECT:
        results.overtake(operation, f"The work was {state} at the marketplace before.")


logger = logging.getLogger(__name__)
Kind, State = MarketOperation.Kind, MarketOperation.State
Status = Stage.Status
_PAGE = 100
_REFERENCE = re.compile(r"\[ref ([0-9a-f]{8})\]$")
_LOOK_AT_PLACES = (
    "Planned before a restore, and the HIT has another number of places than before or after it. Look at the "
    "marketplace, then say here whether it happened."
)


@dataclass(slots=True)
class Recovery:
    """What was found at a marketplace that the restored database did not know."""

    hits: int = 0
    places: int = 0
    assignments: int = 0
    bonuses: int = 0
    decisions: int = 0
    puzzles: list[str] = field(default_factory=list)


Progress = Callable[[str, int], None]


def recover(endpoint: Endpoint, *, progress: Progress = lambda what, number: None) -> Recovery:
    """Compare everything at this marketplace with what we know, then let dispatching go on there.

    Raises CrowdError, in words, where something cannot be booked, and MarketplaceDownError where the
    marketplace does not answer; the endpoint stays halted then, and another run goes on.
    """
    recovery = Recovery()
    market = registry.adapter(endpoint)
    _compare_listings(endpoint, market, recovery, progress)
    _compare_work(endpoint, market, recovery, progress)
    compare_operations(endpoint)
    _let_go_on(endpoint, recovery)
    return recovery


def _let_go_on(endpoint: Endpoint, recovery: Recovery) -> None:
    with transaction.atomic():
        if not DispatchHalt.objects.filter(endpoint=endpoint).delete()[0]:
            return
        stages = Stage.objects.filter(has_source(endpoint)).select_related("project").order_by("project")
        for project in {stage.project_id: stage.project for stage in stages}.values():
            record(
                project=project,
                action="endpoint.recovered",
                subject=endpoint.name,
                details={
                    "hits": recovery.hits,
                    "places": recovery.places,
                    "assignments": recovery.assignments,
                    "bonuses": recovery.bonuses,
                    "decisions": recovery.decisions,
                    "puzzles": recovery.puzzles[:20],
                },
            )


# HITs


def _compare_listings(
    endpoint: Endpoint, market: Marketplace, recovery: Recovery, progress: Progress
) -> None:
    """Every HIT of ours on the marketplace's list: published here too, with as many places."""
    seen, newest = 0, None
    for page in _pages(listing for listing in market.iter_listings() if publication_token(listing)):
        publications = (
            MarketOperation.objects.select_related("stage__project", "hit", "endpoint", "assignment")
            .filter(endpoint=endpoint, kind=Kind.PUBLISH)
            .in_bulk([publication_token(listing) for listing in page])
        )
        for listing in page:
            token = publication_token(listing)
            assert token is not None
            operation = publications.get(token)
            if operation is None:
                _adopt_unknown(endpoint, token, listing, recovery)
            elif operation.state == State.REFUSED:
                recovery.puzzles.append(
                    f"HIT {listing.ref} is at the marketplace, but its publication counts as refused here. "
                    "Expire it there, and pay who worked on it."
                )
            else:
                _adopt_publication(operation, listing, recovery)
            newest = max(newest or created_at(listing), created_at(listing))
        seen += len(page)
        progress("HITs compared", seen)
    if newest is not None:
        note_comparison(endpoint, newest)


def _pages(listings: Iterable[Listing]) -> Iterator[list[Listing]]:
    ahead = iter(listings)
    while page := list(islice(ahead, _PAGE)):
        yield page


@transaction.atomic
def _adopt_publication(operation: MarketOperation, listing: Listing, recovery: Recovery) -> None:
    """The HIT of an operation that we know is there: it is published, with the places that it has."""
    assert operation.hit is not None and operation.stage is not None
    Stage.objects.select_for_update(no_key=True).get(pk=operation.stage.pk)
    if operation.state not in MarketOperation.FINAL and results.apply(operation, EarlierSuccess(listing.ref)):
        recovery.hits += 1
        Hit.objects.filter(pk=operation.hit.pk).update(
            published_at=created_at(listing), expires_at=listing.expires_at
        )
        _look_again_from(operation.hit)
    _adopt_places(operation, listing, recovery)


def _look_again_from(hit: Hit) -> None:
    """An earlier run may have passed this HIT before the marketplace listed it."""
    DispatchHalt.objects.filter(endpoint=hit.endpoint, looked_up_to__gte=hit.pk).update(
        looked_up_to=hit.pk - 1
    )


def _adopt_places(operation: MarketOperation, listing: Listing, recovery: Recovery) -> None:
    """More places than we know of: extensions that are planned here still, or that we know nothing of."""
    assert operation.hit is not None and operation.stage is not None
    hit = Hit.objects.select_for_update(no_key=True).get(pk=operation.hit.pk)
    more = listing.places - hit.places
    planned = list(unfinished(operation.endpoint, Kind.EXTEND).filter(hit=hit))
    if more and more == sum(each.payload["places"] for each in planned):
        for each in planned:
            recovery.places += (
                each.payload["places"] if results.apply(each, EarlierSuccess(listing.ref)) else 0
            )
    elif more and planned:
        for each in planned:
            results.ask_a_person(each, _LOOK_AT_PLACES)
    elif more > 0:
        cost = budget.unit_cost(hit) * more
        extension = _create_operation(
            operation.endpoint,
            operation.stage,
            Kind.EXTEND,
            f"hit:{hit.pk}",
            purpose=f"found: {listing.places} places",
            cost=cost,
            hit=hit,
            payload={"ref": listing.ref, "places": more},
        )
        _reserve(operation.stage, cost, MovementPurpose("extend", operation=extension, hit=hit), listing.ref)
        Hit.objects.filter(pk=hit.pk).update(places=listing.places)
        recovery.places += more


def _adopt_unknown(endpoint: Endpoint, token: uuid.UUID, listing: Listing, recovery: Recovery) -> None:
    """A HIT that was planned and published after the backup."""
    question = str(listing.raw.get("Question", ""))
    memo = rollback.read_memo(question)
    stage = _stage_of(endpoint, listing, memo, question)
    if stage is None:
        if memo is not None or f"{settings.TASK_URL}/" in question:
            recovery.puzzles.append(
                f"HIT {listing.ref} ({listing.raw.get('Title', 'no title')!s}) was published after the "
                "backup for a stage that it does not have. Expire it at the marketplace, and pay who "
                "worked on it."
            )
        return
    with transaction.atomic():
        Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
        if MarketOperation.objects.filter(pk=token).exists():
            return
        hit = _new_hit(endpoint, stage, listing, memo, question)
        cost = budget.unit_cost(hit) * hit.places
        operation = _create_operation(
            endpoint,
            stage,
            Kind.PUBLISH,
            f"hit:{hit.pk}",
            purpose="publish",
            cost=cost,
            hit=hit,
            pk=token,
            payload={"places": hit.places, "found": True},
        )
        _reserve(stage, cost, MovementPurpose("publish", operation=operation, hit=hit), listing.ref)
        if not _take_units(stage, hit, memo):
            _pause(stage, listing)
            recovery.puzzles.append(
                f"HIT {listing.ref} does not say what it asks. Its work is kept in quarantine, to be paid by "
                f"hand, and {stage.slug} is paused: opened again, it asks for what it misses."
            )
        _begin(stage, listing)
        recovery.hits += 1


def _begin(stage: Stage, listing: Listing) -> None:
    """A stage that was opened after the backup is no draft; a person opens it again."""
    begun = {"status": Status.PAUSED, "opened_at": created_at(listing)}
    if Stage.objects.filter(pk=stage.pk, status=Status.DRAFT).update(**begun):
        record(
            project=stage.project,
            action="stage.paused",
            subject=stage.slug,
            details={"why": "It was opened after the backup that the database was restored from."},
        )


def _stage_of(
    endpoint: Endpoint, listing: Listing, memo: rollback.Memo | None, question: str
) -> Stage | None:
    """The stage that published a HIT: by its memo, or the only one whose listings look like it."""
    stages = Stage.objects.filter(has_source(endpoint)).select_related("project", "endpoint")
    if memo is not None:
        return stages.filter(project__slug=memo.project, slug=memo.stage).first()
    if f"{settings.TASK_URL}/" not in question:
        return None
    alike = stages.exclude(status=Status.DRAFT).filter(
        task_title=listing.raw.get("Title", ""), reward_cents=listing.reward.minor
    )
    return alike[0] if len(alike[:2]) == 1 else None


def _new_hit(
    endpoint: Endpoint, stage: Stage, listing: Listing, memo: rollback.Memo | None, question: str
) -> Hit:
    worker = None
    if memo and memo.compensates:
        worker, _ = Worker.objects.get_or_create(
            endpoint=endpoint, external_id=memo.compensates, defaults={"first_seen_at": timezone.now()}
        )
    return Hit.objects.create(
        stage=stage,
        source=source_for_hit(stage_at(stage, endpoint)),
        key=memo.key if memo else _key_in(question),
        ordinal=next_ordinal(stage),
        places=listing.places,
        reward_cents=listing.reward.minor,
        fee_cents=memo.fee_cents if memo else 0,
        external_id=listing.ref,
        state=Hit.State.OPEN,
        wave=memo.wave if memo else 0,
        part=memo.part if memo else None,
        part_count=memo.part_count if memo else 1,
        compensates=worker,
        published_at=created_at(listing),
        expires_at=listing.expires_at,
    )


def _key_in(question: str) -> uuid.UUID:
    named = re.search(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", question)
    return uuid.UUID(named[0]) if named else uuid.uuid4()


def _take_units(stage: Stage, hit: Hit, memo: rollback.Memo | None) -> bool:
    """Give an adopted HIT its units; False where nobody can tell which they are, or they are not here."""
    if memo is None:
        return False
    # A kind may fail in any way over a unit that came after the backup.
    with logged_failure(logger, "The units of HIT %s", hit.external_id), transaction.atomic():
        kind_of(stage).freeze(stage, sorted({unit for unit, _ in memo.units}))
        HitUnit.objects.bulk_create(
            HitUnit(hit=hit, unit=unit, role=role, position=position)
            for position, (unit, role) in enumerate(memo.units)
        )
        return True
    return False


def _pause(stage: Stage, listing: Listing) -> None:
    if Stage.objects.filter(pk=stage.pk, status=Status.OPEN).update(status=Status.PAUSED):
        record(
            project=stage.project,
            action="stage.paused",
            subject=stage.slug,
            details={
                "why": f"HIT {listing.ref} was published after the backup and does not say what it asks."
            },
        )


# Work and bonuses


def _compare_work(endpoint: Endpoint, market: Marketplace, recovery: Recovery, progress: Progress) -> None:
    """The submissions and bonuses of every HIT, in the order of their keys; a run that ended goes on there.

    HITs that were adopted by this run or an earlier one have later keys, so none is left out.
    """
    done = 0
    halt = DispatchHalt.objects.filter(endpoint=endpoint).first()
    last = halt.looked_up_to if halt else 0
    while page := list(_published(endpoint).filter(pk__gt=last)[:_PAGE]):
        for hit in page:
            stage = stage_at(hit.stage, endpoint)
            before = _states(hit)
            collect_hit(market, stage, hit)
            after = _states(hit)
            recovery.assignments += len(after.keys() - before.keys())
            recovery.decisions += sum(after[key] != state for key, state in before.items())
            if any(submitted for _, submitted in after.values()):
                _compare_bonuses(endpoint, hit, market.iter_bonuses(listing=hit.external_id), recovery)
            done += 1
        last = page[-1].pk
        DispatchHalt.objects.filter(endpoint=endpoint).update(looked_up_to=last)
        progress("HITs with their work and bonuses", done)


def _published(endpoint: Endpoint) -> QuerySet[Hit]:
    return (
        Hit.objects.filter(hits_at(endpoint))
        .exclude(external_id="")
        .select_related("stage__project", "stage__endpoint", "source__endpoint")
        .order_by("pk")
    )


def _states(hit: Hit) -> dict[int, tuple[str, bool]]:
    rows = Assignment.objects.filter(hit=hit).values_list("pk", "state", "submitted_at")
    return {pk: (state, submitted is not None) for pk, state, submitted in rows}


def _compare_bonuses(endpoint: Endpoint, hit: Hit, bonuses: Iterable[BonusPaid], recovery: Recovery) -> None:
    """Bonuses with our reference: paid by an operation that we know, or taken over as one."""
    ours: dict[tuple[str, str], MarketOperation] = {}
    for bonus_operation in MarketOperation.objects.select_related(
        "stage__project", "endpoint", "assignment__worker", "hit"
    ).filter(kind=Kind.BONUS, assignment__hit=hit):
        ours[bonus_operation.payload["submission"], bonus_reference(bonus_operation)] = bonus_operation
    for paid in bonuses:
        named = _REFERENCE.search(paid.reason)
        if named is None:
            continue
        operation = ours.get((paid.submission, named[0]))
        if operation is None:
            _adopt_bonus(endpoint, hit, paid, named[1], recovery)
        elif operation.state == State.REFUSED:
            recovery.puzzles.append(f"A bonus for {paid.submission} was paid, but counts as refused here.")
        elif operation.state not in MarketOperation.FINAL:
            with transaction.atomic():
                recovery.bonuses += results.apply(operation, EarlierSuccess(paid.submission))


@transaction.atomic
def _adopt_bonus(endpoint: Endpoint, hit: Hit, paid: BonusPaid, reference: str, recovery: Recovery) -> None:
    """A bonus that was asked for and paid after the backup; asked for again, it is this one."""
    assignment = (
        Assignment.objects.select_related("stage__project", "worker")
        .filter(external_id=paid.submission, worker__external_id=paid.worker, hit=hit)
        .first()
    )
    if assignment is None:
        bonus = format_amount(paid.amount.minor, paid.amount.currency)
        recovery.puzzles.append(f"A bonus of {bonus} for {paid.submission}: no such work.")
        return
    stage = Stage.objects.select_for_update(no_key=True).select_related("project").get(pk=assignment.stage_id)
    digest = hashlib.sha256(f"{endpoint.pk} {paid.submission} {reference}".encode()).hexdigest()
    cost = Cost(paid.amount.minor, bonus_fee(endpoint.fee_profile, bonus_cents=paid.amount.minor))
    operation = _create_operation(
        endpoint,
        stage,
        Kind.BONUS,
        f"assignment:{assignment.pk}",
        purpose=found_purpose(reference),
        cost=cost,
        assignment=assignment,
        pk=uuid.UUID(hex=reference + digest[:24]),
        payload={
            "submission": paid.submission,
            "worker": paid.worker,
            "reason": _REFERENCE.sub("", paid.reason).strip(),
            "currency": paid.amount.currency,
        },
    )
    _reserve(
        stage, cost, MovementPurpose("bonus", operation=operation, assignment=assignment), paid.submission
    )
    budget.spend(stage, cost, MovementPurpose("bonus", operation=operation), at=paid.paid_at)
    recovery.bonuses += 1


def _create_operation(
    endpoint: Endpoint,
    stage: Stage,
    kind: MarketOperation.Kind,
    target: str,
    *,
    purpose: str,
    cost: Cost,
    payload: dict[str, Any],
    hit: Hit | None = None,
    assignment: Assignment | None = None,
    pk: uuid.UUID | None = None,
) -> MarketOperation:
    """An operation that was planned and done after the backup, as a confirmed row."""
    now = timezone.now()
    return MarketOperation.objects.create(
        pk=pk or uuid.uuid4(),
        endpoint=endpoint,
        endpoint_url=endpoint.url,
        stage=stage,
        hit=hit,
        assignment=assignment,
        kind=kind,
        target=target,
        purpose=purpose,
        payload=payload,
        amount_cents=cost.cents,
        fee_cents=cost.fee_cents,
        state=State.CONFIRMED,
        planned_at=now,
        not_before=now,
        first_sent_at=now,
        finished_at=now,
        result_ref=hit.external_id if hit else "",
    )


def _reserve(stage: Stage, cost: Cost, what: MovementPurpose, ref: str) -> None:
    """Set aside what the marketplace has set aside or paid already; it cannot be done without a budget."""
    try:
        budget.reserve(stage, cost, what, at=timezone.now())
    except BudgetError as error:
        raise CrowdError(
            f"{ref} of stage {stage.slug} ({stage.project.slug}) was paid or put on offer after the backup, "
            f"and the budget in the backup is too small for it. {error} Then run this again."
        ) from error
