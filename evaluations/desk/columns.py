"""The table of evaluations: its columns, filters and orders."""

from operator import attrgetter
from typing import Any

from evaluations.models import Evaluation
from evaluations.plans import plan_of
from evaluations.texts import state_of
from web.tables import Choices, Column, Grid, Words

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
