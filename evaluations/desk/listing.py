"""Lists of evaluations: of one project, and of all that somebody may see."""

from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from core.projects.selectors import projects_of
from evaluations import selectors
from evaluations.desk.columns import EVALUATIONS, EVERYWHERE, names_of
from evaluations.models import Evaluation
from web.access import ProjectAccess, for_members, on_project
from web.table_pages import respond
from web.tables import Choices, GridRequest

FOLDER, TAB = "evaluations", "evaluations"
_MOST_RELEASES = 200


def _narrowed(rows: QuerySet[Evaluation], asked: GridRequest) -> QuerySet[Evaluation]:
    state, words = asked["state"], asked["q"]
    if state == "open":
        rows = rows.filter(state__in=Evaluation.OPEN)
    elif state != "all":
        rows = rows.filter(state=state)
    if words:
        rows = rows.filter(Q(title__icontains=words) | Q(best__icontains=words))
    return rows


def _with_names(rows: list[Any]) -> list[Any]:
    """Rows with the names of their metrics, at most a few of them."""
    for row in rows:
        row.names = names_of(row)
    return rows


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """A project's evaluations."""
    versions = list(
        selectors.releases_to_evaluate(access.project).values_list("version", flat=True)[:_MOST_RELEASES]
    )
    release = Choices("release", "Release", {"all": "All", **{version: version for version in versions}})

    def rows(asked: GridRequest) -> QuerySet[Evaluation]:
        found = _narrowed(selectors.evaluations_of(access.project), asked)
        return found if asked["release"] == "all" else found.filter(release__version=asked["release"])

    return respond(
        request,
        access,
        EVALUATIONS,
        rows,
        "list.html",
        complete=_with_names,
        more_filters=[release],
        folder=FOLDER,
        file=f"{access.project.slug}-evaluations",
        rows_as="evaluations",
        tab=TAB,
        anything_to_evaluate=bool(versions),
    )


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponseBase:
    """The evaluations of all projects that somebody is a member of."""
    return respond(
        request,
        None,
        EVERYWHERE,
        lambda asked: _narrowed(selectors.evaluations_in(projects_of(user)), asked),
        "everywhere.html",
        complete=_with_names,
        folder=FOLDER,
        rows_as="evaluations",
        sidebar=TAB,
    )
