"""Sending what is planned: claim, commit `sent`, call, commit the result.

Whatever dies between any two of these, the row says what may have happened: where `first_sent_at` is empty,
no call can have done anything; where it is not, one may have, and the operation is repeated with the same
token only while the marketplace remembers it.
"""

import logging
import threading
import uuid
from collections import defaultdict
from collections.abc import Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from django.db import DatabaseError, transaction
from django.db.models import Exists, F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from crowd import bulk
from crowd.adapters import registry
from crowd.adapters.base import (
    CallRefusal,
    CallSuccess,
    CallThrottling,
    EarlierSuccess,
    Marketplace,
    MarketplaceDownError,
    MarketplaceRefusedError,
    Outcome,
    Unknown,
)
from crowd.errors import CrowdError, NotArmedError, StageStateError
from crowd.models import Assignment, DispatchHalt, Endpoint, Hit, MarketOperation, Stage, StageSource
from crowd.outbox import calls, epoch, results
from crowd.services.decisions import book_approvals
from crowd.sources import hits_at, is_closed_at

logger = logging.getLogger(__name__)
Kind, State = MarketOperation.Kind, MarketOperation.State
Pair = tuple[MarketOperation, Outcome[Any]]

# What nearly all answers change, booked for a whole batch: HITs that are on offer now, work that is paid.
# It is what `results.apply` does to one operation, with as many statements for many as for one. What is not
# of this kind is left to that. In the caller's transaction, which holds the stage and the assignments.


def book_in_bulk(stage: Stage | None, pairs: Sequence[Pair]) -> list[Pair]:
    """Book the ordinary ones among a stage's answers; the others are returned."""
    if stage is None or len(pairs) < 2:
        return list(pairs)
    published = _ordinary_publications(stage, pairs)
    paid = _ordinary_approvals(stage, pairs)
    ordinary = {operation.pk: (operation, outcome) for operation, outcome in [*published, *paid]}
    still_open = _still_open(list(ordinary))
    _finish([pair for pk, pair in ordinary.items() if pk in still_open])
    _on_offer([pair for pair in published if pair[0].pk in still_open])
    _pay(stage, [operation for operation, _ in paid if operation.pk in still_open])
    return [pair for pair in pairs if pair[0].pk not in ordinary]


def _reference(outcome: Outcome[Any]) -> str:
    """The marketplace's id of what was done; empty where it was not done, or nobody knows as what."""
    if isinstance(outcome, CallSuccess | EarlierSuccess) and isinstance(outcome.ref, str):
        return outcome.ref
    return ""


def _ordinary_publications(stage: Stage, pairs: Sequence[Pair]) -> list[Pair]:
    """Those of a stage that was not closed meanwhile, whose HIT the marketplace named."""
    publications = [pair for pair in pairs if pair[0].kind == Kind.PUBLISH and _reference(pair[1])]
    if not publications or Stage.objects.filter(pk=stage.pk, status=Stage.Status.CLOSED).exists():
        return []
    if is_closed_at(stage, publications[0][0].endpoint_id):
        return []
    return publications


def _ordinary_approvals(stage: Stage, pairs: Sequence[Pair]) -> list[Pair]:
    """Those of work that was not rejected before: its money is reserved."""
    approvals = [pair for pair in pairs if pair[0].kind == Kind.APPROVE and _reference(pair[1])]
    if not approvals:
        return []
    assignments = [operation.assignment_id for operation, _ in approvals if operation.assignment_id]
    plain = set(
        Assignment.objects.filter(pk__in=assignments, stage=stage)
        .exclude(state=Assignment.State.REJECTED)
        .values_list("pk", flat=True)
    )
    return [pair for pair in approvals if pair[0].assignment_id in plain]


def _still_open(pks: Sequence[Any]) -> set[Any]:
    rows = MarketOperation.objects.filter(pk__in=pks).exclude(state__in=MarketOperation.FINAL)
    return set(rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))


