"""Who may see a page of the desk: its view gets the project with the person's role in it, or does not run.

Viewers look, managers work, owners also set budgets, name members and spend real money. To everybody else a
project does not exist.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from core.accounts import security
from core.projects.models import Membership, Project
from core.projects.selectors import may_have_projects, may_make_projects, project_for
from web.cache import page_figures
from web.pages import date_file

Role = Membership.Role
View = Callable[..., HttpResponseBase]


@dataclass(frozen=True, slots=True)
class ProjectAccess:
    """A person at a project, and what they may do there."""

    user: User
    project: Project
    role: str
    frame: ClassVar[str] = "desk/project_base.html"

    def address(self, name: str, *more: object) -> str:
        """An address of the project's pages."""
        return reverse(name, args=[self.project.slug, *more])

    @property
    def manager(self) -> bool:
        """Is a manager or an owner, also of a project in which nothing is collected."""
        return self.role != Role.VIEWER

    @property
    def manages(self) -> bool:
        """May work: change stages, decide about submissions. In a read-only project no role does."""
        return self.manager and not self.project.read_only

    @property
    def owns(self) -> bool:
        """May also set budgets and name members."""
        return self.role == Role.OWNER

    def page_context(self) -> dict[str, Any]:
        """What the frame around a page of the project shows."""
        return {"project": self.project}


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


def for_makers(view: View) -> View:
    """The view gets a user who may make projects."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponseBase:
        user = request.user
        if not isinstance(user, User) or not may_make_projects(user):
            security.log("role.refused", path=request.path)
            raise Http404("Making projects needs a right that this account lacks.")
        return view(request, user, **parts)

    return guarded


def on_project(at_least: str = Role.VIEWER) -> Callable[[View], View]:
    """The view gets the `ProjectAccess` of the person to the project that the address names."""

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def guarded(request: HttpRequest, *, project: str, **parts: Any) -> HttpResponseBase:
            assert isinstance(request.user, User)
            try:
                project_row, role = project_for(request.user, project, at_least=at_least)
            except Http404:
                security.log("role.refused", project=project, path=request.path)
                raise
            access = ProjectAccess(request.user, project_row, role)
            if request.method not in {"GET", "HEAD"}:
                return view(request, access, **parts)
            with page_figures():
                return date_file(view(request, access, **parts))

        return guarded

    return decorate
