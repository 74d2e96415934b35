"""Evaluations of a project and of everybody's projects, as lists."""

from operator import attrgetter
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from core.projects.selectors import projects_of
from evaluations import selectors
from evaluations.models import Evaluation
from evaluations.plans import plan_of
from evaluations.selectors import state_of
from web.access import ProjectAccess, for_members, on_project
from web.table_pages import respond
from web.tables import Choices, Column, Grid, GridRequest, Words

STATES = {
    "all": "All",
    "ready": "Ready",
    "open": "Being computed",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def names_of(evaluation: Evaluation) -> list[str]:
    """Its metrics and external scores, as its plan has them; empty: those of the profile."""
    plan = plan_of(evaluation.plan)
    return [*plan.metrics, *(each.name for each in plan.external)]


def _version(evaluation: Evaluation) -> str:
    return evaluation.release.version


def _project(evaluation: Evaluation) -> str:
    return evaluation.release.project.slug


def _person(evaluation: Evaluation) -> str:
    return evaluation.created_by.get_username() if evaluation.created_by else ""


def _words(evaluation: Evaluation) -> str:
    return state_of(evaluation)


def _profile(evaluation: Evaluation) -> Any:
    return evaluation.plan.get("profile", "")


_OWN = (
    Column("number", "No.", attrgetter("number"), by="number", down=True),
    Column("title", "Title", attrgetter("title"), on_page=False),
    Column("release", "Release", _version, by="release_id", down=True),
    Column("state", "State", _words, by="state"),
    Column("profile", "Profile", _profile),
    Column("metrics", "Metrics", names_of),
    Column("best", "Best metric", attrgetter("best"), by="best"),
    Column("pearson", "Its Pearson", attrgetter("best_value"), by="best_value", down=True, number=True,
           gaps=True),
    Column("leaderboard", "Leaderboard", attrgetter("leaderboard"), on_page=False),
    Column("by", "By", _person, by="created_by__username"),
    Column("begun", "Begun", attrgetter("created_at"), by="created_at", down=True),
    Column("finished", "Finished", attrgetter("finished_at"), on_page=False),
)  # fmt: skip
_STATE = Choices("state", "State of the evaluations", STATES, tabs=True)
EVALUATIONS = Grid(
    "evaluations", columns=_OWN, order="begun", filters=(_STATE, Words("q", "Title or metric"))
)
EVERYWHERE = Grid(
    "evaluations",
    columns=(Column("project", "Project", _project, by="release__project__slug"), *_OWN),
    order="begun",
    filters=(_STATE, Words("q", "Title or metric")),
)


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
