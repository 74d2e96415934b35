"""A requester is told that an access key was used from an address not seen before: on pages and by e-mail."""

from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.mail import EmailMessage
from django.db.models import QuerySet
from django.urls import reverse

from core.jobs.errors import PermanentError
from core.jobs.services import enqueue
from marketplace import clock
from marketplace.models import AccessKey, KeyAlert, Requester

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


def mark_seen(*, requester: Requester, last: int, by: AbstractBaseUser) -> int:
    """Close the alerts up to the key `last`, which is what a person saw; how many were open."""
    return open_alerts(requester).filter(pk__lte=last).update(seen_at=clock.now(), seen_by=by)


def send_letter(*, requester_pk: int) -> None:
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
