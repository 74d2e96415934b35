"""Noticing that database and data folder went back together, as with a snapshot of a disk.

`crowd.outbox.epoch` compares the database with its data folder, and the two agree then. The marketplace does
not: a HIT that this database published, and that it does not know or holds for never sent, was published by a
later state of it. HITs say in their memo which database published them, sealed with `SECRET_KEY`, so those of
other scripts, of other installations and of a database that was thrown away do not count.
"""

import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from crowd.adapters import registry
from crowd.adapters.base import Listing
from crowd.models import Endpoint, EndpointRound, MarketOperation
from crowd.outbox import epoch
from crowd.services import memo

#: How many of the newest HITs are looked at: a page of the marketplace's list, one call.
NEWEST = 100
#: By the wall clock: it jumps where a virtual machine goes back with its memory, and then it is looked again.
LOOK_EVERY_S = 300.0
LATER = (
    "HIT {ref} at {endpoint} was published by a later state of this database: database and data folder were "
    "restored together, from a snapshot or a copy."
)
_looked_at: dict[tuple[str, int], float] = {}


def halt_if_rolled_back(endpoint: Endpoint) -> bool:
    """Halt all endpoints if this one has a HIT of a later state of the database; whether it has.

    A process looks when it first turns to the endpoint, and every five minutes. Raises MarketplaceDownError
    where the marketplace does not answer: nothing may be sent to it then either.
    """
    installation, now = epoch.installation(), time.time()
    looked_at = _looked_at.get((installation, endpoint.pk))
    if looked_at is not None and abs(now - looked_at) < LOOK_EVERY_S:
        return False
    newest = list(islice(registry.adapter(endpoint).iter_listings(), NEWEST))
    for listing in _published_later(endpoint, installation, newest):
        epoch.halt_all(LATER.format(ref=listing.ref, endpoint=endpoint.name))
        return True
    _looked_at[installation, endpoint.pk] = now
    return False


def _published_later(endpoint: Endpoint, installation: str, newest: Sequence[Listing]) -> Iterator[Listing]:
    """The database is read after the list: an operation is marked as sent before its HIT can be on it."""
    ours = {token: listing for listing in newest if (token := publication_token(listing))}
    sent_at = dict(MarketOperation.objects.filter(pk__in=ours).values_list("pk", "first_sent_at"))
    compared_to = EndpointRound.objects.filter(pk=endpoint.pk).values_list("compared_to", flat=True).first()
    for token, listing in ours.items():
        if compared_to is not None and created_at(listing) <= compared_to:
            continue
        if token in sent_at:
            if sent_at[token] is None:
                yield listing
            continue
        known = memo.read(str(listing.raw.get("Question", "")))
        if known is not None and known.installation == installation:
            yield listing


def publication_token(listing: Listing) -> uuid.UUID | None:
    """The operation that published a HIT, by its annotation; None where it is none of ours."""
    try:
        return uuid.UUID(hex=listing.key) if listing.key else None
    except ValueError:
        return None


def created_at(listing: Listing) -> datetime:
    """When the marketplace made the HIT, by its own clock; now where it does not say."""
    created = listing.raw.get("CreationTime")
    return created if isinstance(created, datetime) else datetime.now(UTC)


def note_comparison(endpoint: Endpoint, newest: datetime) -> None:
    """All HITs up to this creation time were compared: those that stay unknown halt nothing again."""
    EndpointRound.objects.update_or_create(endpoint=endpoint, defaults={"compared_to": newest})
