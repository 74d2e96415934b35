"""The tour of the demonstration: a few steps in words over the pages of its campaigns.

An event marks a project as the demonstration's and says where each step lies. Other installations ask for it
nowhere: the tour is there only in the processes of `manage.py demo`.
"""

import fcntl
import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django import template
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.management.base import CommandError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from core.projects.models import Event, Project
from core.projects.services import record

# Where the demonstration lives: a data folder of its own, which every run starts again.
#
# Settings are read once per process, so the command starts itself again inside that folder. What the run
# before left is kept beside it as `demo-previous`. A database given by DATABASE_URL is added to and never
# emptied.

#: Set inside the demonstration's own process: when the command was started, in seconds since 1970.
STARTED = "DISTILLERY_DEMO_STARTED"
#: Settings of an installation that others reach under a name; a demonstration is for one's own machine.
ELSEWHERE = {
    "ALLOWED_HOSTS",
    "BEHIND_TLS_PROXY",
    "CSRF_TRUSTED_ORIGINS",
    "DATA_STORAGE",
    "EMAIL_HOST",
    "EMAIL_URL",
    "PUBLIC_URL",
    "RELEASES_STORAGE",
    "TASK_URL",
    "WEB_BIND",
}


def started_at() -> float | None:
    """When the command was started, once it runs in the demonstration's folder; before that None."""
    value = os.environ.get(STARTED)
    return float(value) if value else None


def enter() -> None:
    """Take the folder `demo` of the data folder and start the command again with its settings; never returns.

    Raises CommandError where another demonstration is using the folder.
    """
    folder = settings.DATA_DIR / "demo"
    _hold(folder.with_suffix(".lock"))
    if "DATABASE_URL" not in os.environ and folder.exists():
        previous = folder.with_name("demo-previous")
        shutil.rmtree(previous, ignore_errors=True)
        folder.rename(previous)
    kept = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    environment = {**kept, "DATA_DIR": str(folder), STARTED: str(time.time())}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 - this program again


def _hold(lock: Path) -> None:
    """Lock the folder until this process, and the command it becomes, has ended."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CommandError(
            f"A demonstration is already running in {lock.with_suffix('')}. Stop it first, with Ctrl-C."
        ) from error
    os.set_inheritable(descriptor, True)


ACTION = "demo.made"
#: In a session: the person does not want to see it.
HIDDEN = "demo_tour_hidden"


@dataclass(frozen=True, slots=True)
class Step:
    """A page of the tour and what to see there; `here` where one is on it."""

    number: int
    label: str
    words: str
    address: str
    here: bool


@dataclass(frozen=True, slots=True)
class Tour:
    """All steps, and the two that matter now."""

    steps: tuple[Step, ...]
    here: Step | None
    following: Step | None


@dataclass(frozen=True, slots=True)
class _Stop:
    """A step before its address is known. `campaign` is the project's part in the demonstration."""

    label: str
    words: str
    url_name: str
    campaign: str
    stage: str = ""


_STOPS = (
    _Stop(
        "Overview",
        "A campaign that is finished. The funnel says what became of the queries at each step; each "
        "number opens the list behind it.",
        "desk:project",
        "finished",
    ),
    _Stop(
        "Queries",
        "Everything that was imported, with its status and the reason. A query's page has its whole history.",
        "annotation:queries",
        "finished",
    ),
    _Stop(
        "Work in progress",
        "The second campaign is in the middle of its work. What waits for a person comes first.",
        "desk:project",
        "middle",
    ),
    _Stop(
        "Adjudication",
        "Editors were of two minds about these queries. Decide one: accept it, or exclude it with a reason.",
        "annotation:adjudication",
        "middle",
    ),
    _Stop(
        "Answers",
        "Several people answered each query. Flags say what to look at and remove nothing; you approve, ask "
        "for a rewrite, or exclude.",
        "annotation:answers",
        "middle",
        "distillation",
    ),
    _Stop(
        "Agreement",
        "Judges scored two systems' answers. The report says how far they agree, before and after the "
        "filters, with intervals.",
        "judgments:agreement",
        "finished",
        "judging",
    ),
    _Stop(
        "Filters",
        "What removed whom, and why. A filter deletes nothing: it can be undone, and others were "
        "asked in place of those removed.",
        "judgments:filters",
        "finished",
        "judging",
    ),
    _Stop(
        "People from three places",
        "A study link, a panel and the own marketplace worked on one study. Open its link in a private "
        "window: no account is needed, and this page counts you.",
        "people:links",
        "sources",
    ),
    _Stop(
        "Release",
        "The data set that lasts: files with checksums, a data card, every format. Download it, or "
        "compare it with the next one.",
        "releases:list",
        "finished",
    ),
    _Stop(
        "Evaluation",
        "What the data are made for: which metric agrees with people, with intervals, tests and plots; and "
        "the public leaderboard.",
        "evaluations:list",
        "finished",
    ),
)


def mark(*, finished: Project, middle: Project, sources: Project, actor: object) -> None:
    """Note in the campaigns that the demonstration made them, so that the tour is shown there."""
    for project in (finished, middle, sources):
        record(
            project=project,
            action=ACTION,
            subject=project.slug,
            actor=actor,
            details={"finished": finished.slug, "middle": middle.slug, "sources": sources.slug},
        )


def tour_of(project: Project, path: str) -> Tour | None:
    """The tour as a page at `path` shows it; None where the project is not the demonstration's."""
    if started_at() is None:
        return None
    event = Event.objects.filter(project=project, action=ACTION).order_by("pk").first()
    if event is None:
        return None
    found = [(stop, _address(stop, event.details)) for stop in _STOPS]
    steps = tuple(
        Step(number, stop.label, stop.words, address, address == path)
        for number, (stop, address) in enumerate(((stop, to) for stop, to in found if to), 1)
    )
    here = next((step for step in steps if step.here), None)
    following = steps[here.number % len(steps)] if here else steps[0]
    return Tour(steps, here, following)


def _address(stop: _Stop, slugs: Mapping[str, str]) -> str:
    """Where it lies; empty where this installation has no such page, or the demonstration no such part."""
    if stop.campaign not in slugs:
        return ""
    parts = [slugs[stop.campaign], *([stop.stage] if stop.stage else [])]
    try:
        return reverse(stop.url_name, args=parts)
    except NoReverseMatch:
        return ""


# The template tag `tour`, a library of the settings, and the switch that hides the tour.

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


@require_POST
@login_required
def switch_tour(request: HttpRequest) -> HttpResponseBase:
    """Hide the tour, or show it again, for as long as the person is logged in."""
    request.session[HIDDEN] = request.POST.get("show") != "1"
    back = request.POST.get("next", "")
    ours = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
    return redirect(back if ours else "desk:projects")
