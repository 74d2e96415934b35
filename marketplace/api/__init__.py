"""Operations of the API about requesters: the list, their webhooks, audit log and study links."""

from marketplace.api import audit, requesters, studylinks, webhooks

RESOURCES = (requesters.requesters, webhooks.webhooks, audit.audit, studylinks.links)
