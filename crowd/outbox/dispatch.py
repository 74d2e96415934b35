"""Sending what is planned: claim, commit `sent`, call, commit the result.

Whatever dies between any two of these, the row says what may have happened: a claimed operation was not
sent; a sent one may have been done, and is repeated with the same token while the marketplace remembers it.
"""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.base import Marketplace, Outcome, Refused, Throttled, Unknown
from crowd.errors import NotArmedError
from crowd.models import Endpoint, MarketOperation
from crowd.outbox import results
from crowd.outbox.calls import CALLS, PAID, WITH_TOKEN

State = MarketOperation.State
#: How long a dispatcher may be silent before its operations are another's.
LEASE = timedelta(minutes=2)
#: The marketplace remembers tokens for 24 hours; nothing is repeated later than this.
REPEAT_WITHIN = timedelta(hours=23)
#: Calls of one dispatcher that are under way at the same time, and operations committed together.
THREADS = 8
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 2.0, 300.0


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


def dispatch(endpoint: Endpoint, *, limit: int = 1000) -> Tally:
    """Send up to `limit` operations that are due at this endpoint."""
    tally = Tally()
    market = registry.adapter(endpoint)
    with ThreadPoolExecutor(THREADS, thread_name_prefix="outbox") as pool:
        while tally.total < limit:
            batch = _claim(endpoint, min(4 * THREADS, limit - tally.total))
            if not batch:
                break
            sent = _send(batch, market)
            outcomes = list(pool.map(lambda operation: _call(market, operation), sent))
            if _settle(sent, outcomes, tally):
                break
    return tally


def due(endpoint: Endpoint, now: datetime) -> Q:
    """Condition of operations that can be claimed: planned and due, or left behind by somebody who died.

    Those that may have been done are repeated only while their token is remembered.
    """
    repeatable = ~Q(kind__in=WITH_TOKEN) | Q(first_sent_at__gt=now - REPEAT_WITHIN)
    left_behind = Q(state=State.CLAIMED) | (Q(state=State.SENT) & repeatable)
    return Q(endpoint=endpoint, not_before__lte=now, needs_person=False, result_lost=False) & (
        Q(state=State.PLANNED)
        | (Q(state=State.UNKNOWN) & repeatable)
        | (left_behind & Q(lease_until__lt=now))
    )


@transaction.atomic
def _claim(endpoint: Endpoint, count: int) -> list[MarketOperation]:
    now, owner = timezone.now(), uuid.uuid4()
    rows = MarketOperation.objects.filter(due(endpoint, now)).order_by("not_before", "planned_at")
    pks = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True)[:count])
    MarketOperation.objects.filter(pk__in=pks).update(
        state=State.CLAIMED, lease_owner=owner, lease_until=now + LEASE
    )
    return list(
        MarketOperation.objects.filter(pk__in=pks).select_related(
            "endpoint", "stage__project", "hit", "assignment"
        )
    )


def _send(batch: Sequence[MarketOperation], market: Marketplace) -> list[MarketOperation]:
    """Commit that these are on their way; those that must not go to this endpoint are refused instead."""
    now = timezone.now()
    allowed = []
    for operation in batch:
        try:
            _guard(operation, market)
        except NotArmedError as error:
            with transaction.atomic():
                results.apply(operation, Refused("NotArmed", str(error)))
        else:
            allowed.append(operation)
    MarketOperation.objects.filter(pk__in=[operation.pk for operation in allowed]).update(
        state=State.SENT, attempts=F("attempts") + 1
    )
    MarketOperation.objects.filter(pk__in=[operation.pk for operation in allowed], first_sent_at=None).update(
        first_sent_at=now
    )
    for operation in allowed:
        operation.state = State.SENT
        operation.attempts += 1
        operation.first_sent_at = operation.first_sent_at or now
    return allowed


def _guard(operation: MarketOperation, market: Marketplace) -> None:
    """Refuse paid calls that would go elsewhere than planned, or spend real money nobody confirmed."""
    if operation.kind not in PAID:
        return
    if not _same_place(market.endpoint_url, operation.endpoint_url):
        raise NotArmedError(
            f"The client would call {market.endpoint_url}, but this was planned for {operation.endpoint_url}."
        )
    stage = operation.stage
    if operation.endpoint.real_money and stage and stage.armed_cents < stage.budget_cents:
        raise NotArmedError("Nobody has typed the amount to confirm that this stage spends real money.")


def _same_place(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")


def _call(market: Marketplace, operation: MarketOperation) -> Outcome[Any]:
    try:
        return CALLS[operation.kind](market, operation)
    except Exception as error:
        return Unknown(f"{type(error).__name__}: {error}")


@transaction.atomic
def _settle(operations: Sequence[MarketOperation], outcomes: Sequence[Outcome[Any]], tally: Tally) -> bool:
    """Commit what became of a batch; True where the dispatcher should stop: no money, or too many calls."""
    stop = False
    for operation, outcome in zip(operations, outcomes, strict=True):
        match outcome:
            case Throttled(after=after):
                put_off(operation, State.PLANNED if operation.attempts == 1 else State.UNKNOWN, after, "")
                tally.put_off += 1
            case Unknown(text=text):
                put_off(operation, State.UNKNOWN, _pause(operation.attempts), text)
                tally.put_off += 1
            case Refused(code="InsufficientFunds", text=text):
                put_off(operation, State.PLANNED, 3600.0, text)
                results.out_of_funds(operation, text)
                tally.put_off += 1
                stop = True
            case _:
                results.apply(operation, outcome)
                if isinstance(outcome, Refused):
                    tally.refused += 1
                else:
                    tally.confirmed += 1
    return stop


def put_off(operation: MarketOperation, state: MarketOperation.State, seconds: float, text: str) -> None:
    """Try an operation again later."""
    MarketOperation.objects.filter(pk=operation.pk, state=State.SENT).update(
        state=state,
        not_before=timezone.now() + timedelta(seconds=seconds),
        lease_owner=None,
        lease_until=None,
        error_text=text[:2000],
    )


def _pause(attempts: int) -> float:
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** min(attempts - 1, 10))
