"""The tour of the demonstration in templates."""

from typing import Any

from django import template
from django.template import Context

from core.projects.models import Project
from distillery.demo.tour import HIDDEN, tour_of

register = template.Library()


@register.inclusion_tag("demo/tour.html", takes_context=True)
def tour(context: Context) -> dict[str, Any]:
    """The tour on pages of the demonstration's projects; nothing elsewhere."""
    project, request = context.get("project"), context.get("request")
    if request is None or not isinstance(project, Project):
        return {}
    found = tour_of(project, request.path)
    if found is None:
        return {}
    return {
        "tour": found,
        "hidden": bool(request.session.get(HIDDEN)),
        "path": request.path,
        "csrf_token": context.get("csrf_token"),
    }
