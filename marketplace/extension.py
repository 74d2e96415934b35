"""What the marketplace adds to other apps: types of events that webhooks of requesters tell of."""

from core.extensions import Extension
from marketplace import webhook_steps, webhooks

EXTENSION = Extension(*webhooks.EVENT_TYPES, *webhook_steps.EVENT_TYPES, *webhook_steps.WATCHES)
