"""What the installation itself adds to apps."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import Count, Q
from django.urls import reverse

from core.audit.tasks import last_faults
from core.extensions import Extension
from core.notices.conditions import Condition, Rule
from core.notices.models import Notice
from core.projects.services import EventActions
from marketplace.models import Requester, YearlyLimit
from marketplace.money.ledger import last_audit

# What superusers should know of the whole installation; see `core.notices.conditions`.


def ledger_faults(now: datetime) -> Iterator[Condition]:
    """The last audit of the ledger found that something does not add up."""
    report = last_audit()
    if report is not None and report.faults:
        yield Condition(
            None,
            "ledger_audit",
            "ledger_audit",
            Notice.Level.ALARM,
            f"{describe_faults(report.day, report.faults)} Pay nothing out before it is clear.",
            reverse("admin:jobs_job_change", args=[report.job]),
        )


def yearly_limits(now: datetime) -> Iterator[Condition]:
    """People whose payments of this year passed a threshold, and about whom nothing is decided."""
    rows = YearlyLimit.objects.filter(year=now.year, released_at=None)
    counts = rows.aggregate(
        held=Count("pk", filter=Q(held_at__isnull=False)),
        warned=Count("pk", filter=Q(held_at=None, warned_at__isnull=False)),
    )
    on_hold, warned = counts["held"], counts["warned"]
    lab = Requester.objects.filter(real_money=True).order_by("pk").first() if on_hold or warned else None
    if lab is not None:
        yield Condition(
            None,
            "yearly_limits",
            f"yearly_limits:{now.year}",
            Notice.Level.WARNING,
            f"Payments of {now.year}: {on_hold:,} held over the yearly sum until staff decide, "
            f"{warned:,} more over the sum from which is warned.",
            reverse("requester:paid_people", args=[lab.customer_id]),
        )


def describe_faults(day: str, faults: tuple[str, ...]) -> str:
    """How many faults an audit found, and the first of them."""
    number = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
    return f"The audit of {day} found {number} in the ledger: {faults[0][:150]}"


def audit_faults(now: datetime) -> Iterator[Condition]:
    """The last look at the audit log found entries that are missing or were changed."""
    last_look = last_faults()
    if last_look is not None and last_look[1]:
        day, faults = last_look
        yield Condition(
            None,
            "audit_log",
            "audit_log",
            Notice.Level.ALARM,
            f"On {day} the audit log was not whole: {faults[0]}"[:300],
            reverse("admin:jobs_job_changelist"),
        )


EXTENSION = Extension(
    Rule("audit_log", audit_faults, kinds=("audit_log",)),
    Rule("ledger_audit", ledger_faults, kinds=("ledger_audit",)),
    Rule("yearly_limits", yearly_limits, kinds=("yearly_limits",)),
    EventActions({"demo.made": "made this campaign for the demonstration"}),
)
