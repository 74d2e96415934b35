"""Finding out what became of calls that nobody answered, by listing what the marketplace has.

Only for operations whose token it no longer remembers (or that said "already done" without a result): before,
repeating the call with the same token is the surest question.
"""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.base import AlreadyDone, Marketplace
from crowd.models import Endpoint, MarketOperation
from crowd.outbox import results
from crowd.outbox.calls import WITH_TOKEN, bonus_reference
from crowd.outbox.dispatch import REPEAT_WITHIN

Kind, State = MarketOperation.Kind, MarketOperation.State


def in_doubt(endpoint: Endpoint) -> Sequence[MarketOperation]:
    """Operations that were sent, may have been done, and cannot be repeated."""
    now = timezone.now()
    return list(
        MarketOperation.objects.select_related("stage__project", "hit", "assignment", "endpoint")
        .filter(endpoint=endpoint, kind__in=WITH_TOKEN, needs_person=False)
        .filter(
            Q(state=State.UNKNOWN) & (Q(first_sent_at__lte=now - REPEAT_WITHIN) | Q(result_lost=True))
            | Q(state=State.SENT, lease_until__lt=now, first_sent_at__lte=now - REPEAT_WITHIN)
        )
        .order_by("planned_at")[:500]
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
        found = listings.get(operation.token) if operation.kind == Kind.PUBLISH else _seek(market, operation)
        with transaction.atomic():
            if found:
                results.apply(operation, AlreadyDone(found))
            else:
                ask_a_person(operation)
    return len(waiting)


def _seek(market: Marketplace, operation: MarketOperation) -> str | None:
    """The result of an extension or a bonus, seen in what the marketplace lists."""
    if operation.kind == Kind.BONUS:
        submission, reference = operation.payload["submission"], bonus_reference(operation)
        paid = market.iter_bonuses(submission=submission)
        return submission if any(reference in bonus.reason for bonus in paid) else None
    assert operation.hit is not None
    listing = market.get_listing(operation.payload["ref"])
    wanted = operation.hit.places + operation.payload["places"]
    return operation.payload["ref"] if listing and listing.places >= wanted else None


def ask_a_person(operation: MarketOperation) -> None:
    """Put an operation on the screen of what a person must decide; nothing is repeated by itself."""
    MarketOperation.objects.filter(pk=operation.pk).exclude(state__in=MarketOperation.FINAL).update(
        state=State.UNKNOWN,
        needs_person=True,
        lease_owner=None,
        lease_until=None,
        error_text="Nobody answered this call, and the marketplace's list does not show it. "
        "Look at the marketplace, then say here whether it happened.",
    )
