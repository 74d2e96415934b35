"""Operations of the API about requesters: the list, batches, webhooks, audit log, study links, texts."""

from marketplace.api import audit, batches, members, requesters, rosters, studylinks, texts, webhooks

RESOURCES = (
    requesters.requesters,
    members.members,
    batches.batches,
    webhooks.webhooks,
    audit.audit,
    studylinks.links,
    rosters.rosters,
    texts.texts,
)
