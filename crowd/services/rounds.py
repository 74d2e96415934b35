"""One round at a time per endpoint: its lease, and when the endpoint stopped answering and answered again."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID, uuid4

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from core.jobs import shutdown
from core.jobs.heartbeats import heartbeats
from core.jobs.services import format_span
from crowd.contact import Contact
from crowd.models import Endpoint, EndpointRound
from crowd.selectors.outages import outages
from crowd.signals import round_ended

logger = logging.getLogger(__name__)
Outcome = EndpointRound.Outcome

#: A round whose process says nothing for so long is over.
LEASE = timedelta(seconds=30)
#: How often a caller who waits for the lease asks again.
_ASK_AGAIN_S = 0.1


@contextlib.contextmanager
def lease_round(endpoint: Endpoint, *, wait_s: float = 0.0) -> Iterator[Contact | None]:
    """Hold the endpoint's lease during the block; None where another has it, also after `wait_s`.

    The contact says that the round must end when the lease is lost or this worker is asked to stop. What was
    heard of the endpoint is booked at the end.
    """
    owner = uuid4()
    if not _take(endpoint, owner, wait_s):
        yield None
        return
    lost = threading.Event()
    contact = Contact(must_end=lambda: lost.is_set() or shutdown.stopping.is_set())
    renewing = heartbeats(
        lambda: _renew(endpoint, owner),
        every=lambda: LEASE.total_seconds() / 3,
        name=f"lease of the round of {endpoint.name}",
        after=lambda _: lost.set(),
    )
    began, outcome = time.monotonic(), Outcome.FAILED
    try:
        with renewing:
            yield contact
        outcome = _outcome(contact)
    finally:
        _end(endpoint, owner, outcome, time.monotonic() - began)
    book_contact(endpoint, contact)


def _outcome(contact: Contact) -> Outcome:
    if contact.is_held:
        return Outcome.HELD
    return Outcome.TROUBLE if contact.trouble else Outcome.ANSWERED


def _end(endpoint: Endpoint, owner: UUID, outcome: Outcome, seconds: float) -> None:
    succeeded = {"succeeded_at": Now()} if outcome == Outcome.ANSWERED else {}
    _held(endpoint, owner).update(
        lease_owner=None, lease_until=None, ended_at=Now(), outcome=outcome, seconds=seconds, **succeeded
    )
    round_ended.send(EndpointRound, endpoint=endpoint.name, outcome=outcome.value, seconds=seconds)


def leased_endpoints() -> QuerySet[EndpointRound]:
    """Rounds that go on now."""
    return EndpointRound.objects.filter(lease_until__gte=Now())


def book_contact(endpoint: Endpoint, contact: Contact) -> None:
    """Log the beginning and the end of an outage, each once, whichever process notices."""
    row = EndpointRound.objects.filter(pk=endpoint.pk)
    if contact.trouble:
        begun = row.filter(down_since=None).update(down_since=Now(), down_cause=contact.trouble[:300])
        if begun:
            logger.warning("%s does not answer as it should: %s", endpoint.name, contact.trouble)
    elif contact.answers:
        down = outages().filter(pk=endpoint.pk)
        before = down.first()
        if before and row.exclude(down_since=None).update(down_since=None, down_cause=""):
            logger.warning("%s answers again, after %s.", endpoint.name, format_span(before.span))


def _take(endpoint: Endpoint, owner: UUID, wait_s: float) -> bool:
    end = time.monotonic() + wait_s
    EndpointRound.objects.bulk_create([EndpointRound(endpoint=endpoint)], ignore_conflicts=True)
    free = EndpointRound.objects.filter(Q(lease_until=None) | Q(lease_until__lt=Now()), pk=endpoint.pk)
    while not free.update(lease_owner=owner, lease_until=Now() + LEASE, began_at=Now()):
        if time.monotonic() >= end:
            return False
        time.sleep(_ASK_AGAIN_S)
    return True


def _renew(endpoint: Endpoint, owner: UUID) -> bool:
    return bool(_held(endpoint, owner).update(lease_until=Now() + LEASE))


def _held(endpoint: Endpoint, owner: UUID) -> QuerySet[EndpointRound]:
    return EndpointRound.objects.filter(pk=endpoint.pk, lease_owner=owner)
