"""The notice about a webhook of a project that was disabled."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from core.notices.conditions import Condition, Rule
from core.notices.models import Notice
from core.notices.webhook_events import DISABLED
from core.origin import Owner
from core.projects.models import Project
from core.webhooks.models import Webhook


def disabled_webhooks(now: datetime) -> Iterator[Condition]:
    """Webhooks of projects that were disabled, because nothing was delivered for days."""
    rows = list(
        Webhook.objects.filter(
            owner_kind=Owner.Kind.PROJECT, state=Webhook.State.DISABLED, removed_at=None
        ).order_by("pk")
    )
    if not rows:
        return
    projects = Project.objects.filter(pk__in={row.owner_id for row in rows})
    slugs = dict(projects.values_list("pk", "slug"))
    for row in rows:
        if row.owner_id not in slugs:
            continue
        yield Condition(
            row.owner_id,
            DISABLED,
            f"webhook:{row.pk}",
            Notice.Level.WARNING,
            f"The webhook {row.name} was disabled: {row.why_disabled}"[:300],
            reverse("desk:webhook", args=[slugs[row.owner_id], row.pk]),
        )


WEBHOOK_RULE = Rule("webhooks", disabled_webhooks, kinds=(DISABLED,))