def _finish(pairs: Sequence[Pair]) -> None:
    bulk.update(
        MarketOperation,
        ("result_ref", "request_id"),
        [(operation.pk, _reference(outcome), _request(outcome)) for operation, outcome in pairs],
        {
            "state": State.CONFIRMED,
            "finished_at": timezone.now(),
            "lease_owner": None,
            "lease_until": None,
            "needs_person": False,
            "error_code": "",
            "error_text": "",
        },
    )


def _request(outcome: Outcome[Any]) -> str:
    return str(getattr(outcome, "raw", {}).get("request_id", ""))


def _on_offer(pairs: Sequence[Pair]) -> None:
    now = timezone.now()
    by_hit = {operation.hit_id: (operation, outcome) for operation, outcome in pairs}
    planned = Hit.objects.filter(pk__in=list(filter(None, by_hit)), state=Hit.State.PLANNED)
    rows = []
    for pk in planned.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True):
        operation, outcome = by_hit[pk]
        until = now + timedelta(seconds=operation.payload["open_seconds"])
        rows.append((pk, _reference(outcome), until))
    bulk.update(Hit, ("external_id", "expires_at"), rows, {"state": Hit.State.OPEN, "published_at": now})


def _pay(stage: Stage, operations: Sequence[MarketOperation]) -> None:
    book_approvals(
        stage,
        [operation.assignment_id for operation in operations if operation.assignment_id],
        at=timezone.now(),
    )


#: How long a dispatcher may be silent before its operations are another's.
LEASE = timedelta(minutes=2)
#: The marketplace remembers tokens for 24 hours; nothing is repeated later than this.
REPEAT_WITHIN = timedelta(hours=23)
#: Calls of one dispatcher that are under way at the same time, and as how many of each they are committed.
THREADS = 8
_BATCHES = 8
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 2.0, 300.0
#: Refusals of the account rather than of the call: the same call works once a person has put it right.
_ACCOUNT = frozenset(
    {
        "InsufficientFunds",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "InvalidClientTokenId",
        "AccessDeniedException",
        "ExpiredTokenException",
        "AWS.NotAuthorized",
        "AWS.BadCredentialSupplied",
    }
)
_ACCOUNT_PAUSE_S = 600.0
#: How long an operation that names a group waits until that is made.
_WAIT_FOR_GROUP_S = 1.0


_Answer: TypeAlias = "Outcome[Any] | _NotCalled"
_Answered: TypeAlias = "tuple[MarketOperation, _Answer]"
_UnderWay: TypeAlias = "tuple[MarketOperation, Future[_Answer]]"
_Pair = tuple[MarketOperation, Outcome[Any]]


@dataclass(slots=True)
class Tally:
    """What one run of the dispatcher did, in operations."""

    confirmed: int = 0
    refused: int = 0
    put_off: int = 0

    @property
    def total(self) -> int:
        """All operations that were touched."""
        return self.confirmed + self.refused + self.put_off


def dispatch(endpoint: Endpoint, *, limit: int = 1000, contact: calls.Contact | None = None) -> Tally:
    """Send up to `limit` operations that are due at this endpoint; none while it is halted.

    `contact` learns whether it answers.
    """
    contact = contact or calls.Contact()
    tally = Tally()
    if epoch.obstacle() or epoch.is_halted(endpoint) or not has_unfinished(endpoint):
        return tally
    # Groups first: what is published for them, or kept from them, needs their ids.
    groups = Q(kind=MarketOperation.Kind.GROUP)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="outbox") as pool:
        caller = _Caller(registry.adapter(endpoint), pool, contact)
        for kinds in (groups, ~groups):
            if not caller.stopped.is_set():
                _dispatch(endpoint, kinds, limit, caller, tally)
    return tally


