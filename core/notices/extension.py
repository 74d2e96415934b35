"""What notices add to other apps: rules about jobs and webhooks, types of events, and letters to accounts."""

from core.accounts.emails import LetterSender
from core.extensions import Extension
from core.notices.conditions import RULE
from core.notices.letters import plan_letter
from core.notices.webhook_events import EVENT_TYPES
from core.notices.webhook_rule import WEBHOOK_RULE

EXTENSION = Extension(RULE, WEBHOOK_RULE, *EVENT_TYPES, LetterSender(plan_letter))
