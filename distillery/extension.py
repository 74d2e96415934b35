"""What the installation itself adds to apps."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from core.extensions import Extension
from core.notices.conditions import Condition, Rule
from core.notices.models import Notice
from core.projects.services import EventActions
from marketplace.ledger import last_audit

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


def describe_faults(day: str, faults: tuple[str, ...]) -> str:
    """How many faults an audit found, and the first of them."""
    number = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
    return f"The audit of {day} found {number} in the ledger: {faults[0][:150]}"


EXTENSION = Extension(
    Rule("ledger_audit", ledger_faults, kinds=("ledger_audit",)),
    EventActions({"demo.made": "made this campaign for the demonstration"}),
)
