"""Closing a project whose work is over, and opening it again.

In a closed project nothing new is asked of people: no stage is made, opened or reopened. Everything else
goes on: work that is on its way comes in and is paid, and people look, decide, filter, release and evaluate.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone

from core.accounts import security
from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError, StageStateError
from crowd.models import Stage

_NAMED = 5


def why_closed(project: Project) -> str:
    """Why nothing new is asked in a project, as a sentence; empty where it is not closed."""
    if project.closed_at is None:
        return ""
    return f"The project {project.slug!r} was closed on {project.closed_at:%-d %b %Y}. Reopen it first."


def lock_open_project(project: Project) -> None:
    """Keep a project from being closed until the transaction ends; StageStateError where it is closed."""
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if why := why_closed(row):
        raise StageStateError(why)


@transaction.atomic
def close_project(*, project: Project, actor: Any = None, why: str = "") -> Project:
    """Close a project whose stages are drafts or closed; CrowdError names the others."""
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if row.closed_at is not None:
        raise CrowdError("The project is closed already.")
    living = Stage.objects.filter(project=row, status__in=(Stage.Status.OPEN, Stage.Status.PAUSED))
    slugs = list(living.order_by("slug").values_list("slug", flat=True)[: _NAMED + 1])
    if slugs:
        more = " and others" if len(slugs) > _NAMED else ""
        raise CrowdError(f"Close these stages first: {', '.join(slugs[:_NAMED])}{more}.")
    _set(row, timezone.now(), "project.closed", actor, why)
    return row


@transaction.atomic
def reopen_project(*, project: Project, actor: Any = None, why: str = "") -> Project:
    """Let stages be made and opened again; no stage is opened by this."""
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if row.closed_at is None:
        raise CrowdError("The project is not closed.")
    _set(row, None, "project.reopened", actor, why)
    return row


def _set(row: Project, closed_at: Any, action: str, actor: Any, why: str) -> None:
    row.closed_at = closed_at
    row.save(update_fields=["closed_at"])
    details = {"why": why} if why else {}
    record(project=row, action=action, subject=row.slug, actor=actor, details=details)
    security.log(action, project=row.slug)
