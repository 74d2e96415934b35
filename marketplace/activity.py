"""The log: who decided, granted, blocked or paid, in the transaction of what was done; how long it stays."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Model, QuerySet

from core.accounts import security
from core.accounts.security import SYSTEM, actor
from core.jobs.spans import current_request_id
from core.origin import current_via
from marketplace import clock
from marketplace.models import Activity, CallLog, KeyAlert, RefusedCalls

#: What is written down, in words.
ACTIONS = {
    "assignment.approved": "approved work",
    "assignment.rejected": "rejected work",
    "assignment.unrejected": "approved rejected work after all",
    "bonus.paid": "paid a bonus",
    "batch.published": "published a batch",
    "batch.rows": "added rows to a batch",
    "batch.extended": "gave a batch more places or time",
    "batch.scheduled": "scheduled a batch",
    "batch.hours": "set the hours of a batch",
    "batch.cancelled": "cancelled a batch",
    "link.made": "made a study link",
    "link.changed": "changed a study link",
    "link.closed": "closed a study link",
    "link.reopened": "reopened a study link",
    "link.quota": "changed the places of a study link",
    "link.crowded": "saw many people of a study link at one network address",
    "consent.changed": "wrote a version of the consent text",
    "roster.added": "added people to a list",
    "roster.mailed": "sent personal links",
    "guest.withdrew": "withdrew from the study",
    "file.confirmed": "confirmed a file of bonuses or qualifications",
    "qualification.granted": "granted a qualification",
    "qualification.revoked": "took a qualification back",
    "qualification.file": "granted and took back by a file",
    "former_id.contested": "has an MTurk id that a second worker states",
    "former_id.settled": "had an MTurk id settled by staff",
    "former_ids.file": "brought in a table of MTurk ids",
    "worker.blocked": "blocked a worker",
    "worker.unblocked": "lifted a block",
    "money.deposited": "booked a deposit",
    "payable.paid": "noted a report as paid out",
    "payout.made": "made a payout file",
    "payout.downloaded": "downloaded a payout file",
    "payout.withdrawn": "withdrew a payout file",
    "payout.paid": "noted a payout file as paid",
    "payout.results": "booked results of payouts",
    "payout.released": "released held payments of a year",
    "webhook.made": "made a webhook",
    "webhook.changed": "changed a webhook",
    "webhook.removed": "removed a webhook",
    "key.made": "made an access key",
    "key.ended": "ended an access key",
    "member.set": "set a member's role",
    "member.removed": "removed a member",
    "owner.changed": "took the requester over",
    "key.new_address": "used an access key from a new address",
}
#: Of these the log of security events has a line as well.
_SECURITY = {"key.made", "key.ended", "key.new_address", "payable.paid", "money.deposited"}
_SECURITY |= {"member.set", "member.removed", "owner.changed"}
_SECURITY |= {"payout.made", "payout.downloaded", "payout.withdrawn", "payout.paid", "payout.results"}


def note(requester_pk: int, action: str, subject: str = "", details: str = "") -> None:
    """Write down that somebody did this; what the clock does by itself is not written."""
    who = actor()
    if action not in ACTIONS:
        raise ValueError(f"{action!r} is no action")
    if action in _SECURITY and who != SYSTEM:
        security.log(action, requester=requester_pk, subject=subject, details=details)
    Activity.objects.create(
        requester_id=requester_pk,
        at=clock.now(),
        action=action,
        subject=subject[:120],
        details=details[:300],
        user=who.user,
        actor=who.user.get_username() if who.user else "",
        access_key=who.access_key,
        address=who.address,
        via=current_via(),
        request_id=current_request_id()[:64],
    )


# How long logs are kept: what is older goes every night.

#: Rows of one transaction: on SQLite everybody else who writes waits for its end.
_DELETED_AT_ONCE = 5_000


def forget_logs() -> int:
    """Delete calls, counts and seen alerts older than the retention. Activity is part of the audit log."""
    if not settings.LOGS_KEPT_DAYS:
        return 0
    now, retention = clock.now(), timedelta(days=settings.LOGS_KEPT_DAYS)
    gone = delete_in_batches(CallLog.objects.filter(at__lt=now - retention))
    gone += delete_in_batches(RefusedCalls.objects.filter(day__lt=(now - retention).date()))
    return gone + delete_in_batches(KeyAlert.objects.filter(seen_at__lt=now - retention))


def delete_in_batches(rows: QuerySet[Model]) -> int:
    """Delete rows by their keys, some thousands in each transaction; how many."""
    # By keys, for neither database limits a DELETE itself.
    gone = 0
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[:_DELETED_AT_ONCE]):
        rows.model._default_manager.filter(pk__in=keys).delete()
        gone += len(keys)
    return gone