def has_unfinished(endpoint: Endpoint) -> bool:
    """Whether anything may be due or in doubt: most rounds find nothing, and asking what costs far more."""
    going = MarketOperation.objects.filter(endpoint=endpoint, needs_person=False)
    return going.exclude(state__in=MarketOperation.FINAL).exists()


def _dispatch(endpoint: Endpoint, kinds: Q, limit: int, caller: "_Caller", tally: Tally) -> None:
    """Send what is due of these kinds; a batch is booked while the next one's calls are under way."""
    begun = tally.total
    under_way: list[_UnderWay] = []
    while True:
        batch = []
        if not caller.stopped.is_set() and not caller.contact.must_end() and begun < limit:
            batch = _claim(endpoint, kinds, min(_BATCHES * THREADS, limit - begun), caller.classes)
            begun += len(batch)
        ready = _prepare(_allowed(batch, caller.market), caller, tally) if batch else []
        ahead = caller.begin(_announce(ready, caller))
        if under_way:
            _settle([(operation, call.result()) for operation, call in under_way], tally)
        elif not batch:
            break
        under_way = ahead


def due(endpoint: Endpoint, now: datetime, classes: calls.CallClasses) -> Q:
    """Condition of operations that can be claimed: planned and due, or left behind by somebody who died.

    Those that may have been done are repeated only while their token is remembered. A paused stage
    publishes nothing that was not sent before.
    """
    repeatable = (
        Q(first_sent_at=None) | ~Q(kind__in=classes.with_token) | Q(first_sent_at__gt=now - REPEAT_WITHIN)
    )
    paused_here = StageSource.objects.filter(endpoint=endpoint, status=StageSource.Status.PAUSED)
    paused = Hit.objects.filter(
        hits_at(endpoint),
        Q(stage__status=Stage.Status.PAUSED) | Q(stage__in=paused_here.values("stage")),
        state=Hit.State.PLANNED,
        compensates=None,
    )
    return (
        Q(endpoint=endpoint, not_before__lte=now, needs_person=False, result_lost=False)
        & (
            Q(state__in=[State.PLANNED, State.UNKNOWN])
            | Q(state__in=[State.CLAIMED, State.SENT], lease_until__lt=now)
        )
        & repeatable
        & ~Q(kind__in=classes.at_most_once, first_sent_at__isnull=False)
        & ~Q(kind=Kind.PUBLISH, first_sent_at=None, hit__in=paused.values("pk"))
    )


@transaction.atomic
def _claim(endpoint: Endpoint, kinds: Q, count: int, classes: calls.CallClasses) -> list[MarketOperation]:
    now, owner = timezone.now(), uuid.uuid4()
    rows = MarketOperation.objects.filter(due(endpoint, now, classes), kinds)
    rows = rows.exclude(Exists(DispatchHalt.objects.filter(endpoint=endpoint)))
    rows = rows.order_by("not_before", "planned_at", "pk")
    pks = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True)[:count])
    if not pks:
        return []
    MarketOperation.objects.filter(pk__in=pks).update(
        state=State.CLAIMED, lease_owner=owner, lease_until=now + LEASE
    )
    return list(
        MarketOperation.objects.filter(pk__in=pks).select_related(
            "endpoint", "stage__project", "hit", "assignment"
        )
    )


def _allowed(batch: Sequence[MarketOperation], market: Marketplace) -> list[MarketOperation]:
    """Those that may go to this endpoint now; those that must not are refused.

    The rows in memory keep the `first_sent_at` of before: empty where this is the first attempt.
    """
    ready = calls.fill_in_groups(batch)
    early = {operation.pk for operation in batch} - {operation.pk for operation in ready}
    MarketOperation.objects.filter(pk__in=early, state=State.CLAIMED).update(
        state=State.PLANNED,
        not_before=timezone.now() + timedelta(seconds=_WAIT_FOR_GROUP_S),
        lease_owner=None,
        lease_until=None,
    )
    allowed = []
    closed_here = _closed_here(ready)
    for operation in ready:
        try:
            _guard(operation, market, closed_here)
        except CrowdError as error:
            _keep_back(operation, error)
        else:
            allowed.append(operation)
    calls.fill_in_studies(allowed)
    for operation in allowed:
        operation.attempts += 1
    return allowed


