"""Access keys of requesters: made, replaced with an overlap, ended.

A secret is stored sealed, because signatures are checked with it, and is shown to a person once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q, QuerySet

from marketplace import clock, ids
from marketplace.errors import Refusal
from marketplace.models import AccessKey, Requester
from sealing import seal, unseal

#: What secret keys are sealed for.
SEALED_FOR = "marketplace.requester"
#: Keys of one requester that may be valid at once.
MOST_VALID = 5
#: A use is written down when the one before is so long ago.
NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class IssuedKey:
    """A new key with its secret, which nobody is shown again."""

    row: AccessKey
    secret: str

    @property
    def access_key(self) -> str:
        """The half that is no secret."""
        return self.row.access_key


def valid_at(now: datetime) -> Q:
    """Condition of keys that are accepted at this moment."""
    return Q(ends_at=None) | Q(ends_at__gt=now)


@transaction.atomic
def issue(
    *,
    requester: Requester,
    label: str = "",
    by: AbstractBaseUser | None = None,
    others_end_in: timedelta | None = None,
) -> IssuedKey:
    """A new key; with `others_end_in` those that are valid now end then, and scripts have time to change."""
    label = " ".join(label.split())
    if len(label) > 80:
        raise Refusal("InvalidParameterValue", "A label has at most 80 characters.")
    Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
    now = clock.now()
    others = AccessKey.objects.filter(valid_at(now), requester=requester)
    if others_end_in is not None:
        _end(others, now + others_end_in)
    if AccessKey.objects.filter(valid_at(now), requester=requester).count() >= MOST_VALID:
        raise Refusal(
            "TooManyKeys",
            f"A requester has at most {MOST_VALID} valid keys. End one that no script uses any more.",
        )
    secret = ids.new_secret()
    row = AccessKey.objects.create(
        requester=requester,
        access_key=ids.new_access_key(),
        secret_sealed=seal(secret, purpose=SEALED_FOR),
        label=label,
        made_by=by,  # type: ignore[misc]
        created_at=now,
    )
    return IssuedKey(row, secret)


def end(*, key: AccessKey, after: timedelta = timedelta()) -> datetime:
    """End a key, at once or so much later; never later than it was to end before. When it ends."""
    at = clock.now() + after
    if not _end(AccessKey.objects.filter(valid_at(clock.now()), pk=key.pk), at):
        key.refresh_from_db()
        if key.ends_at is None or key.ends_at <= clock.now():
            raise Refusal("KeyEnded", f"The key {key.access_key} has ended already.")
    key.refresh_from_db()
    assert key.ends_at is not None
    return key.ends_at


def _end(keys: QuerySet[AccessKey], at: datetime) -> int:
    return keys.filter(Q(ends_at=None) | Q(ends_at__gt=at)).update(ends_at=at)


def secret_of(key: AccessKey) -> str | None:
    """The secret of a key, for checking signatures and for showing it once."""
    return unseal(key.secret_sealed, purpose=SEALED_FOR)


def signing_key(access_key: str) -> AccessKey | None:
    """The valid key of this name, with its requester, in one query."""
    key = AccessKey.objects.select_related("requester").filter(access_key=access_key).first()
    if key is None or (key.ends_at is not None and key.ends_at <= clock.now()):
        return None
    return key


def note_use(key: AccessKey) -> None:
    """Remember that the key was used now, to the minute."""
    now = clock.now()
    if key.last_used_at is None or now - key.last_used_at >= NOTED_EVERY:
        unnoted = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
        AccessKey.objects.filter(unnoted, pk=key.pk).update(last_used_at=now)
