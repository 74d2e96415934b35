"""Finding out what became of calls that nobody answered, by listing what the marketplace has.

Only for operations whose token it no longer remembers, that it called already done without saying as what, or
that it refused after an attempt nobody answered: otherwise repeating the call with the same token is the
surest question.
"""

import logging
from collections.abc import Sequence

from django.db import DatabaseError, transaction
from django.db.models import Q
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.base import CallRefusal, EarlierSuccess, Marketplace, MarketplaceRefusedError
from crowd.errors import CrowdError
from crowd.models import Endpoint, Hit, MarketOperation
from crowd.outbox import results
from crowd.outbox.calls import AT_MOST_ONCE, WITH_TOKEN, bonus_reference
from crowd.outbox.dispatch import REPEAT_WITHIN

logger = logging.getLogger(__name__)
Kind, State = MarketOperation.Kind, MarketOperation.State
_NOT_LISTED = (
    "This call was not answered, and the marketplace's list does not show it. "
    "Look at the marketplace, then say here whether it happened."
)
_MESSAGE_IN_DOUBT = (
    "This message was not answered, and messages are not listed: its readers may have it or not. "
    "Say that it happened, or that it did not and write it again."
)


def in_doubt(endpoint: Endpoint) -> Sequence[MarketOperation]:
    """Operations that were sent, may have been done, and cannot be repeated."""
    now = timezone.now()
    left_behind = Q(state__in=[State.CLAIMED, State.SENT], lease_until__lt=now)
    return list(
        MarketOperation.objects.select_related("stage__project", "hit", "assignment", "endpoint")
        .filter(endpoint=endpoint, needs_person=False)
        .filter(
            Q(kind__in=WITH_TOKEN, state=State.UNKNOWN)
            & (Q(first_sent_at__lte=now - REPEAT_WITHIN) | Q(result_lost=True))
            | Q(kind__in=WITH_TOKEN, first_sent_at__lte=now - REPEAT_WITHIN) & left_behind
            | Q(kind__in=AT_MOST_ONCE, first_sent_at__isnull=False) & (Q(state=State.UNKNOWN) | left_behind)
        )
        .order_by("planned_at", "pk")[:500]
    )


def reconcile(endpoint: Endpoint) -> int:
    """Look for each operation in doubt; what is found is confirmed, what is not goes to a person.

    The number of operations that were settled or handed over.
    """
    waiting = in_doubt(endpoint)
    if not waiting:
        return 0
    market = registry.adapter(endpoint)
    listings = (
        {listing.key: listing.ref for listing in market.iter_listings() if listing.key}
        if any(operation.kind == Kind.PUBLISH for operation in waiting)
        else {}
    )
    for operation in waiting:
        if operation.kind in AT_MOST_ONCE:
            results.ask_a_person(operation, _MESSAGE_IN_DOUBT)
            continue
        why = _NOT_LISTED
        try:
            found = (
                listings.get(operation.token) if operation.kind == Kind.PUBLISH else _seek(market, operation)
            )
        except MarketplaceRefusedError as error:
            found, why = None, f"{_NOT_LISTED} ({error})"
        try:
            _conclude(operation, found, why)
        except (CrowdError, DatabaseError) as error:
            logger.exception("The result of %s could not be booked", operation)
            results.ask_a_person(operation, f"It was done, but could not be booked: {error}")
    return len(waiting)


@transaction.atomic
def _conclude(operation: MarketOperation, found: str | None, why: str) -> None:
    if found:
        results.apply(operation, EarlierSuccess(found))
    elif operation.result_lost and operation.error_code and why == _NOT_LISTED:
        results.apply(operation, CallRefusal(operation.error_code, operation.error_text))
    else:
        results.ask_a_person(operation, why)


def _seek(market: Marketplace, operation: MarketOperation) -> str | None:
    """The result of an extension or a bonus, seen in what the marketplace lists."""
    if operation.kind == Kind.BONUS:
        submission, reference = operation.payload["submission"], bonus_reference(operation)
        paid = market.iter_bonuses(submission=submission)
        return submission if any(reference in bonus.reason for bonus in paid) else None
    assert operation.hit is not None
    others = MarketOperation.objects.filter(hit=operation.hit_id, kind=Kind.EXTEND).exclude(
        state__in=MarketOperation.FINAL
    )
    if others.exclude(pk=operation.pk).exists():
        return None
    listing = market.get_listing(operation.payload["ref"])
    wanted = Hit.objects.get(pk=operation.hit.pk).places + operation.payload["places"]
    return operation.payload["ref"] if listing and listing.places == wanted else None