def _prepare(allowed: list[MarketOperation], caller: "_Caller", tally: Tally) -> list[MarketOperation]:
    """Where paying a bonus cannot be repeated, set each up first, which pays nothing, and commit its id.

    Those that could not be set up are settled as if they had been called, and nothing was done.
    """
    if not caller.classes.prepares_bonuses:
        return _leave_paid_bonuses(allowed, caller, tally)
    ready = []
    for operation in allowed:
        if operation.kind != Kind.BONUS or operation.payload.get(calls.PREPARED):
            ready.append(operation)
            continue
        outcome = calls.prepare_bonus(caller.market, operation)
        if isinstance(outcome, CallSuccess):
            operation.payload[calls.PREPARED] = outcome.ref
            MarketOperation.objects.filter(pk=operation.pk).update(payload=operation.payload)
            ready.append(operation)
            continue
        # It was claimed and never announced, so no attempt to pay was made.
        MarketOperation.objects.filter(pk=operation.pk, state=State.CLAIMED).update(state=State.SENT)
        if isinstance(outcome, Unknown):
            caller.contact.note_trouble(outcome.text)
            outcome = CallThrottling(_pause(operation.attempts))
        _settle([(operation, outcome)], tally)
    return ready


def _leave_paid_bonuses(
    allowed: list[MarketOperation], caller: "_Caller", tally: Tally
) -> list[MarketOperation]:
    """Before a bonus is sent again to a panel: what its list shows as paid already is not sent.

    The panel lists sums and not bonuses: where that of a submission is more than all its others can come to,
    this one is in it. The token is the second guard; how long a panel keeps tokens is not known.
    """
    left: list[_Pair] = []
    for operation in allowed:
        again = operation.kind == Kind.BONUS and operation.first_sent_at is not None
        if again and operation.endpoint.is_panel:
            submission = operation.payload["submission"].rpartition("/")[2]
            try:
                listed_cents = sum(
                    each.amount.minor for each in caller.market.iter_bonuses(submission=submission)
                )
            except (MarketplaceDownError, MarketplaceRefusedError):
                left.append((operation, CallThrottling(_pause(operation.attempts))))
                continue
            others = MarketOperation.objects.filter(kind=Kind.BONUS, assignment=operation.assignment_id)
            most = (
                others.exclude(pk=operation.pk).exclude(state=State.REFUSED).aggregate(n=Sum("amount_cents"))
            )
            if listed_cents >= (most["n"] or 0) + operation.amount_cents:
                left.append((operation, EarlierSuccess(submission)))
    if not left:
        return allowed
    left_ids = {operation.pk for operation, _ in left}
    MarketOperation.objects.filter(pk__in=left_ids, state=State.CLAIMED).update(state=State.SENT)
    _settle(left, tally)
    return [operation for operation in allowed if operation.pk not in left_ids]


def _announce(allowed: list[MarketOperation], caller: "_Caller") -> list[MarketOperation]:
    """Commit that these are on their way, here and beside the database, before any is called."""
    if not allowed:
        return allowed
    mine = MarketOperation.objects.filter(pk__in=[operation.pk for operation in allowed], state=State.CLAIMED)
    with transaction.atomic():
        mine.filter(lease_owner__in={operation.lease_owner for operation in allowed}).update(
            state=State.SENT,
            attempts=F("attempts") + 1,
            first_sent_at=Coalesce("first_sent_at", timezone.now()),
        )
        number = epoch.advance()
    try:
        epoch.remember(number)
    except (OSError, epoch.RestoredError) as error:
        # What a restore could not be told by must not be done.
        logger.error("Nothing is sent: %s", error)
        caller.stopped.set()
        for operation in allowed:
            _take_back(operation)
        return []
    return allowed


