"""Tables of the marketplace, grouped by what they are about."""

from marketplace.models.log import CallLog, Chaos, TestClock, TokenUse
from marketplace.models.money import Bonus, LedgerEntry
from marketplace.models.people import Block, Invitation, Message, Requester, Worker
from marketplace.models.qualifications import QualificationGrant, QualificationType
from marketplace.models.work import HIT, HITType, Holding, Place

__all__ = [
    "HIT",
    "Block",
    "Bonus",
    "CallLog",
    "Chaos",
    "HITType",
    "Holding",
    "Invitation",
    "LedgerEntry",
    "Message",
    "Place",
    "QualificationGrant",
    "QualificationType",
    "Requester",
    "TestClock",
    "TokenUse",
    "Worker",
]
