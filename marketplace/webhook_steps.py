"""What webhooks of requesters are told of that no single change causes: ends of batches, low balances."""

from collections.abc import Collection, Iterator
from datetime import datetime

from django.db.models import F, OuterRef, Subquery
from django.urls import reverse

from core.origin import Owner
from core.webhooks.events import EventType, Step, StepWatch, page_address
from marketplace.batches.selectors import tallies
from marketplace.models import Batch, LedgerEntry, Requester

_REQUESTER = Owner.Kind.REQUESTER
EVENT_TYPES = (
    EventType("batch.finished", "Nothing of a batch is on offer or in progress any more", _REQUESTER),
    EventType("balance.low", "Less than a tenth of the last deposit is available", _REQUESTER),
)
_NEWEST_BATCHES = 500


def finished_batches(requesters: Collection[int], now: datetime) -> Iterator[Step]:
    """Published batches of these requesters of which nothing is on offer or in progress."""
    found = Batch.objects.filter(requester__in=requesters, state=Batch.State.PUBLISHED, extends=None)
    rows = list(
        found.select_related("requester")
        .only("number", "requester__customer_id", "requester_id", "state")
        .order_by("-pk")[:_NEWEST_BATCHES]
    )
    counts = tallies(rows, now)
    for batch in rows:
        tally = counts[batch.pk]
        if not tally.total or tally.pending or tally.on_offer:
            continue
        customer = batch.requester.customer_id
        address = page_address(reverse("requester:batch", args=[customer, batch.number]))
        data = {"requester": customer, "batch": batch.number, "answered": tally.answered, "address": address}
        # Rows that are added later make it unfinished; its end is told once more then.
        yield Step(batch.requester_id, f"batch.finished:{batch.pk}", tally.total, data)


def low_balances(requesters: Collection[int], now: datetime) -> Iterator[Step]:
    """Requesters with less than a tenth of their last deposit; told once for each deposit."""
    deposits = LedgerEntry.objects.filter(requester=OuterRef("pk"), kind=LedgerEntry.Kind.DEPOSIT)
    last = Subquery(deposits.order_by("-pk").values("cents")[:1])
    rows = Requester.objects.filter(pk__in=requesters).annotate(last=last)
    rows = rows.filter(last__gt=10 * F("available_cents"))
    for row in rows.order_by("pk"):
        address = page_address(reverse("requester:money", args=[row.customer_id]))
        data = {"requester": row.customer_id, "address": address}
        yield Step(row.pk, "balance.low", row.deposited_cents, data)


WATCHES = (
    StepWatch("batch.finished", _REQUESTER, finished_batches),
    StepWatch("balance.low", _REQUESTER, low_balances),
)
