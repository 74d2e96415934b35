"""What notices add to other apps: rules about jobs and webhooks, and types of events for webhooks."""

from core.extensions import Extension
from core.notices.conditions import RULE
from core.notices.webhook_events import EVENT_TYPES
from core.notices.webhook_rule import WEBHOOK_RULE

EXTENSION = Extension(RULE, WEBHOOK_RULE, *EVENT_TYPES)
