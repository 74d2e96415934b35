"""Emptying a marketplace under test. Only test controls call this."""

from django.db import transaction
from django.db.models import F

from marketplace.models import (
    HIT,
    Activity,
    Batch,
    BatchTask,
    Block,
    Bonus,
    CallLog,
    HITType,
    Holding,
    Invoice,
    LedgerEntry,
    Letter,
    Message,
    Payable,
    Place,
    QualificationType,
    Queue,
    QueuedEvent,
    Requester,
    Template,
    TokenUse,
    Worker,
)

_WORK = (
    *(Invoice, Payable, Bonus, Holding, Place, BatchTask, HIT, Batch, Template, HITType),
    *(QualificationType, Block, Message, Letter, QueuedEvent, Queue, TokenUse, CallLog, Activity),
)


@transaction.atomic
def wipe_work() -> None:
    """Delete all work and what it moved; requesters, workers, their keys and their deposits stay."""
    LedgerEntry.objects.exclude(kind=LedgerEntry.Kind.DEPOSIT).delete()
    for table in _WORK:
        table.objects.all().delete()
    Requester.objects.update(available_cents=F("deposited_cents"), held_cents=0, paid_cents=0, fees_cents=0)
    Worker.objects.update(
        submitted_count=0, approved_count=0, rejected_count=0, returned_count=0, abandoned_count=0
    )
