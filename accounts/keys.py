"""Signed keys that programs have used as a person: search keys, and links to files of releases.

A key is a signature and is stored nowhere until it is used; from its first use on the person sees it, with
its last use, and can end it alone. All of a person's keys end with their password (`accounts.epochs`).
"""

from datetime import UTC, datetime, timedelta

from django.contrib.auth.models import User
from django.core import signing
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts import security
from accounts.epochs import epoch_of
from accounts.models import UsedKey

#: A use is written down when the one before is so long ago.
NOTED_EVERY = timedelta(minutes=1)


def note_use(*, token: str, user: User, name: str, life: timedelta) -> bool:
    """Remember that a valid key was used now; False where its person has ended it."""
    now = timezone.now()
    made_at = _made_at(token)
    row, new = UsedKey.objects.get_or_create(
        digest=salted_hmac("accounts.keys", token, algorithm="sha256").hexdigest(),
        defaults={
            "user": user,
            "epoch": epoch_of(user),
            "name": name[:200],
            "made_at": made_at,
            "last_used_at": now,
            "expires_at": made_at + life,
        },
    )
    if new:
        UsedKey.objects.filter(user=user, expires_at__lt=now).delete()
    elif row.ended_at is None and now - row.last_used_at >= NOTED_EVERY:
        before = Q(last_used_at__lte=now - NOTED_EVERY)
        UsedKey.objects.filter(before, pk=row.pk).update(last_used_at=now)
    return row.ended_at is None


def keys_of(user: User) -> QuerySet[UsedKey]:
    """The keys of a person that work and were used, the one used last first."""
    rows = UsedKey.objects.filter(user=user, epoch=epoch_of(user), ended_at=None)
    return rows.filter(expires_at__gt=timezone.now()).order_by("-last_used_at", "-pk")


def end_key(*, user: User, key: str) -> str:
    """End one of a person's keys at once; its name, or nothing where there is no such key."""
    row = keys_of(user).filter(pk=int(key)).first() if key.isdecimal() and len(key) < 19 else None
    if row is None or not keys_of(user).filter(pk=row.pk).update(ended_at=timezone.now()):
        return ""
    security.log("signed_key.ended", subject=row.name)
    return row.name


def _made_at(token: str) -> datetime:
    """When it was signed: the part before the signature."""
    return datetime.fromtimestamp(signing.b62_decode(token.rsplit(":", 2)[1]), UTC)
