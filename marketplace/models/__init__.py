"""Tables of the marketplace, grouped by what they are about."""

from marketplace.models.activity import Activity, RefusedCalls, SignedWrite
from marketplace.models.batches import Batch, BatchTask, Template
from marketplace.models.events import PolicyAction, PolicyResult, Queue, QueuedEvent
from marketplace.models.log import CallLog, Chaos, TestClock, TokenUse
from marketplace.models.money import Bonus, Deposit, Invoice, LedgerEntry, Payable
from marketplace.models.people import AccessKey, Block, Invitation, KeyAlert, Message, Requester, Worker
from marketplace.models.qualifications import QualificationGrant, QualificationRequest, QualificationType
from marketplace.models.voices import Letter, Rating
from marketplace.models.work import HIT, HITType, Holding, Place

__all__ = [
    "HIT",
    "AccessKey",
    "Activity",
    "Batch",
    "BatchTask",
    "Block",
    "Bonus",
    "CallLog",
    "Chaos",
    "Deposit",
    "HITType",
    "Holding",
    "Invitation",
    "Invoice",
    "KeyAlert",
    "LedgerEntry",
    "Letter",
    "Message",
    "Payable",
    "Place",
    "PolicyAction",
    "PolicyResult",
    "QualificationGrant",
    "QualificationRequest",
    "QualificationType",
    "Queue",
    "QueuedEvent",
    "Rating",
    "RefusedCalls",
    "Requester",
    "SignedWrite",
    "Template",
    "TestClock",
    "TokenUse",
    "Worker",
]
