"""Operations of the API about requesters: the list, their webhooks, their audit log."""

from marketplace.api import audit, requesters, webhooks

RESOURCES = (requesters.requesters, webhooks.webhooks, audit.audit)
