"""What notices add to other apps: rules about jobs and webhooks, types of events, and letters to accounts."""

from core.accounts.emails import LetterSender
from core.extensions import Extension
from core.notices.conditions import RULE, WEBHOOK_RULE
from core.notices.letters import plan_letter
from core.origin import Owner
from core.webhooks.events import EventType

#: What webhooks of projects are told of notices; `tell_webhooks` has which notice is which.
EVENT_TYPES = (
    EventType("budget.low", "Less than a tenth of a budget is left", Owner.Kind.PROJECT),
    EventType("budget.reached", "A budget is used up", Owner.Kind.PROJECT),
    EventType("decision.needed", "Something needs a decision", Owner.Kind.PROJECT),
    EventType("job.failed", "A job failed", Owner.Kind.PROJECT),
)

EXTENSION = Extension(RULE, WEBHOOK_RULE, *EVENT_TYPES, LetterSender(plan_letter))
