"""Evaluations on the desk: lists of one project and of all that one may see, comparisons, and each one."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import NoReverseMatch, reverse
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.jobs.models import Job, JobState
from core.projects.selectors import projects_of
from crowd.desk import tables
from evaluations import selectors, services, storage, table_evaluation
from evaluations.models import Evaluation
from evaluations.plans import plan_of
from evaluations.report.model import FIGURES, Report, figure, read_report
from evaluations.report.page import context_of, file_name, part_with
from evaluations.report.protocols import Figure
from evaluations.selectors import state_of
from evaluations.services import begin_again
from evaluations.table_evaluation import NONE, Points
from releases import download_files
from web import cells
from web.access import ProjectAccess, Role, for_members, on_project
from web.cells import Cell, Link, chip, isolated, link, several
from web.forms import run_action
from web.kit import Empty, Listing, Page
from web.pages import show, show_table
from web.tables import Choices, Column, Grid, GridRequest, Words, count_column

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


def _describe_state(evaluation: Evaluation) -> str:
    return state_of(evaluation)


def _profile(evaluation: Evaluation) -> Any:
    return evaluation.plan.get("profile", "")


_LOOKS = {
    Evaluation.State.READY: ("Ready", "good"),
    Evaluation.State.RUNNING: ("Running", "wait"),
    Evaluation.State.PLANNED: ("Waiting", "wait"),
    Evaluation.State.FAILED: ("Failed", "bad"),
    Evaluation.State.CANCELLED: ("Cancelled", ""),
}
#: Names of metrics in a row.
_NAMED = 6


def _address(name: str, evaluation: Evaluation, *more: object) -> str:
    return reverse(name, args=[evaluation.release.project.slug, *more])


def _draw_project(cell: Cell) -> object:
    return link(cell.row.release.project.title, _address("evaluations:list", cell.row), most=60)


def _draw_number(cell: Cell) -> object:
    row = cell.row
    address = _address("evaluations:one", row, row.release.version, row.number)
    return link(f"No.\N{NO-BREAK SPACE}{row.number} {row.title}".strip(), address)


def _draw_release(cell: Cell) -> object:
    return link(cell.value, _address("releases:release", cell.row, cell.value))


def _draw_state(cell: Cell) -> object:
    row = cell.row
    marks = (row.leaderboard and chip("Leaderboard"), row.release.simulated and chip("Simulated", "wait"))
    return several(chip(*_LOOKS[row.state]), *marks)


def _draw_names(cell: Cell) -> object:
    names = cell.row.names
    if not names:
        return "those of the profile"
    first = several(*(isolated(each, mono=True, most=30) for each in names[:_NAMED]), between=", ")
    return several(first, len(names) > _NAMED and f"and {len(names) - _NAMED} more")


def _draw_best(cell: Cell) -> object:
    return cells.NONE if cell.value is None else f"{cell.value:.3f}"


_OWN = (
    Column("number", "No.", by="number", down=True, head=True, cell=_draw_number),
    Column("title", "Title", on_page=False),
    Column("release", "Release", _version, by="release_id", down=True, cell=_draw_release),
    Column("state", "State", _describe_state, by="state", cell=_draw_state),
    Column("profile", "Profile", _profile, cell=cells.mono),
    Column("metrics", "Metrics", names_of, cell=_draw_names),
    Column("best", "Best metric", by="best", cell=cells.mono),
    count_column("pearson", "Its Pearson", "best_value", "best_value", gaps=True, cell=_draw_best),
    Column("leaderboard", "Leaderboard", on_page=False),
    Column("by", "By", _person, by="created_by__username"),
    Column("begun", "Begun", "created_at", by="created_at", down=True),
    Column("finished", "Finished", "finished_at", on_page=False),
)
_STATE = Choices("state", "State of the evaluations", STATES, tabs=True)
EVALUATIONS = Grid(
    "evaluations", columns=_OWN, order="begun", filters=(_STATE, Words("q", "Title or metric"))
)
EVERYWHERE = Grid(
    "evaluations",
    columns=(Column("project", "Project", _project, by="release__project__slug", cell=_draw_project), *_OWN),
    order="begun",
    filters=(_STATE, Words("q", "Title or metric")),
)


FOLDER, TAB = "evaluations", "evaluations"
_MOST_RELEASES = 200


def _narrowed(rows: QuerySet[Evaluation], grid: GridRequest) -> QuerySet[Evaluation]:
    state, search = grid["state"], grid["q"]
    if state == "open":
        rows = rows.filter(state__in=Evaluation.OPEN)
    elif state != "all":
        rows = rows.filter(state=state)
    if search:
        rows = rows.filter(Q(title__icontains=search) | Q(best__icontains=search))
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

    def rows(grid: GridRequest) -> QuerySet[Evaluation]:
        evaluations = _narrowed(selectors.evaluations_of(access.project), grid)
        return (
            evaluations if grid["release"] == "all" else evaluations.filter(release__version=grid["release"])
        )

    return show_table(
        request,
        access,
        EVALUATIONS,
        rows,
        _describe_list(access, ready=bool(versions)),
        complete=_with_names,
        more_filters=[release],
        file=f"{access.project.slug}-evaluations",
        tab=TAB,
    )


_SCORES = (
    "An evaluation scores the answers of systems with automatic metrics and says how well each metric "
    "agrees with the people of a release: correlations with intervals, pairs in the right order, and "
    "which of two metrics is better beyond chance. "
)


def _describe_list(access: ProjectAccess, *, ready: bool) -> Page:
    new = Link("New evaluation", access.address("evaluations:new"))
    release = Link("Make a release first", access.address("releases:list"))
    needs = ("It needs a release with human scores. ", access.manager and release)
    begin = Link("Make the first evaluation", new.address) if access.manager and ready else None
    ask = not access.manager and "A manager of the project can make the first one."
    empty = Empty("No evaluation yet", (_SCORES, *(() if ready else needs), ask), begin)
    return Page(
        "Evaluations",
        [Listing("Find an evaluation", "evaluation", "evaluations", empty)],
        primary=[
            Link("Compare two", access.address("evaluations:compare"), plain=True),
            Link("Scores from elsewhere", access.address("evaluations:external"), plain=True),
            Link("Models of learned metrics", reverse("evaluations:models"), plain=True),
            *([new] if access.manager and ready else []),
        ],
    )


@require_safe
@for_members
def everywhere(request: HttpRequest, user: User) -> HttpResponseBase:
    """The evaluations of all projects that somebody is a member of."""
    begin = "Open a project with a release and its tab Evaluations: there metrics are compared with people."
    empty = Empty("No evaluation yet", begin, Link("Projects", reverse("desk:projects")))
    models = Link("Models of learned metrics", reverse("evaluations:models"))
    page = Page(
        "Evaluations",
        [Listing("Find an evaluation", "evaluation", "evaluations", empty)],
        lead=("Which metric agrees with people, in all your projects. ", models),
    )

    def rows(grid: GridRequest) -> QuerySet[Evaluation]:
        return _narrowed(selectors.evaluations_in(projects_of(user)), grid)

    return show_table(request, None, EVERYWHERE, rows, page, complete=_with_names, sidebar=TAB)


# Two evaluations side by side: the same metric in both, the difference, whether the intervals overlap.

#: Evaluations of which two can be compared: the newest.
_MOST_COMPARED = 200


@dataclass(frozen=True, slots=True)
class MetricPair:
    """A metric in both evaluations. `overlap` is None where one of the intervals is missing."""

    name: str
    first: Figure
    second: Figure
    same_signature: bool

    @property
    def difference(self) -> float | None:
        """The second minus the first."""
        if self.first.value is None or self.second.value is None:
            return None
        return self.second.value - self.first.value

    @property
    def overlap(self) -> bool | None:
        """The 95 % intervals have a value in common."""
        ends = (self.first.low, self.first.high, self.second.low, self.second.high)
        if any(end is None for end in ends):
            return None
        low, high, other_low, other_high = (end for end in ends if end is not None)
        return low <= other_high and other_low <= high


def beside(first: Report, second: Report, key: str) -> list[MetricPair]:
    """Metrics of two reports in the order of the first, then those that only the second has."""
    a, b = first.metrics, second.metrics
    names = [*a, *(name for name in b if name not in a)]
    return [
        MetricPair(
            name,
            figure(a.get(name), key),
            figure(b.get(name), key),
            name not in a or name not in b or a[name].signature == b[name].signature,
        )
        for name in names
    ]


@require_safe
@on_project()
def compare(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Two of a project's finished evaluations, by `a` and `b` in the address, and a figure, by `figure`."""
    ready = list(
        selectors.evaluations_of(access.project).filter(state=Evaluation.State.READY)[:_MOST_COMPARED]
    )
    first, second = _pair(ready, request)
    key = tables.choice(request, "figure", FIGURES)
    stored = Evaluation.objects.filter(pk__in={each.pk for each in (first, second) if each})
    reports = {pk: read_report(report) for pk, report in stored.values_list("pk", "report")}
    rows = beside(reports[first.pk], reports[second.pk], key.chosen) if first and second else []
    return show(
        request,
        "compare.html",
        access,
        folder=FOLDER,
        tab=TAB,
        ready=ready,
        first=first,
        second=second,
        key=key,
        words=key.options[key.chosen],
        rows=rows,
        other_release=bool(first and second and first.release_id != second.release_id),
        other_signature=any(not row.same_signature for row in rows),
    )


