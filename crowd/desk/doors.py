"""Doors of the desk: a view behind one gets the project with the person's role in it, or does not run.

Viewers look, managers work, owners also set budgets, name members and spend real money. To everybody else a
project does not exist.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.contrib.messages.storage.base import BaseStorage
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from accounts import security
from crowd.desk import panels
from crowd.errors import CrowdError
from crowd.models import Stage
from crowd.selectors.cached_figures import BeingCountedError, NotMadeError, oldest_on_page, page
from projects.models import Membership, Project
from projects.selectors import project_for, projects_of
from projects.services import ProjectError
from revisions.forms import RevisedForm

Role = Membership.Role
#: When a program should ask again for figures that are being counted, or that could not be counted.
_LOOK_AGAIN_SECONDS, _TRY_AGAIN_SECONDS = 2, 60
View = Callable[..., HttpResponseBase]


class NotEnteredError(Exception):
    """A form with something missing or wrong, in words; for forms of one or two fields."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Somebody at a project, and what they may do there."""

    user: User
    project: Project
    role: str

    @property
    def manager(self) -> bool:
        """Is a manager or an owner, also of a project in which nothing is collected."""
        return self.role != Role.VIEWER

    @property
    def manages(self) -> bool:
        """May work: change stages, decide about submissions. Nobody does in a read-only project."""
        return self.manager and not self.project.read_only

    @property
    def owns(self) -> bool:
        """May also set budgets and name members."""
        return self.role == Role.OWNER


@dataclass(frozen=True, slots=True)
class StageSeat(Seat):
    """Somebody at a stage of a project."""

    stage: Stage

    @property
    def spends(self) -> bool:
        """May commit new money here: managers where it is play money, owners where it is real."""
        return self.owns or (self.manages and not self.stage.endpoint.real_money)


def may_have_projects(user: User) -> bool:
    """Staff and members see the list of projects; to others there is no such page."""
    return user.is_staff or projects_of(user).exists()


def has_projects(user: User) -> bool:
    """Whether there is a project for this person; staff begin there too, then."""
    return projects_of(user).exists()


def for_members(view: View) -> View:
    """The view gets a user who is staff or a member of some project."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        user = request.user
        if not isinstance(user, User) or not may_have_projects(user):
            raise Http404("Projects are for their members.")
        return view(request, user, **parts)

    return guarded


def on_project(at_least: str = Role.VIEWER) -> Callable[[View], View]:
    """The view gets a `Seat` at the project that the address names."""

    def door(view: View) -> View:
        @login_required
        @wraps(view)
        def guarded(request: HttpRequest, *, project: str, **parts: Any) -> HttpResponseBase:
            assert isinstance(request.user, User)
            try:
                found, role = project_for(request.user, project, at_least=at_least)
            except Http404:
                security.log("role.refused", project=project, path=request.path)
                raise
            seat = Seat(request.user, found, role)
            if request.method not in {"GET", "HEAD"}:
                return view(request, seat, **parts)
            try:
                with page():
                    return view(request, seat, **parts)
            except (BeingCountedError, NotMadeError) as error:
                return _show_counting(request, seat, error)

        return guarded

    return door


def on_stage(at_least: str = Role.VIEWER, *, spends: bool = False) -> Callable[[View], View]:
    """The view gets a `StageSeat`; with `spends`, only somebody who may commit new money here passes."""

    def door(view: View) -> View:
        @on_project(at_least)
        @wraps(view)
        def guarded(request: HttpRequest, seat: Seat, *, stage: str, **parts: Any) -> HttpResponseBase:
            row = get_object_or_404(
                Stage.objects.select_related("project", "endpoint"), project=seat.project, slug=stage
            )
            at = StageSeat(seat.user, seat.project, seat.role, row)
            if spends and not at.spends:
                security.log("role.refused", project=seat.project.slug, path=request.path)
                raise Http404("Spending real money is for owners.")
            return view(request, at, **parts)

        return guarded

    return door


def _show_counting(request: HttpRequest, seat: Seat, error: BeingCountedError | NotMadeError) -> HttpResponse:
    """A page that opens by itself as soon as its figures are there, or says why they cannot be.

    Its status is 202, so that scripts that refresh a part of a page leave that part as it is; 429 in place of
    a file, and 500 where counting failed. Proxies take a host that answers 503 for one that is down.
    """
    is_file = not request.path.endswith("/") or request.GET.get("format") == "csv"
    if isinstance(error, NotMadeError):
        answer = show(request, "counting.html", seat, status=500, failed=str(error))
        answer["Retry-After"] = str(_TRY_AGAIN_SECONDS)
    else:
        status = 429 if is_file else 202
        answer = show(request, "counting.html", seat, status=status, seconds=error.seconds)
        answer["Retry-After"] = str(_LOOK_AGAIN_SECONDS)
    notes = messages.get_messages(request)
    assert isinstance(notes, BaseStorage)
    notes.used = False  # the page that was asked for shows them too
    answer["Cache-Control"] = "no-store"
    return answer


def run_action(
    request: HttpRequest, action: Callable[[], str], then: str, *names: Any, other: str | None = None
) -> HttpResponse:
    """Do something, say in a note how it went, and show a page: `then`, or `other` where it could not be."""
    try:
        messages.success(request, action())
    except (CrowdError, ProjectError, NotEnteredError) as error:
        messages.error(request, str(error))
        return redirect(other or then, *names)
    return redirect(then, *names)


def show(
    request: HttpRequest,
    template: str,
    seat: Seat | None = None,
    *,
    folder: str = "desk",
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """A page of the desk; rooms above have templates in a folder of their own."""
    assert isinstance(request.user, User)
    own: dict[str, Any] = {"seat": seat, "project": seat.project if seat else None}
    own["figures_at"] = oldest_on_page  # called at the end of the page, when all its figures are there
    if seat is not None:
        own["project_tabs"] = panels.project_tabs(seat.project)
    if isinstance(seat, StageSeat):
        row = seat.stage
        own |= {"stage": row, "left_cents": row.budget_cents - row.reserved_cents - row.spent_cents}
        own["stage_tabs"] = panels.stage_tabs(seat.project, row.kind, row.slug)
    return render(request, f"{folder}/{template}", own | context, status=status)


def show_conflict(
    request: HttpRequest, seat: Seat, form: RevisedForm, theirs: RevisedForm, back: str
) -> HttpResponse:
    """The page for a small form whose row somebody else changed first; large forms show it on their own."""
    form.compare(theirs, back)
    return show(request, "conflict.html", seat, form=form, status=409)


def posted(view: View) -> View:
    """Only POST: nothing is changed by looking."""
    return require_POST(view)
