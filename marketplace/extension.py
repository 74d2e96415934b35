"""What the marketplace adds to other apps: steps for webhooks, marks of workers, its activity."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Subquery
from django.urls import reverse

from core.audit.chain import AuditSource, moment
from core.extensions import Extension
from core.origin import Owner
from core.webhooks.events import EventType, Step, StepWatch, page_address
from marketplace.activity import ACTIONS
from marketplace.batches.selectors import tallies
from marketplace.members import ACCOUNT_PARTS
from marketplace.models import Activity, Batch, LedgerEntry, PayeeDetails, Requester, Worker
from marketplace.money.payees import opened
from marketplace.site.studylinks import PARTS as LINK_PARTS
from people.identities import MarkKind, MarkProvider, Marks, mark_of_email
from web.api import ApiPart

_REQUESTER = Owner.Kind.REQUESTER

#: What webhooks of requesters are told of; `marketplace.lifecycle.events` tells of HITs and assignments.
EVENT_TYPES = (
    EventType("assignment.accepted", "An assignment was accepted", _REQUESTER),
    EventType("assignment.submitted", "An assignment was submitted", _REQUESTER),
    EventType("assignment.returned", "An assignment was returned", _REQUESTER),
    EventType("assignment.abandoned", "An assignment was abandoned", _REQUESTER),
    EventType("assignment.approved", "An assignment was approved", _REQUESTER),
    EventType("assignment.rejected", "An assignment was rejected", _REQUESTER),
    EventType("hit.reviewable", "A HIT is reviewable", _REQUESTER),
    EventType("hit.expired", "A HIT expired", _REQUESTER),
    EventType("batch.finished", "Nothing of a batch is on offer or in progress any more", _REQUESTER),
    EventType("balance.low", "Less than a tenth of the last deposit is available", _REQUESTER),
)

# What no single change causes: ends of batches, low balances.

#: Batches that are looked at: an older one that ends late is not told of.
_NEWEST_BATCHES = 500


def finished_batches(requesters: Collection[int], now: datetime) -> Iterator[Step]:
    """Published batches of these requesters of which nothing is on offer or in progress."""
    batches = Batch.objects.filter(requester__in=requesters, state=Batch.State.PUBLISHED, extends=None)
    rows = list(
        batches.select_related("requester")
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


# By what workers of this marketplace may be known elsewhere: their address, and where they are paid.


def marks_of_workers(worker_ids: Collection[str]) -> Marks:
    """Digests of confirmed addresses and of accounts for payments that are in effect."""
    marks = defaultdict(set)
    workers = Worker.objects.filter(worker_id__in=worker_ids)
    for worker_id, own, confirmed in workers.values_list("worker_id", "user__email", "contact__email"):
        for address in filter(None, (own, confirmed)):
            marks[worker_id].add(mark_of_email(address))
    rows = PayeeDetails.objects.filter(worker__worker_id__in=worker_ids).exclude(method="")
    for worker_id, digest, details in rows.values_list("worker__worker_id", "digest", "details_sealed"):
        if digest:
            marks[worker_id].add((MarkKind.PAYEE, digest))
        if email := (opened(details) or {}).get("email"):
            marks[worker_id].add(mark_of_email(email))
    return marks


# The activity of requesters, as the audit log takes it.


def _record(entry: Activity) -> dict[str, Any]:
    """Without the account, which may go; the name that it had stays."""
    return {
        "log": Owner.Kind.REQUESTER,
        "owner": entry.requester_id,
        "row": entry.pk,
        "at": moment(entry.at),
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "details": entry.details,
        "address": entry.address,
        "via": entry.via,
        "credential": entry.access_key,
        "request_id": entry.request_id,
    }


def _describe(entry: Activity) -> dict[str, Any]:
    return {
        "who": entry.actor or entry.access_key,
        "what": ACTIONS.get(entry.action, entry.action),
    }


EXTENSION = Extension(
    ApiPart("marketplace.api", last=True),
    *EVENT_TYPES,
    *WATCHES,
    AuditSource(Owner.Kind.REQUESTER, Activity, "requester_id", _record, _describe, released=("user",)),
    *ACCOUNT_PARTS,
    *LINK_PARTS,
    MarkProvider(marks_of_workers),
)
