"""Periodic work of the marketplace."""

import logging
from datetime import timedelta

from celery import shared_task

from core.extensions import parts_of
from core.jobs.handlers import JobContext, handler
from core.jobs.services import enqueue
from marketplace import clock
from marketplace.accounts import accesskeys, contact
from marketplace.accounts.account_closure import forget_payment_notes
from marketplace.accounts.contact import send_digests
from marketplace.activity import forget_logs
from marketplace.batches import extensions, results, schedule
from marketplace.batches import publication as batches
from marketplace.forms import uploads
from marketplace.forms.pagestorage import forget_page_storage
from marketplace.lifecycle.expiry import sweep
from marketplace.lifecycle.traces import compare_answers, forget_traces
from marketplace.money import ledger
from marketplace.parts import PeriodicWork

logger = logging.getLogger(__name__)


@shared_task(name="marketplace.sweep")
def sweep_task() -> None:
    """Apply what time does by itself."""
    sweep()
    schedule.run_schedules(clock.now())
    schedule.look_for_ends(clock.now())
    uploads.forget_files()
    for work in parts_of(PeriodicWork):
        work.tick()
    compare_answers()


@shared_task(name="notices.marketplace_digests")
def digests_task() -> None:
    """Digests that are due; among the notices, where a slow mail server holds up no sweep."""
    send_digests()


@shared_task(name="marketplace.nightly")
def nightly() -> None:
    """Once a day, audit the ledger: the job's effect is keyed by the day. What is no longer needed goes."""
    forget_payment_notes()
    forget_logs()
    forget_traces()
    for work in parts_of(PeriodicWork):
        work.nightly(clock.now())
    uploads.forget_orphans()
    forget_page_storage()
    day = f"{clock.now():%Y-%m-%d}"
    enqueue(kind=ledger.AUDIT, payload={"day": day}, effect=f"ledger-audit:{day}")


@handler(ledger.AUDIT, longest=timedelta(hours=6))
def audit_ledger(context: JobContext) -> None:
    """Keep what the audit found as the job's result; a notice and `doctor` tell of faults."""
    faults = ledger.audit()
    if faults:
        logger.critical("The audit of the ledger found %s: %s", len(faults), " ".join(faults))
    context.commit(lambda: {"faults": faults})


@handler(batches.PUBLISH, longest=timedelta(hours=12))
def publish_batch(context: JobContext) -> None:
    """Every task of a batch gets its HIT."""
    batches.work_off(context)


@handler(batches.CANCEL, longest=timedelta(hours=12))
def cancel_batch(context: JobContext) -> None:
    """The HITs of a batch expire."""
    batches.expire_all(context)


@handler(extensions.EXTEND, longest=timedelta(hours=12))
def extend_batch(context: JobContext) -> None:
    """The HITs of a batch get more places or more time."""
    extensions.work_off(context)


@handler(results.REVIEW, longest=timedelta(hours=12))
def review_batch(context: JobContext) -> None:
    """The decisions of an uploaded table."""
    results.decide_all(context)


@handler(schedule.LETTER, longest=timedelta(hours=1))
def send_batch_letter(context: JobContext) -> None:
    """An e-mail about a batch."""
    schedule.send_letter(batch_pk=context.payload["batch"], about=context.payload["about"])


@handler(accesskeys.LETTER, longest=timedelta(hours=1))
def send_key_alert(context: JobContext) -> None:
    """An e-mail about addresses of access keys that their requester has not seen."""
    accesskeys.send_alert_letter(requester_pk=context.payload["requester"])


@handler(contact.CONFIRM, longest=timedelta(hours=1))
def send_confirmation(context: JobContext) -> None:
    """The letter that confirms a worker's address."""
    contact.send_confirmation(contact_pk=context.payload["contact"], base=context.payload["base"])


@handler(contact.FAREWELL, longest=timedelta(hours=1))
def send_farewell(context: JobContext) -> None:
    """The letter to an address that was replaced or removed."""
    contact.send_farewell(context.payload["former"])


@handler(contact.RESET, longest=timedelta(hours=1))
def send_password_links(context: JobContext) -> None:
    """Letters with links to choose a new password."""
    contact.send_password_links(sealed=context.payload["email"], base=context.payload["base"])
