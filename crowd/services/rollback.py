"""Noticing that database and data folder went back together, as with a snapshot of a disk.

`crowd.outbox.epoch` compares the database with its data folder, and the two agree then. The marketplace does
not: a HIT that this database published, and that it does not know or holds for never sent, was published by a
later state of it. HITs say in their memo which database published them, sealed with `SECRET_KEY`, so those of
other scripts, of other installations and of a database that was thrown away do not count.
"""

import json
import re
import time
import uuid
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from core.crypto import seal, unseal
from crowd.adapters import registry
from crowd.adapters.base import Listing
from crowd.models import Endpoint, EndpointRound, Hit, HitUnit, MarketOperation, Stage
from crowd.outbox import epoch

# What a HIT is to us, sealed into the address of its page: a restored database may know nothing of it.
#
# The marketplace keeps the address with the HIT. Only this installation's key opens the memo, so workers
# learn nothing from it, above all not which units are checks.

_PARAMETER, _PURPOSE = "memo", "crowd.hit"
_SEALED = re.compile(rf"\?{_PARAMETER}=([\w=-]+)", re.ASCII)
#: Longer ones would not fit into addresses everywhere; then a HIT travels without.
_LONGEST = 2000
_ROLES = {HitUnit.Role.UNIT: "u", HitUnit.Role.OVERLAP: "o", HitUnit.Role.CHECK: "c"}


@dataclass(frozen=True, slots=True)
class Memo:
    """A HIT as it was published."""

    project: str
    stage: str
    key: uuid.UUID
    fee_cents: int
    wave: int
    part: int | None
    part_count: int
    compensates: str
    units: tuple[tuple[str, str], ...]
    installation: str = ""


def memo_query(stage: Stage, hit: Hit, units: Sequence[tuple[str, str]], installation: str) -> str:
    """`?memo=…` for the address of a HIT's page; empty where it would be too long.

    `installation` names the database that published it, see `crowd.outbox.epoch`.
    """
    facts = [
        stage.project.slug,
        stage.slug,
        hit.key.hex,
        hit.fee_cents,
        hit.wave,
        hit.part,
        hit.part_count,
        hit.compensates.external_id if hit.compensates else "",
        [[unit, _ROLES[HitUnit.Role(role)]] for unit, role in units],
        installation,
    ]
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    sealed = seal(b64encode(zlib.compress(text.encode(), 9)).decode(), purpose=_PURPOSE)
    return f"?{_PARAMETER}={sealed}" if len(sealed) <= _LONGEST else ""


def read_memo(question: str) -> Memo | None:
    """The memo in a question that names such an address; None where there is none that we sealed."""
    sealed = _SEALED.search(question)
    text = unseal(sealed[1], purpose=_PURPOSE) if sealed else None
    if text is None:
        return None
    facts = json.loads(zlib.decompress(b64decode(text)))
    # HITs that were published before memos named the database end with their units.
    project, stage, key, fee, wave, part, parts, worker, units, installation = (*facts, "")[:10]
    roles = {letter: str(role) for role, letter in _ROLES.items()}
    named = tuple((unit, roles[letter]) for unit, letter in units)
    return Memo(project, stage, uuid.UUID(key), fee, wave, part, parts, worker, named, installation)


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
        memo = read_memo(str(listing.raw.get("Question", "")))
        if memo is not None and memo.installation == installation:
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
