"""What the page of a finished evaluation shows."""

from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse

from evaluations.models import Evaluation
from evaluations.report_page import shown
from web.access import ProjectAccess

_WORDS = {
    "report.html": "this page for people elsewhere: one file, no network",
    "report.json": "all figures, signatures, seeds and versions",
    "scores.csv": "every answer with its human score and all metrics",
    "table.tex": "the main table for a paper",
}


def context(request: HttpRequest, access: ProjectAccess, evaluation: Evaluation) -> dict[str, Any]:
    """The report as it was drawn; files; and where the leaderboard is."""
    other = (
        Evaluation.objects.filter(release=evaluation.release, leaderboard=True)
        .exclude(pk=evaluation.pk)
        .values_list("number", flat=True)
        .first()
    )
    return {
        "shown": shown(evaluation),
        "files": [(each, _WORDS.get(str(each["name"]), "")) for each in evaluation.files],
        "board_address": board_address(request, evaluation),
        "other_board": other,
    }


def board_address(request: HttpRequest, evaluation: Evaluation) -> str:
    """Where everybody finds the leaderboard of the release."""
    release = evaluation.release
    try:
        path = reverse("leaderboards:page", args=[release.project.slug, release.version])
    except NoReverseMatch:
        return ""
    return request.build_absolute_uri(path)
