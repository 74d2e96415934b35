"""Lists of releases: of one project, and of all that somebody may see."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from crowd.desk import tables
from crowd.desk.doors import Seat, for_members, on_project, show
from projects.selectors import projects_of
from releases import selectors
from releases.models import Release
from tables.grids import page_of

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
def listing(request: HttpRequest, seat: Seat) -> HttpResponse:
    """A project's releases."""
    found = _chosen(selectors.releases_of(seat.project), request)
    return show(request, "list.html", seat, folder=FOLDER, tab="releases", **found)


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponse:
    """The releases of all projects that somebody is a member of."""
    found = _chosen(selectors.releases_in(projects_of(user)), request)
    return show(request, "everywhere.html", folder=FOLDER, rail="releases", **found)
