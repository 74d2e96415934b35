"""Requests that come again with the same Idempotency-Key get the first reply and do nothing.

A request claims its key in a transaction of its own; the reply is kept in the transaction of its effect,
where that is a single one. A process that dies leaves a claim that ends by itself: then the request may be
made again, and nothing of the first was done. One that is only slow finds its claim gone and rolls back.
"""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from core.api.models import IdempotencyRecord
from core.crypto import seal, unseal

#: Longer than a web process works on one request.
LEASE = timedelta(seconds=90)
KEPT = timedelta(days=7)
PURPOSE = "core.api.replies"


class KeyReusedError(Exception):
    """The key came before with another request."""


class KeyInFlightError(Exception):
    """The first request with this key is being worked on; `wait_s` until it is over at the latest."""

    def __init__(self, wait_s: int) -> None:
        self.wait_s = wait_s
        super().__init__(wait_s)


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What the first request got."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to work on a request."""

    record: int
    claim: uuid.UUID


def digest_of(method: str, address: str, body: bytes) -> str:
    """Equal for requests that ask for the same."""
    return hashlib.sha256(b"\0".join((method.encode(), address.encode(), body))).hexdigest()


def claim_key(*, user: User, key: str, digest: str) -> Claim | StoredReply:
    """Claim a key, or find the reply of the request that had it before."""
    mine = uuid.uuid4()
    while True:
        now = timezone.now()
        lease = {"claim": mine, "claimed_until": now + LEASE}
        try:
            with transaction.atomic():
                row = IdempotencyRecord.objects.create(
                    user=user, key=key, digest=digest, created_at=now, **lease
                )
            return Claim(row.pk, mine)
        except IntegrityError:
            record = IdempotencyRecord.objects.filter(user=user, key=key).first()
        if record is None:
            continue  # it was given up between the two
        rows = IdempotencyRecord.objects.filter(pk=record.pk, claim=record.claim)
        if record.created_at < now - KEPT:
            rows.delete()
            continue
        if record.digest != digest:
            raise KeyReusedError
        if record.status is not None:
            return StoredReply(record.status, record.headers, _body_of(record))
        assert record.claimed_until is not None
        if record.claimed_until <= now and rows.update(**lease):
            return Claim(record.pk, mine)
        raise KeyInFlightError(max(1, int((record.claimed_until - now).total_seconds()) + 1))


def keep_reply(claim: Claim, reply: StoredReply, *, secret: bool = False) -> None:
    """Keep the reply; call it in the transaction of the effect. KeyInFlightError where the claim is gone.

    The body of one that holds a `secret` is sealed.
    """
    updated = IdempotencyRecord.objects.filter(pk=claim.record, claim=claim.claim).update(
        claim=None,
        claimed_until=None,
        status=reply.status,
        headers=dict(reply.headers),
        body="" if secret else reply.body,
        body_sealed=seal(reply.body, purpose=PURPOSE) if secret else "",
    )
    if not updated:
        raise KeyInFlightError(1)


def _body_of(row: IdempotencyRecord) -> str:
    """The body of a reply; KeyReusedError where this host has not the key that sealed it."""
    if not row.body_sealed:
        return row.body
    body = unseal(row.body_sealed, purpose=PURPOSE)
    if body is None:
        raise KeyReusedError
    return body


def over() -> QuerySet[IdempotencyRecord]:
    """Records that are kept no longer."""
    return IdempotencyRecord.objects.filter(created_at__lt=timezone.now() - KEPT)


def give_up(claim: Claim) -> None:
    """Nothing was done: the key may be used again, also for another request."""
    IdempotencyRecord.objects.filter(pk=claim.record, claim=claim.claim).delete()
