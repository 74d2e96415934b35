"""What notices are told to webhooks as, in the transaction in which they are raised."""

from core.notices.models import Notice
from core.origin import Owner
from core.webhooks.events import EventType, emit, page_address

EVENT_TYPES = (
    EventType("budget.low", "Less than a tenth of a budget is left", Owner.Kind.PROJECT),
    EventType("budget.reached", "A budget is used up", Owner.Kind.PROJECT),
    EventType("decision.needed", "Something needs a decision", Owner.Kind.PROJECT),
    EventType("job.failed", "A job failed", Owner.Kind.PROJECT),
)
#: Kinds of notices with a type of their own; other warnings and alarms need a decision.
_TYPES = {
    "budget_low": "budget.low",
    "budget_reached": "budget.reached",
    "job_failed": "job.failed",
    "release_failed": "job.failed",
    "evaluation_failed": "job.failed",
}
#: The kind of notices about webhooks themselves.
DISABLED = "webhook_disabled"


def tell_webhooks(notice: Notice) -> int:
    """Write messages about a notice that was just raised; how many."""
    project = notice.project_id
    if project is None or notice.kind == DISABLED:
        return 0
    event_type = _TYPES.get(notice.kind)
    if event_type is None:
        if notice.level == Notice.Level.NEWS:
            return 0
        event_type = "decision.needed"
    return emit(Owner(Owner.Kind.PROJECT, project), event_type, lambda: _data(notice), at=notice.raised_at)


def _data(notice: Notice) -> dict[str, object]:
    project = notice.project
    data = {"project": project.slug if project else "", "notice": notice.pk, "kind": notice.kind}
    return data | {"address": page_address(notice.address)} if notice.address else data
