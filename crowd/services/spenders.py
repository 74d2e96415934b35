"""Who may spend from an endpoint: given to a project or a person, and taken away; see `crowd.rights`."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from core.accounts import security
from core.projects.models import Project
from core.projects.services import record
from crowd.models import Endpoint, EndpointSpender, Stage
from crowd.rights import acting_person, may_spend, refuse_unless_operator
from crowd.services.stages import pause_stage
from crowd.sources import has_source


@transaction.atomic
def allow_spending(
    *, endpoint: Endpoint, project: Project | None = None, user: User | None = None, actor: Any = None
) -> EndpointSpender:
    """Let a project, or a person where they work, spend from an endpoint; done again, nothing changes."""
    refuse_unless_operator()
    row, is_new = EndpointSpender.objects.get_or_create(
        endpoint=endpoint,
        project=project,
        user=user,
        defaults={"given_by": acting_person(actor), "created_at": timezone.now()},
    )
    if is_new:
        _note("endpoint.allowed", row, actor)
    return row


@transaction.atomic
def disallow_spending(*, row: EndpointSpender, actor: Any = None) -> int:
    """Take the right away, and pause the stages that had it by this row alone; how many.

    What is on offer stays on offer and is collected and paid.
    """
    refuse_unless_operator()
    EndpointSpender.objects.filter(pk=row.pk).delete()
    _note("endpoint.disallowed", row, actor)
    rows = Stage.objects.filter(has_source(row.endpoint_id), status=Stage.Status.OPEN).distinct()
    mine = rows.filter(project=row.project) if row.project else rows.filter(opened_by=row.user)
    count = 0
    for stage in mine.select_related("project", "opened_by").order_by("pk"):
        opener = stage.opened_by
        if opener is None or not may_spend(row.endpoint, stage.project, opener):
            why = f"The right to spend from {row.endpoint.label} was taken away."
            pause_stage(stage=stage, actor=acting_person(actor), why=why)
            count += 1
    return count


def _note(event: str, row: EndpointSpender, actor: Any) -> None:
    holder = row.project.slug if row.project else row.user.get_username() if row.user else ""
    security.log(event, endpoint=row.endpoint.name, subject=holder)
    if row.project:
        record(project=row.project, action=event, subject=row.endpoint.name, actor=acting_person(actor))
