"""What notices add to other apps: rules about jobs and webhooks, types of events, and letters to accounts."""

from core.accounts.emails import LetterSender
from core.extensions import Extension
from core.notices.conditions import RULE, WEBHOOK_RULE
from core.notices.letters import plan_letter
from core.notices.services import EVENT_TYPES

EXTENSION = Extension(RULE, WEBHOOK_RULE, *EVENT_TYPES, LetterSender(plan_letter))