def _pair(ready: list[Evaluation], request: HttpRequest) -> tuple[Evaluation | None, Evaluation | None]:
    """The two that the address names; without names the two newest."""
    by_key = {str(each.pk): each for each in ready}
    for name in ("a", "b"):
        if request.GET.get(name) and request.GET[name] not in by_key:
            raise Http404("There is no such evaluation to compare.")
    second = by_key.get(request.GET.get("b", "")) or next(iter(ready), None)
    others = [each for each in ready if each is not second]
    first = by_key.get(request.GET.get("a", "")) or next(iter(others), None)
    return first, second


# One evaluation: the drawn report as a part of its page, progress, files, actions.

_SECONDS = 3_600


def show_report(evaluation: Evaluation) -> SafeString:
    """The drawn report: as the job left it, or drawn now and remembered for a while."""
    try:
        with storage.open_at(evaluation, file_name()) as file:
            # Our own templates wrote it, with every text of the data escaped.
            return SafeString(file.read().decode())
    except FileNotFoundError:
        key = f"evaluation-shown:{evaluation.pk}:{settings.DISTILLERY_VERSION}"
        return SafeString(cache.get_or_set(key, lambda: _render_report(evaluation), _SECONDS))


def _render_report(evaluation: Evaluation) -> str:
    return part_with(context_of(read_report(evaluation.report), _points(evaluation)))


def _points(evaluation: Evaluation) -> Points:
    try:
        with storage.open_at(evaluation, table_evaluation.POINTS_FILE) as file:
            return table_evaluation.points_in(file)
    except FileNotFoundError:
        return NONE


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
        "shown": show_report(evaluation),
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
        request, "one.html", access, folder=FOLDER, tab=TAB, **about, **context(request, access, evaluation)
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
        return "The evaluation was cancelled. No results were kept."

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
    entry = next((each for each in evaluation.files if each.get("name") == path), None)
    if entry is None:
        raise Http404("The evaluation has no such file.")
    etag = f'"{entry["sha256"]}"'
    if download_files.has_current_copy(request, etag):
        return download_files.not_modified(etag)
    try:
        part = download_files.wanted_part(request, etag, int(entry["bytes"]))
    except download_files.OutsideError:
        return download_files.outside_range(int(entry["bytes"]), etag)
    return download_files.send(
        request,
        opened=lambda: storage.open_at(evaluation, path),
        part=part,
        name=f"{access.project.slug}-{version}-evaluation-{number}-{path}",
        etag=etag,
    )
