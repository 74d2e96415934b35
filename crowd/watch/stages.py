"""Stages by their keys, and the addresses of their pages."""

from collections.abc import Iterable

from django.db.models import OuterRef, Subquery
from django.urls import reverse

from core.projects.models import Event
from crowd.models import Stage


def named(keys: Iterable[int]) -> list[Stage]:
    """These stages with their projects, in one query; none where there is no key."""
    found = list(keys)
    if not found:
        return []
    return list(Stage.objects.filter(pk__in=found).select_related("project", "endpoint").order_by("pk"))


def at(page: str, stage: Stage) -> str:
    """Path of a page of a stage."""
    return reverse(f"desk:{page}", args=[stage.project.slug, stage.slug])


def last_action() -> Subquery:
    """What the event log says last of each stage of a query; publishing notes there that money ended it."""
    events = Event.objects.filter(project=OuterRef("project"), subject=OuterRef("slug")).order_by("-pk")
    return Subquery(events.values("action")[:1])
