"""Signed keys with which programs act as a person: search keys, and links to files of releases.

A key is a signature; what is stored is its digest, when it was handed out and when it was used. A page that
is opened again hands out the same key for a day. The person sees all of them and can end each alone; all end
with their password (`epoch_of`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core import signing
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from core.accounts import security
from core.accounts.models import SignedKey


def epoch_of(user: User) -> str:
    """Changes when the password is stored again: by a change, or by signing out everywhere."""
    return salted_hmac("accounts.epochs", user.password, algorithm="sha256").hexdigest()[:20]


#: A page hands out one key for so long, then another.
HANDED_OUT = timedelta(days=1)
#: A use is written down when the one before is so long ago.
NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Purpose:
    """What keys of one sort are for: the salt of their signatures, and how long they live."""

    salt: str
    life: timedelta


@dataclass(frozen=True, slots=True)
class ValidKey:
    """A key whose signature, time and epoch hold: whose it is, and what was given for it.

    row: what is stored of it; None for one that was handed out before there were rows.
    """

    token: str
    purpose: Purpose
    user: User
    payload: Mapping[str, Any]
    row: SignedKey | None


class _Signer(signing.TimestampSigner):
    """Signs as at a moment that is given, so that a key can be shown again."""

    def __init__(self, at: datetime, salt: str) -> None:
        super().__init__(salt=salt)
        self._at = at

    def timestamp(self) -> str:
        return signing.b62_encode(int(self._at.timestamp()))


def issue_key(*, purpose: Purpose, user: User, name: str, payload: Mapping[str, Any]) -> str:
    """The key of a person for a `payload`: the one of today, or a new one, which is on their list."""
    now, values = timezone.now(), {**payload, "user": user.pk, "epoch": epoch_of(user)}
    lately = keys_of(user).filter(name=name[:200], made_at__gt=now - HANDED_OUT)
    for made_at, digest in lately.values_list("made_at", "digest"):
        token = _sign(purpose, made_at, values)
        if _digest(token) == digest:
            return token
    SignedKey.objects.filter(user=user, expires_at__lt=now).delete()
    at = now.replace(microsecond=0)
    while SignedKey.objects.filter(digest=_digest(token := _sign(purpose, at, values))).exists():
        at += timedelta(seconds=1)  # the one of this second has ended
    _store(token, user=user, name=name, made_at=at, life=purpose.life)
    return token


def read_key(purpose: Purpose, token: str) -> ValidKey | None:
    """The key of a token; None where the signature, its time or its epoch is over.

    Whether the person ended it says `note_use`.
    """
    try:
        values = signing.loads(token, salt=purpose.salt, max_age=purpose.life)
    except signing.BadSignature:
        return None
    row = SignedKey.objects.select_related("user").filter(digest=_digest(token)).first()
    user = User.objects.filter(pk=values["user"]).first() if row is None else row.user
    if user is None or not user.is_active:
        return None
    if not constant_time_compare(values.get("epoch", ""), epoch_of(user)):
        return None
    return ValidKey(token, purpose, user, values, row)


def note_use(key: ValidKey, *, name: str) -> bool:
    """Remember that a valid key was used now; False where its person has ended it."""
    now, token = timezone.now(), key.token
    row = key.row or _store(token, user=key.user, name=name, made_at=_made_at(token), life=key.purpose.life)
    if row.ended_at is None and (row.last_used_at is None or now - row.last_used_at >= NOTED_EVERY):
        before = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
        first = Coalesce(F("first_used_at"), now)
        SignedKey.objects.filter(before, pk=row.pk).update(last_used_at=now, first_used_at=first)
    return row.ended_at is None


def keys_of(user: User) -> QuerySet[SignedKey]:
    """The keys of a person that work, the one handed out last first."""
    rows = SignedKey.objects.filter(user=user, epoch=epoch_of(user), ended_at=None)
    return rows.filter(expires_at__gt=timezone.now()).order_by("-made_at", "-pk")


def end_key(*, user: User, key: str) -> str:
    """End one of a person's keys at once; its name, or nothing where there is no such key."""
    row = keys_of(user).filter(pk=int(key)).first() if key.isdecimal() and len(key) < 19 else None
    if row is None or not keys_of(user).filter(pk=row.pk).update(ended_at=timezone.now()):
        return ""
    security.log("signed_key.ended", subject=row.name)
    return row.name


def _sign(purpose: Purpose, at: datetime, values: Mapping[str, Any]) -> str:
    return _Signer(at, purpose.salt).sign_object(values, compress=True)


def _store(token: str, *, user: User, name: str, made_at: datetime, life: timedelta) -> SignedKey:
    """The row of a key; keys that were handed out before there were rows get one by their first use."""
    row, _ = SignedKey.objects.get_or_create(
        digest=_digest(token),
        defaults={
            "user": user,
            "epoch": epoch_of(user),
            "name": name[:200],
            "made_at": made_at,
            "expires_at": made_at + life,
        },
    )
    return row


def _digest(token: str) -> str:
    return salted_hmac("accounts.keys", token, algorithm="sha256").hexdigest()


def _made_at(token: str) -> datetime:
    """When it was signed: the part before the signature."""
    return datetime.fromtimestamp(signing.b62_decode(token.rsplit(":", 2)[1]), UTC)