@transaction.atomic
def _keep_back(operation: MarketOperation, error: CrowdError) -> None:
    """Refuse what was never sent; what may have been done already is a person's to judge."""
    if operation.first_sent_at is None:
        results.apply(operation, CallRefusal(type(error).__name__.removesuffix("Error"), str(error)))
    else:
        results.ask_a_person(operation, str(error))


def _guard(operation: MarketOperation, market: Marketplace, closed_here: Set[int]) -> None:
    """Refuse calls that would go elsewhere than planned, spend unconfirmed real money, or come too late.

    `closed_here`: stages whose source at this endpoint is closed.
    """
    stage = operation.stage
    if (
        operation.kind == Kind.PUBLISH
        and operation.first_sent_at is None
        and stage
        and operation.hit
        and (stage.status == Stage.Status.CLOSED or stage.pk in closed_here)
        and operation.hit.compensates_id is None
    ):
        raise StageStateError("The stage or its source was closed before this HIT was published.")
    if operation.kind not in calls.PAID:
        return
    if not _same_place(market.endpoint_url, operation.endpoint_url):
        raise NotArmedError(
            f"The client would call {market.endpoint_url}, but this was planned for {operation.endpoint_url}."
        )
    if (
        operation.endpoint.real_money
        and stage
        and stage.armed_cents < stage.reserved_cents + stage.spent_cents
    ):
        raise NotArmedError("The amount was not typed to confirm that this stage spends real money.")


def _closed_here(operations: Sequence[MarketOperation]) -> set[int]:
    """Stages whose source at the endpoint of these operations is closed."""
    rows = StageSource.objects.filter(
        stage__in={operation.stage_id for operation in operations if operation.kind == Kind.PUBLISH},
        endpoint__in={operation.endpoint_id for operation in operations},
        status=StageSource.Status.CLOSED,
    )
    return set(rows.values_list("stage", flat=True))


