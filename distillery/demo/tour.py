"""The tour of the demonstration: steps in words over the pages of its campaigns, and what is still made.

An event marks a project as the demonstration's and says where each step lies. Other installations ask for it
nowhere: the tour is there only in the processes of `manage.py demo`.
"""

import json
import os
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template import Context
from django.urls import path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from core.files.atomic import json_of, write_together
from core.projects.models import Event, Project
from core.projects.services import record

#: Set inside the demonstration's own processes: when the command was started, in seconds since 1970.
STARTED = "DISTILLERY_DEMO_STARTED"
ACTION = "demo.made"
#: In a session: the person does not want to see it.
HIDDEN = "demo_tour_hidden"
#: In the data folder, for as long as something is still coming: `step` of `steps`, and its `words`.
PROGRESS = "demo-progress.json"
STEPS = Path(__file__).with_name("tour.json")


def mark(*, actor: object, **campaigns: Project) -> None:
    """Note in the campaigns that the demonstration made them, so that the tour is shown there."""
    details = {part: project.slug for part, project in campaigns.items()}
    for project in campaigns.values():
        record(project=project, action=ACTION, subject=project.slug, actor=actor, details=details)


def tour_of(project: Project, address: str) -> dict[str, Any] | None:
    """The tour as the page at this address shows it; None where the project is not the demonstration's."""
    if STARTED not in os.environ:
        return None
    event = Event.objects.filter(project=project, action=ACTION).order_by("pk").first()
    if event is None:
        return None
    steps = json.loads(STEPS.read_text(encoding="utf-8"))
    for number, step in enumerate(steps, 1):
        place = [event.details[step["campaign"]], *filter(None, [step.get("stage")])]
        step |= {"number": number, "address": reverse(step["page"], args=place)}
    now = next((step for step in steps if step["address"] == address), None)
    return {"steps": steps, "here": now, "following": steps[now["number"] % len(steps)] if now else steps[0]}


# What is still coming: a file in the data folder, for the terminal's process tells the server's.


def tell_progress(step: int, steps: int, title: str) -> None:
    """Say what is being made, on the pages of the desk."""
    write_together({settings.DATA_DIR / PROGRESS: json_of({"step": step, "steps": steps, "words": title})})


def end_progress() -> None:
    """All is there."""
    (settings.DATA_DIR / PROGRESS).unlink(missing_ok=True)


def progress() -> dict[str, Any] | None:
    """What is being made; None where all is there."""
    if STARTED not in os.environ:
        return None
    try:
        facts: dict[str, Any] = json.loads((settings.DATA_DIR / PROGRESS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return facts


# The template tag `tour`, a library of the settings, and the pages that belong to it.

register = template.Library()


@register.inclusion_tag("demo/tour.html", takes_context=True)
def tour(context: Context) -> dict[str, Any]:
    """The tour on pages of the demonstration's projects, and what is coming on all; nothing elsewhere."""
    project, request = context.get("project"), context.get("request")
    if request is None:
        return {}
    tour_state = tour_of(project, request.path) if isinstance(project, Project) else None
    coming = progress()
    if tour_state is None and coming is None:
        return {}  # the session is not read for pages that need none
    return {
        "tour": tour_state,
        "progress": coming,
        "hidden": bool(request.session.get(HIDDEN)),
        "path": request.path,
        "csrf_token": context.get("csrf_token"),
    }


@require_safe
@login_required
def show_progress(request: HttpRequest) -> HttpResponseBase:
    """The words for a page that is open; none once all is there."""
    now = progress()
    return render(request, "demo/progress.html", {"progress": now}) if now else HttpResponse()


@require_POST
@login_required
def switch_tour(request: HttpRequest) -> HttpResponseBase:
    """Hide the tour, or show it again, for as long as the person is logged in."""
    request.session[HIDDEN] = request.POST.get("show") != "1"
    back = request.POST.get("next", "")
    ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return redirect(back if ours else "desk:projects")


app_name = "examples"
urlpatterns = [
    path("tour/", switch_tour, name="tour"),
    path("progress/", show_progress, name="progress"),
]
