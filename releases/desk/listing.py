"""Lists of releases: of one project, and of all that somebody may see."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from core.projects.selectors import projects_of
from crowd.desk import tables
from releases import selectors
from releases.models import Release
from web.access import ProjectAccess, for_members, on_project
from web.pages import show
from web.tables import page_of

FOLDER = "releases"
STATES = {
    "all": "All",
    "ready": "Ready",
    "building": "Being built",
    "failed": "Failed",
    "withdrawn": "Withdrawn",
}


def _chosen(rows: QuerySet[Release], request: HttpRequest) -> dict[str, Any]:
    """The page of the state that the address names."""
    state = tables.choice(request, "state", STATES)
    some = rows if state.chosen == "all" else rows.filter(state=state.chosen)
    page = page_of(some, request)
    return {"page": page, "state": state, "any": bool(page.paginator.count) or state.chosen != "all"}


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """A project's releases."""
    found = _chosen(selectors.releases_of(access.project), request)
    return show(request, "list.html", access, folder=FOLDER, tab="releases", **found)


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponse:
    """The releases of all projects that somebody is a member of."""
    found = _chosen(selectors.releases_in(projects_of(user)), request)
    return show(request, "everywhere.html", folder=FOLDER, sidebar="releases", **found)
