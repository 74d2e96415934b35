"""Events of HITs and assignments as they happen: signals within the installation, messages to webhooks."""

from datetime import datetime

from django.dispatch import Signal

from core.origin import Owner
from core.webhooks.events import asks_for, emit
from marketplace.models import HIT

# What webhooks of requesters are told.

_REQUESTER = Owner.Kind.REQUESTER
#: Types of events of HITs and assignments, by the names that notifications of the protocol have for them.
_OF_HITS = {
    "AssignmentAccepted": "assignment.accepted",
    "AssignmentSubmitted": "assignment.submitted",
    "AssignmentReturned": "assignment.returned",
    "AssignmentAbandoned": "assignment.abandoned",
    "AssignmentApproved": "assignment.approved",
    "AssignmentRejected": "assignment.rejected",
    "HITReviewable": "hit.reviewable",
    "HITExpired": "hit.expired",
}
#: Types for which a HIT has to be looked at when an answer comes or its life ends.
_FOLLOWED = frozenset({"assignment.submitted", "hit.reviewable", "hit.expired"})


def follows_hits(requester: int) -> bool:
    """Whether a webhook of this requester wants to hear what becomes of its HITs."""
    return asks_for(Owner(_REQUESTER, requester), _FOLLOWED)


def tell_of_hit(event_type: str, hit: HIT, *, at: datetime, assignment_id: str = "") -> None:
    """Write messages about a HIT or assignment, in the transaction of what happened. No worker is named."""
    name = _OF_HITS.get(event_type)
    if name is None:
        return
    data = {"hit": hit.hit_id, "assignment": assignment_id} if assignment_id else {"hit": hit.hit_id}
    emit(Owner(_REQUESTER, hit.requester_id), name, data, at=at)


# Signals, sent inside the transaction of what happened.

#: A worker's answer was recorded; `holding` is its row. Sender: Holding.
answer_submitted = Signal()
