"""One evaluation: progress, report, files, actions."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.jobs.models import Job, JobState
from evaluations import selectors, services, storage
from evaluations.desk.listing import FOLDER, TAB
from evaluations.models import Evaluation
from evaluations.plans import plan_of
from evaluations.report.desk_part import shown
from evaluations.services import begin_again
from releases import download_files
from web.access import ProjectAccess, Role, on_project
from web.forms import run_action
from web.pages import show

_WORDS = {
    "report.html": "this page for people elsewhere: one file, no network",
    "report.json": "all figures, signatures, seeds and versions",
    "scores.csv": "every answer with its human score and all metrics",
    "table.tex": "the main table for a paper",
    "reference-curve.csv": "correlation by the number of references",
    "differences.csv": "answers that metrics and people rank most differently",
    "sweep.csv": "correlation by the weight of a bonus",
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


PAGE = "evaluations:one"


def find_evaluation(access: ProjectAccess, version: str, number: int) -> Evaluation:
    """The evaluation of this number of a release."""
    rows = Evaluation.objects.select_related("release", "created_by").defer("release__manifest")
    evaluation: Evaluation = get_object_or_404(
        rows, release__project=access.project, release__version=version, number=number
    )
    evaluation.release.project = access.project
    return evaluation


@require_safe
@on_project()
def page(request: HttpRequest, access: ProjectAccess, *, version: str, number: int) -> HttpResponse:
    """One evaluation: its report, or how far it is."""
    evaluation = find_evaluation(access, version, number)
    about: dict[str, Any] = {
        "evaluation": evaluation,
        "release": evaluation.release,
        "plan": plan_of(evaluation.plan),
    }
    if evaluation.state != Evaluation.State.READY:
        job = selectors.job_of(evaluation)
        return show(
            request, "unfinished.html", access, folder=FOLDER, tab=TAB, **about, **_progress(evaluation, job)
        )
    pass

    return show(
        request,
        "one.html",
        access,
        folder=FOLDER,
        tab=TAB,
        **about,
        **context(request, access, evaluation),
    )


@require_safe
@never_cache
@on_project()
def live(request: HttpRequest, access: ProjectAccess, *, version: str, number: int) -> HttpResponse:
    """The part of the page that changes by itself while it is computed."""
    evaluation = find_evaluation(access, version, number)
    job = selectors.job_of(evaluation)
    return show(
        request,
        "parts/live.html",
        access,
        folder=FOLDER,
        evaluation=evaluation,
        release=evaluation.release,
        **_progress(evaluation, job),
    )


def _progress(evaluation: Evaluation, job: Job | None) -> dict[str, Any]:
    stuck = services.stuck(evaluation, job)
    return {
        "job": job,
        "done": evaluation.state == Evaluation.State.READY,
        "over": stuck or evaluation.state in Evaluation.OVER,
        "cancelled": evaluation.state == Evaluation.State.CANCELLED,
        "why": evaluation.why or (job.error if job is not None and job.state == JobState.FAILED else ""),
    }


@require_POST
@on_project(Role.MANAGER)
def cancel(request: HttpRequest, access: ProjectAccess, *, version: str, number: int) -> HttpResponse:
    """End it."""

    def action() -> str:
        services.cancel(evaluation=find_evaluation(access, version, number), actor=access.user)
        return "The evaluation was cancelled. Nothing of it is kept."

    return run_action(request, action, PAGE, access.project.slug, version, number)


@require_POST
@on_project(Role.MANAGER)
def again(request: HttpRequest, access: ProjectAccess, *, version: str, number: int) -> HttpResponse:
    """Compute it once more."""

    def action() -> str:
        evaluation = find_evaluation(access, version, number)
        if services.stuck(evaluation, selectors.job_of(evaluation)):
            services.fail(evaluation=evaluation, why="Its worker stopped.")
        begin_again(evaluation=evaluation, actor=access.user)
        return "The evaluation has begun again."

    return run_action(request, action, PAGE, access.project.slug, version, number)


@require_POST
@on_project(Role.OWNER)
def show_board(request: HttpRequest, access: ProjectAccess, *, version: str, number: int) -> HttpResponse:
    """Make it the release's public leaderboard."""

    def action() -> str:
        services.show_evaluation(evaluation=find_evaluation(access, version, number), actor=access.user)
        return f"Release {version} has a public leaderboard. Everybody who has its address can read it."

    return run_action(request, action, PAGE, access.project.slug, version, number)


@require_POST
@on_project(Role.OWNER)
def hide_board(request: HttpRequest, access: ProjectAccess, *, version: str, number: int) -> HttpResponse:
    """Take the public leaderboard away."""

    def action() -> str:
        services.hide(evaluation=find_evaluation(access, version, number), actor=access.user)
        return f"Release {version} has no public leaderboard any more."

    return run_action(request, action, PAGE, access.project.slug, version, number)


@require_safe
@on_project()
def file(
    request: HttpRequest, access: ProjectAccess, *, version: str, number: int, path: str
) -> HttpResponseBase:
    """One of its files."""
    evaluation = find_evaluation(access, version, number)
    listed = next((each for each in evaluation.files if each.get("name") == path), None)
    if listed is None:
        raise Http404("The evaluation has no such file.")
    etag = f'"{listed["sha256"]}"'
    if download_files.has_current_copy(request, etag):
        return download_files.not_modified(etag)
    try:
        part = download_files.wanted_part(request, etag, int(listed["bytes"]))
    except download_files.OutsideError:
        return download_files.outside_range(int(listed["bytes"]), etag)
    return download_files.send(
        request,
        opened=lambda: storage.open_at(evaluation, path),
        part=part,
        name=f"{access.project.slug}-{version}-evaluation-{number}-{path}",
        etag=etag,
    )
