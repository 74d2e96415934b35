"""Access keys of requesters: made, replaced with an overlap, ended; alerts of their use from new addresses.

A secret is stored sealed, because signatures are checked with it, and is shown to a person once.
"""

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from core.accounts.security import neighbourhood
from core.crypto import seal, unseal
from core.jobs.errors import PermanentError
from core.jobs.services import enqueue
from marketplace import clock, ids
from marketplace.activity import note
from marketplace.errors import Refusal
from marketplace.models import AccessKey, KeyAlert, Requester

# A requester is told that an access key was used from an address not seen before: on pages and by e-mail.

#: Kind of the job that sends the e-mail.
LETTER = "marketplace.key-alert"
#: Alerts of one key that are open at once; the activity has a line for every address all the same.
MOST_OPEN = 20


def raise_alert(*, key: AccessKey, address: str) -> None:
    """Open an alert, in the transaction of the caller, and plan an e-mail: at most one an hour."""
    if KeyAlert.objects.filter(key=key, seen_at=None).count() >= MOST_OPEN:
        return
    now = clock.now()
    KeyAlert.objects.create(key=key, address=address, at=now)
    if settings.NOTICES_BY_EMAIL:
        requester = key.requester_id
        effect = f"key-alert:{requester}:{now:%Y-%m-%dT%H}"
        enqueue(kind=LETTER, payload={"requester": requester}, effect=effect)


def open_alerts(requester: Requester) -> QuerySet[KeyAlert]:
    """The alerts of a requester's keys that nobody has seen."""
    return KeyAlert.objects.filter(key__requester=requester, seen_at=None)


def mark_alerts_seen(*, requester: Requester, last: int, by: AbstractBaseUser) -> int:
    """Close the alerts up to the key `last`, which is what a person saw; how many were open."""
    return open_alerts(requester).filter(pk__lte=last).update(seen_at=clock.now(), seen_by=by)


def send_alert_letter(*, requester_pk: int) -> None:
    """Write to the requester's owner about all open alerts.

    A mail server that does not answer is asked again by the job, so a letter that is cut off may come twice.
    """
    requester = Requester.objects.select_related("owner").get(pk=requester_pk)
    owner, alerts = requester.owner, list(open_alerts(requester).select_related("key").order_by("pk"))
    if not alerts or owner is None or not owner.is_active or not owner.email:
        return
    name = " ".join(requester.name.split())
    message = EmailMessage(
        subject=f"{name}: an access key was used from a new address"[:120],
        body=_body(name, owner.get_username(), requester.customer_id, alerts),
        to=[owner.email],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except (SMTPRecipientsRefused, ValueError) as error:
        raise PermanentError(f"The e-mail cannot be sent: {error}"[:300]) from error


def _body(name: str, person: str, customer_id: str, alerts: list[KeyAlert]) -> str:
    lines = [f"Hello {person},", "", f"Access keys of {name} were used from addresses not seen before:", ""]
    for alert in alerts:
        label = " ".join(alert.key.label.split())
        about = f"{alert.key.access_key} ({label})" if label else alert.key.access_key
        lines.append(f"- {about}: from {alert.address} on {alert.at:%Y-%m-%d at %H:%M} UTC")
    page = f"{settings.PUBLIC_URL}{reverse('requester:keys', args=[customer_id])}"
    return "\n".join(
        [
            *lines,
            "",
            "If a script of yours moved, nothing is wrong. Do you not know an address? End the key at once:",
            page,
            "",
            "You get this because you own this requester. The page shows the alert until it has been read.",
            "",
        ]
    )


#: What secret keys are sealed for.
SEALED_FOR = "marketplace.requester"
#: What is signed begins so, and can be no other signature made with the same secret.
PROOF_OF_ARRIVAL = "distillery.arrival"
#: Keys of one requester that may be valid at once.
MOST_VALID = 5
#: Addresses that are remembered of a key.
MOST_ADDRESSES = 20
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
def issue_key(
    *,
    requester: Requester,
    label: str = "",
    by: AbstractBaseUser | None = None,
    others_end_in: timedelta | None = None,
    ends_in: timedelta | None = None,
    read_only: bool = False,
) -> IssuedKey:
    """A new key; with `others_end_in` those that are valid now end then, and scripts have time to change."""
    label = " ".join(label.split())
    if len(label) > 80:
        raise Refusal("InvalidParameterValue", "A label has at most 80 characters.")
    # Keys of one requester are made one after the other, so that the limit holds.
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
        read_only=read_only,
        ends_at=None if ends_in is None else now + ends_in,
        created_at=now,
    )
    note(requester.pk, "key.made", row.access_key, label)
    return IssuedKey(row, secret)


