"""Periodic work of the marketplace."""

from celery import shared_task

from jobs.registry import handler
from jobs.runner import JobContext
from jobs.services import enqueue
from marketplace import clock, ledger
from marketplace.sweep import sweep


@shared_task(name="marketplace.sweep")
def sweep_task() -> None:
    """Apply what time does by itself."""
    sweep()


@shared_task(name="marketplace.nightly")
def nightly() -> None:
    """Once a day, audit the ledger: the job's effect is keyed by the day."""
    day = f"{clock.now():%Y-%m-%d}"
    enqueue(kind="marketplace.ledger-audit", payload={"day": day}, effect=f"ledger-audit:{day}")


@handler("marketplace.ledger-audit")
def audit_ledger(context: JobContext) -> None:
    """Keep what the audit found as the job's result."""
    faults = ledger.audit()
    context.commit(lambda: {"faults": faults})