def _same_place(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")


@dataclass(frozen=True, slots=True)
class _NotCalled:
    """The account was refused before this call was begun, so it was not."""


class _Caller:
    """Makes calls side by side, until one is refused for the account's sake: the others would be too."""

    def __init__(self, market: Marketplace, pool: ThreadPoolExecutor, contact: calls.Contact) -> None:
        self.market = market
        self.classes = calls.CallClasses.of(market)
        self.contact = contact
        self.stopped = threading.Event()
        self._pool = pool

    def begin(self, operations: Sequence[MarketOperation]) -> list[_UnderWay]:
        """Have these called; their answers come in time."""
        return [(operation, self._pool.submit(self._call, operation)) for operation in operations]

    def _call(self, operation: MarketOperation) -> _Answer:
        if self.stopped.is_set():
            return _NotCalled()
        outcome: Outcome[Any]
        try:
            outcome = calls.CALLS[operation.kind](self.market, operation)
        except Exception as error:  # the border to a far end: whatever is not its word leaves it open
            logger.debug("%s", operation, exc_info=True)
            outcome = Unknown(f"{type(error).__name__}: {error}")
        if isinstance(outcome, Unknown):
            self.contact.note_trouble(outcome.text)
        else:
            self.contact.note_answer()
        if isinstance(outcome, CallRefusal) and outcome.code in _ACCOUNT:
            self.stopped.set()
        return outcome


def _settle(answered: Sequence[_Answered], tally: Tally) -> None:
    """Commit what became of a batch, stage by stage."""
    by_stage: dict[int | None, list[tuple[MarketOperation, Outcome[Any]]]] = defaultdict(list)
    for operation, answer in answered:
        if isinstance(answer, _NotCalled):
            _take_back(operation)
        else:
            by_stage[operation.stage_id].append((operation, answer))
    for pairs in by_stage.values():
        try:
            _settle_together(pairs)
        except (CrowdError, DatabaseError):
            for pair in pairs:
                _settle_alone(pair)
        for _, outcome in pairs:
            _count(outcome, tally)


def _take_back(operation: MarketOperation) -> None:
    """As if it had not been claimed: this attempt never was."""
    first = operation.first_sent_at is None
    MarketOperation.objects.filter(
        pk=operation.pk, state=State.SENT, lease_owner=operation.lease_owner
    ).update(
        state=State.PLANNED if first else State.UNKNOWN,
        first_sent_at=None if first else F("first_sent_at"),
        attempts=F("attempts") - 1,
        lease_owner=None,
        lease_until=None,
    )


@transaction.atomic
def _settle_together(pairs: Sequence[_Pair]) -> None:
    """The answers about one stage, in one transaction."""
    _lock(pairs)
    for operation, outcome in book_in_bulk(pairs[0][0].stage, pairs):
        _settle_one(operation, outcome)


def _lock(pairs: Sequence[_Pair]) -> None:
    """Assignments, then the stage: the order in which everybody takes them, so nobody waits in a ring."""
    assignments = [operation.assignment_id for operation, _ in pairs if operation.assignment_id]
    if assignments:
        rows = Assignment.objects.filter(pk__in=assignments).order_by("pk")
        list(rows.select_for_update(no_key=True).values_list("pk"))
    stage_pks = {operation.stage_id for operation, _ in pairs if operation.stage_id}
    stages = Stage.objects.filter(pk__in=stage_pks)
    list(stages.select_for_update(no_key=True).values_list("pk"))


def _settle_alone(pair: _Pair) -> None:
    """One that cannot be settled holds up nobody else."""
    try:
        _settle_together([pair])
    except (CrowdError, DatabaseError) as error:
        logger.exception("The result of %s could not be booked", pair[0])
        results.ask_a_person(pair[0], f"The marketplace answered, but it could not be booked: {error}")


def _settle_one(operation: MarketOperation, outcome: Outcome[Any]) -> None:
    """Commit what became of one operation."""
    first = operation.first_sent_at is None
    match outcome:
        case CallThrottling(after=after):
            put_off(operation, after, "", nothing_done=first)
        case Unknown(text=text):
            put_off(operation, _pause(operation.attempts), text, nothing_done=False)
        case CallRefusal(code=code, text=text) if code in _ACCOUNT:
            put_off(operation, _ACCOUNT_PAUSE_S, f"{code}: {text}", nothing_done=first)
            results.account_refused(operation, code, text)
        case CallRefusal() if (
            not first and operation.kind in calls.WITH_TOKEN and not operation.payload.get(calls.PREPARED)
        ):
            results.look_it_up(operation, outcome)
        case _:
            results.apply(operation, outcome)


def _count(outcome: Outcome[Any], tally: Tally) -> None:
    match outcome:
        case CallThrottling() | Unknown():
            tally.put_off += 1
        case CallRefusal(code=code):
            tally.put_off += code in _ACCOUNT
            tally.refused += code not in _ACCOUNT
        case _:
            tally.confirmed += 1


def put_off(operation: MarketOperation, seconds: float, text: str, *, nothing_done: bool) -> None:
    """Try an operation again later; `nothing_done` where no attempt so far can have had an effect."""
    mine = MarketOperation.objects.filter(
        pk=operation.pk, state=State.SENT, lease_owner=operation.lease_owner
    )
    mine.update(
        state=State.PLANNED if nothing_done else State.UNKNOWN,
        first_sent_at=None if nothing_done else F("first_sent_at"),
        not_before=timezone.now() + timedelta(seconds=seconds),
        lease_owner=None,
        lease_until=None,
        error_text=text[:2000],
    )


def _pause(attempts: int) -> float:
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(attempts - 1, 10))