@transaction.atomic
def end_key(*, key: AccessKey, after: timedelta = timedelta()) -> datetime:
    """End a key, at once or so much later; never later than it was to end before. When it ends."""
    at = clock.now() + after
    if not _end(AccessKey.objects.filter(valid_at(clock.now()), pk=key.pk), at):
        key.refresh_from_db()
        if key.ends_at is None or key.ends_at <= clock.now():
            raise Refusal("KeyEnded", f"The key {key.access_key} has ended already.")
    key.refresh_from_db()
    assert key.ends_at is not None
    note(key.requester_id, "key.ended", key.access_key, f"{key.ends_at:%Y-%m-%d %H:%M} UTC")
    return key.ends_at


def _end(keys: QuerySet[AccessKey], at: datetime) -> int:
    return keys.filter(Q(ends_at=None) | Q(ends_at__gt=at)).update(ends_at=at)


def secret_of(key: AccessKey) -> str | None:
    """The secret of a key, for checking signatures and for showing it once."""
    return _secret(key.secret_sealed)


def _secret(sealed: str) -> str | None:
    return _open(sealed, settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)


@lru_cache(maxsize=1024)
def _open(sealed: str, *_secret_keys: str) -> str | None:
    """Every call and every working page asks for it; decrypting took a tenth of them."""
    return unseal(sealed, purpose=SEALED_FOR)


def proofs(requester_pk: int, text: str) -> list[str]:
    """The text signed with each valid key of a requester: who has one of the secrets can tell it is ours."""
    keys = AccessKey.objects.filter(valid_at(clock.now()), requester=requester_pk).order_by("pk")
    secrets = map(_secret, keys.values_list("secret_sealed", flat=True))
    return [_proof(secret, text) for secret in secrets if secret]


def _proof(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), f"{PROOF_OF_ARRIVAL}|{text}".encode(), hashlib.sha256).hexdigest()[:32]


def signing_key(access_key: str) -> AccessKey | None:
    """The valid key of this name, with its requester, in one query."""
    try:
        key = AccessKey.objects.select_related("requester").get(access_key=access_key)
    except AccessKey.DoesNotExist:
        return None
    return None if key.ends_at is not None and key.ends_at <= clock.now() else key


def note_use(key: AccessKey, address: str = "") -> None:
    """Remember that the key was used now, to the minute, and from where."""
    now = clock.now()
    if key.last_used_at is None or now - key.last_used_at >= NOTED_EVERY:
        unnoted = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
        AccessKey.objects.filter(unnoted, pk=key.pk).update(last_used_at=now)
    if address and address not in key.addresses:
        _note_address(key, address)


@transaction.atomic
def _note_address(key: AccessKey, address: str) -> None:
    """A key is used from where it was never used before: its requester is told, and the log has a line."""
    row = AccessKey.objects.select_for_update(no_key=True).get(pk=key.pk)
    if neighbourhood(address) in {neighbourhood(each) for each in row.addresses}:
        return
    if row.addresses:
        note(row.requester_id, "key.new_address", row.access_key, address)
        raise_alert(key=row, address=address)
    row.addresses = [address, *row.addresses][:MOST_ADDRESSES]
    row.save(update_fields=["addresses"])
