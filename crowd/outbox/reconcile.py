"""Finding out what became of calls that nobody answered, by listing what the marketplace has.

Only for operations whose token it no longer remembers, that it called already done without saying as what, or
that it refused after an attempt nobody answered: otherwise repeating the call with the same token is the
surest question.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import cast

from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from crowd.adapters import registry
from crowd.adapters.base import CallRefusal, EarlierSuccess, Marketplace, MarketplaceRefusedError, Panel
from crowd.errors import CrowdError
from crowd.models import Endpoint, Hit, MarketOperation
from crowd.outbox import results
from crowd.outbox.calls import AT_MOST_ONCE, PREPARED, CallClasses, bonus_reference, letter_of
from crowd.outbox.dispatch import REPEAT_WITHIN, has_unfinished

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


#: A message is listed at once; clocks of two machines differ by less than this.
_LETTER_LISTED_WITHIN, _CLOCKS_DIFFER = timedelta(minutes=5), timedelta(minutes=2)
#: A panel lists a bonus some minutes after it was told to pay. Until then its list says nothing.
_BONUS_LISTED_WITHIN = timedelta(hours=1)
_BONUS_IN_DOUBT = (
    "This bonus was not answered, and the panel does not list it after an hour. It is never sent again by "
    "itself: look at the submission on the panel's own pages, then say here whether it was paid."
)


def in_doubt(endpoint: Endpoint, classes: CallClasses) -> Sequence[MarketOperation]:
    """Operations that were sent, may have been done, and cannot be repeated."""
    now = timezone.now()
    left_behind = Q(state__in=[State.CLAIMED, State.SENT], lease_until__lt=now)
    return list(
        MarketOperation.objects.select_related("stage__project", "hit", "assignment", "endpoint")
        .filter(endpoint=endpoint, needs_person=False)
        .filter(
            Q(kind__in=classes.with_token, state=State.UNKNOWN)
            & (Q(first_sent_at__lte=now - REPEAT_WITHIN) | Q(result_lost=True))
            | Q(kind__in=classes.with_token, first_sent_at__lte=now - REPEAT_WITHIN) & left_behind
            | Q(kind__in=classes.at_most_once, first_sent_at__isnull=False)
            & (Q(state=State.UNKNOWN) | left_behind)
        )
        .order_by("planned_at", "pk")[:500]
    )


def reconcile(endpoint: Endpoint) -> int:
    """Look for each operation in doubt; what is found is confirmed, what is not goes to a person.

    The number of operations that were settled or handed over.
    """
    market = registry.adapter(endpoint)
    waiting = in_doubt(endpoint, CallClasses.of(market)) if has_unfinished(endpoint) else []
    if not waiting:
        return 0
    listings = (
        {listing.key: listing.ref for listing in market.iter_listings() if listing.key}
        if any(operation.kind == Kind.PUBLISH for operation in waiting)
        else {}
    )
    settled = len(waiting)
    for operation in waiting:
        if operation.kind == Kind.MESSAGE and operation.payload.get("study"):
            settled -= not _reconcile_letter(market, operation)
            continue
        if operation.kind in AT_MOST_ONCE:
            results.ask_a_person(operation, _MESSAGE_IN_DOUBT)
            continue
        why = _NOT_LISTED
        if operation.payload.get(PREPARED):
            settled -= not _reconcile_bonus(market, operation)
            continue
        try:
            ref = (
                listings.get(operation.token) if operation.kind == Kind.PUBLISH else _seek(market, operation)
            )
        except MarketplaceRefusedError as error:
            ref, why = None, f"{_NOT_LISTED} ({error})"
        try:
            _conclude(operation, ref, why)
        except (CrowdError, DatabaseError) as error:
            logger.exception("The result of %s could not be booked", operation)
            results.ask_a_person(operation, f"It was done, but could not be booked: {error}")
    return settled


def _reconcile_bonus(market: Marketplace, operation: MarketOperation) -> bool:
    """Look whether a bonus that no token protects was paid; False while it is too early to tell.

    The panel lists amounts without reasons, so those of the same amount for the same submission are counted:
    one more than are known to be paid is this one.
    """
    submission, cents = operation.payload["submission"], operation.amount_cents
    try:
        listed_count = sum(paid.amount.minor == cents for paid in market.iter_bonuses(submission=submission))
    except MarketplaceRefusedError as error:
        results.ask_a_person(operation, f"{_BONUS_IN_DOUBT} ({error})")
        return True
    same = MarketOperation.objects.filter(
        kind=Kind.BONUS, assignment=operation.assignment_id, amount_cents=cents
    ).exclude(pk=operation.pk)
    maybe = same.filter(first_sent_at__isnull=False).exclude(state=State.REFUSED).count()
    if listed_count > maybe:
        with transaction.atomic():
            results.apply(operation, EarlierSuccess(submission))
        return True
    assert operation.first_sent_at is not None
    if operation.first_sent_at > timezone.now() - _BONUS_LISTED_WITHIN:
        return False
    results.ask_a_person(operation, _BONUS_IN_DOUBT)
    return True


def _reconcile_letter(market: Marketplace, operation: MarketOperation) -> bool:
    """Look whether participants of a panel have a message; False while it is too early to tell."""
    payload, sent_at = operation.payload, operation.first_sent_at
    assert sent_at is not None
    if payload.get("group"):
        results.ask_a_person(operation, _MESSAGE_IN_DOUBT)
        return True
    since = sent_at - _CLOCKS_DIFFER
    try:
        listed_count = cast(Panel, market).was_written(payload["workers"], letter_of(payload), since=since)
    except MarketplaceRefusedError as error:
        results.ask_a_person(operation, f"{_MESSAGE_IN_DOUBT} ({error})")
        return True
    if listed_count == len(payload["workers"]) and not _same_letters(operation, since).exists():
        with transaction.atomic():
            results.apply(operation, EarlierSuccess(None))
        return True
    if listed_count is not None and sent_at > timezone.now() - _LETTER_LISTED_WITHIN:
        return False
    how_many = (
        ""
        if listed_count is None
        else f" The panel lists it for {listed_count} of {len(payload['workers'])}."
    )
    results.ask_a_person(operation, f"{_MESSAGE_IN_DOUBT}{how_many}")
    return True


def _same_letters(operation: MarketOperation, since: datetime) -> QuerySet[MarketOperation]:
    """Others with the same words at that time, which the list cannot tell from this one."""
    return MarketOperation.objects.filter(
        endpoint=operation.endpoint_id,
        kind=Kind.MESSAGE,
        payload__text=operation.payload["text"],
        first_sent_at__gte=since,
    ).exclude(pk=operation.pk)


@transaction.atomic
def _conclude(operation: MarketOperation, ref: str | None, why: str) -> None:
    if ref:
        results.apply(operation, EarlierSuccess(ref))
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
    target_places = Hit.objects.get(pk=operation.hit.pk).places + operation.payload["places"]
    return operation.payload["ref"] if listing and listing.places == target_places else None
