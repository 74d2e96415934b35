"""A release with an evaluation that is its leaderboard."""

from typing import Any

from django.utils import timezone

from core.projects.models import Project
from evaluations.models import Evaluation
from releases.models import Release
from tests.evaluations.reports import make_report
from tests.releases.shelf_world import make_project, make_release


def make_evaluation(release: Release, report: dict[str, Any] | None = None, **fields: Any) -> Evaluation:
    """A finished evaluation of the release."""
    now = timezone.now()
    given = {"state": Evaluation.State.READY, "created_at": now, "finished_at": now, **fields}
    number = release.evaluations.count() + 1
    return Evaluation.objects.create(release=release, number=number, report=report or make_report(), **given)


def make_board(
    report: dict[str, Any] | None = None, project: Project | None = None, **fields: Any
) -> Evaluation:
    """The leaderboard of release 1.0.0 of the project "capitals"; `fields` are of the release."""
    release = make_release(project or make_project(), **fields)
    return make_evaluation(release, report, leaderboard=True)
