"""Tables of our side of the wire."""

from crowd.models.money import LedgerEntry, MarketOperation
from crowd.models.people import Exclusion, Group, Worker
from crowd.models.recovery import DispatchEpoch, DispatchHalt
from crowd.models.stages import Endpoint, EndpointRound, Hit, HitUnit, Stage
from crowd.models.work import Assignment, Claim, Recount

__all__ = [
    "Assignment",
    "Claim",
    "DispatchEpoch",
    "DispatchHalt",
    "Endpoint",
    "EndpointRound",
    "Exclusion",
    "Group",
    "Hit",
    "HitUnit",
    "LedgerEntry",
    "MarketOperation",
    "Recount",
    "Stage",
    "Worker",
]
