"""The desk's tables of judges and of their scores, and a page for each judge."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from core.files.cells import cell, csv_text
from core.money import dollars
from core.projects.selectors import projects_of
from crowd.access import StageAccess, on_stage
from crowd.desk.forms import ReasonForm
from crowd.models import Exclusion, Stage, Worker
from crowd.services.review import exclude_from_project, exclude_worker
from judgments.desk.agreement import FOLDER, judging_only
from judgments.desk.downloads import signature
from judgments.desk.overview import KINDS_OF_JUDGES
from judgments.models import FilterRun
from judgments.questionnaire.people import PersonField, fields_of_person
from judgments.selectors import judges as listing
from judgments.selectors import scores as selectors
from judgments.selectors.judges import (
    Judge,
    check_answers,
    histogram,
    judgments_of,
    record,
    time_plot,
    verdicts,
    with_verdicts,
)
from judgments.selectors.live import in_force
from judgments.selectors.ratings import scale_of, stamp_of
from judgments.selectors.scores import random_scores_caution
from web.access import Role
from web.cells import NONE, Cell, Link, chip, isolated, link, more, several
from web.forms import read_form, run_action
from web.kit import Empty, Facts, Listing, Note, Page, Table
from web.pages import show, show_table
from web.tables import Choices, Column, Grid, GridRequest, Words, page_of


def _ranked(value: Any) -> Any:
    """Judges with few judgments come last, whatever is sorted by."""
    return lambda row: value(row) if row.enough else None


def _failed_share(row: Judge) -> float | None:
    return row.failed / row.presented if row.presented else None


def _pay(row: Judge) -> str | None:
    return None if row.per_hour is None else dollars(row.per_hour)


JUDGES = Grid(
    "judges",
    columns=(
        Column("judge", "Judge", "name", by="name", key=_ranked(attrgetter("name"))),
        Column("simulated", "Simulated", on_page=False),
        Column("ratings", "Judgments", by="n", down=True, key=_ranked(attrgetter("ratings"))),
        Column("fastest", "Median time", "seconds", by="s", key=_ranked(attrgetter("seconds"))),
        Column("kappa", "Kappa", by="kappa", key=_ranked(attrgetter("kappa"))),
        Column("kappa_n", "Kappa of", on_page=False),
        Column("presented", "Checks shown", on_page=False),
        Column("failed", "Checks failed", on_page=False),
        Column("checks", "Checks passed", None, by="checks", down=True, key=_ranked(_failed_share)),
        Column(
            "removed",
            "Removed",
            "removed_share",
            by="removed",
            down=True,
            key=_ranked(attrgetter("removed_share")),
        ),
        Column("verdict", "Rule", on_page=False),
        Column("pay", "Pay per hour", _pay, by="pay", down=True, key=_ranked(attrgetter("per_hour"))),
        Column("flags", "Flags"),
        Column("excluded", "Excluded", on_page=False),
    ),
    filters=(Choices("show", "Which judges", listing.SHOWN, tabs=True), Words("q", "Judge")),
    order="kappa",
)

JUDGE = "judgments:judge"
_CHECKS = 50


@require_safe
@on_stage()
def judges(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The table; sorted, filtered and paged by the address."""
    _with_judges_only(access)
    everybody = listing.judges(access.stage)

    def rows(grid: GridRequest) -> list[Judge]:
        return listing.filter_judges(everybody, grid["show"], grid["q"])

    return show_table(
        request,
        access,
        JUDGES,
        rows,
        "judges.html",
        folder=FOLDER,
        file=f"{access.stage.slug}-judges",
        rows_as="page",
        about=lambda page_rows: {
            "ranked": [row for row in page_rows if row.enough],
            "few": [row for row in page_rows if not row.enough],
        },
        tab="judges",
        anybody=bool(everybody),
        enough=listing.ENOUGH,
    )


def _worker(access: StageAccess, pk: int) -> Worker:
    """Somebody who judged in this stage; others of the marketplace are nobody's business here."""
    _with_judges_only(access)
    work = "judgments" if access.stage.kind == "judging" else "unit_responses"
    row: Worker = get_object_or_404(
        Worker.objects.filter(**{f"{work}__stage": access.stage}).distinct(), pk=pk
    )
    return row


def _with_judges_only(access: StageAccess) -> None:
    """Stages of other kinds have nobody who judges."""
    if access.stage.kind not in KINDS_OF_JUDGES:
        raise Http404("Only judging stages and questionnaires have this page.")


@require_safe
@on_stage()
def judge(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """One judge: figures, plots, checks, what they said, their record, and what can be done."""
    worker = _worker(access, pk)
    stage = access.stage
    if stage.kind == "questionnaire":
        return show(request, _answering_page(access, worker), access, tab="judges")
    rows = page_of(judgments_of(stage, worker), request)
    return show(
        request,
        "judge.html",
        access,
        folder=FOLDER,
        tab="judges",
        worker=worker,
        figures=next((row for row in listing.judges(stage) if row.worker == worker.pk), None),
        plot=time_plot(stage, worker),
        histogram=histogram(stage, worker),
        verdicts=verdicts(stage, worker),
        scale=scale_of(stage),
        checks=check_answers(stage, worker)[:_CHECKS],
        page=rows,
        rows=with_verdicts(stage, list(rows.object_list)),
        record=record(worker, projects_of(access.user)),
        exclusion=Exclusion.objects.filter(worker=worker, scope=f"stage:{stage.pk}").first(),
        stage_form=ReasonForm(auto_id="stage_%s"),
        project_form=ReasonForm(auto_id="project_%s"),
    )


def _answering_page(access: StageAccess, worker: Worker) -> Page:
    """What somebody answered to a questionnaire, field by field."""
    rows = fields_of_person(access.stage, worker)
    figures = next((row for row in listing.judges(access.stage) if row.worker == worker.pk), None)
    parts: list[Any] = [
        Note(f"Removed by the filters in force: {each.reason}", "warning")
        for each in verdicts(access.stage, worker)
        if each.removes
    ]
    if figures is not None:
        passed = f"{figures.presented - figures.failed} of {figures.presented}"
        facts = [("Responses", f"{figures.ratings:,}"), ("Checks passed", passed)]
        parts.append(Facts([*facts, ("Removed", f"{figures.removed:,}")], look="facts"))
    parts.append(Table("Fields", _FIELD_COLUMNS, rows, heading="Fields"))
    parts.append(
        Note(
            "Kappa: against all others together, quadratic where values have an order. Agreement: the mean "
            "share of the others who said the same. All fields of a response are one piece of work."
        )
    )
    for each in rows:
        if each.histogram:
            heading = f"{each.field.label} ({each.field.name})"
            parts.append(Table(heading, _SHARE_COLUMNS, each.histogram, heading=heading))
    trail = Link("Their work, messages and pay", access.address("desk:worker", worker.pk))
    return Page(f"Worker {worker.external_id}", parts, lead=(trail, "."))


def _figure(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def _kappa(row: PersonField) -> str:
    return f"{_figure(row.kappa)} of {row.kappa_n:,}" if row.kappa_n else NONE


_FIELD_COLUMNS = (
    Column("field", "Field", "field.name", head=True),
    Column("answers", "Answers", number=True),
    Column("kappa", "Kappa with the others", _kappa, number=True),
    Column("agreement", "Agreement", lambda row: _figure(row.agreement), number=True),
    Column(
        "gold", "Gold right", lambda row: f"{row.right} of {row.known}" if row.known else NONE, number=True
    ),
)
_SHARE_COLUMNS = (
    Column("value", "Value", "score", head=True),
    Column("count", "Answers", number=True),
    Column("mine", "This person", lambda row: f"{row.mine:.0f} %", number=True),
    Column("crowd", "All", lambda row: f"{row.crowd:.0f} %", number=True),
)


@require_POST
@on_stage(Role.MANAGER)
def exclude(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Bar a judge from the stage, or from all stages of the project."""

    def action() -> str:
        worker = _worker(access, pk)
        reason = read_form(ReasonForm(request.POST))["reason"]
        if request.POST.get("from") == "project":
            count = exclude_from_project(
                worker=worker, project=access.project, reason=reason, actor=access.user
            )
            return f"Excluded from {count} {'stage' if count == 1 else 'stages'} of the project."
        exclude_worker(worker=worker, stage=access.stage, reason=reason, actor=access.user)
        return "Excluded from this stage. What they did stays, and is paid."

    return run_action(request, action, JUDGE, access.project.slug, access.stage.slug, pk)


#: Its file begins with a signature and has columns of its own.
def _draw_answer(cell: Cell) -> object:
    candidate = cell.row.candidate
    address = reverse("judgments:candidate", args=[cell.access.project.slug, cell.row.candidate_id])
    return several(link(candidate.query.text, address, most=90), more(isolated(candidate.text, most=140)))


def _draw_mean(cell: Cell) -> object:
    return "no judgment is kept" if cell.value is None else f"{cell.value:.2f}"


def _draw_kept(cell: Cell) -> object:
    row = cell.row
    few = row.n_kept < cell.access.stage.redundancy and chip("few", "wait")
    return several(f"{row.n_kept}", row.n_kept != row.n_raw and f"of {row.n_raw}", few)


#: Their file has columns of its own.
SCORES = Grid(
    "scores",
    columns=(
        Column("query", "Answer", None, by="query", cell=_draw_answer),
        Column("system", "System", "candidate.system.name"),
        Column("mean", "Mean", by="mean", down=True, number=True, cell=_draw_mean),
        Column("sd", "SD", by="sd", down=True, number=True),
        Column("n", "Judgments", "n_kept", by="n_kept", number=True, cell=_draw_kept),
        Column("median", "Median", number=True),
        Column("trimmed", "Trimmed", number=True),
        Column("adjusted", "Adjusted", number=True),
    ),
    order="mean",
    aliases={"best": "mean", "worst": "-mean", "disputed": "sd", "fewest": "n"},
)

_COLUMNS = (
    "candidate", "query_key", "query", "system", "answer", "n_raw", "n_kept", "mean", "sd", "median",
    "trimmed_mean", "score_adjusted", "simulated", "comments"
)  # fmt: skip


@require_safe
@on_stage()
def scores(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The table; sorted, filtered and paged by the address."""
    judging_only(access)
    run, rows, grid = _rows(request, access)
    page = page_of(rows, request)
    page.object_list = selectors.with_candidates(list(page.object_list))
    caution = random_scores_caution(access.stage)
    filters = access.address("judgments:filters")
    none = (
        "From all judgments: no filters are in force. The adjusted score comes with ",
        Link("filters", filters),
    )
    lead: Any = (*none, ".")
    if run:
        lead = ("After the filters ", Link(run.summary.get("title") or run.recipe, filters), ", applied ")
        lead = (*lead, run.created_at, ".")
    words = "Every answer gets a score with its first judgment. Judgments come in while the stage is open."
    note = (
        "Mean of the kept judgments; SD of a sample; trimmed: without the lowest and highest 20 %; adjusted: "
        "without what each judge's habit adds (ITU-T P.913, 12.6). “Few” is below the "
        f"{access.stage.redundancy} wanted."
    )
    listing_part = Listing(
        "Which scores to show", "answer", "answers", Empty("No scores yet", words), note=note
    )
    parts = [Note(caution, "warning"), listing_part] if caution else [listing_part]
    return show(request, Page("Scores", parts, lead=lead), access, tab="scores", rows=page, grid=grid)


def _rows(request: HttpRequest, access: StageAccess) -> tuple[FilterRun | None, Any, GridRequest]:
    """The scores that an address asks for: of the filters in force, or else from all judgments."""
    systems = {name: name for name in selectors.systems(access.stage)}
    by_system = Choices("system", "System", {"": "All systems", **systems}, tabs=True)
    grid = SCORES.read_request(
        request.GET,
        by_system,
        file_at=reverse("judgments:scores_csv", args=[access.project.slug, access.stage.slug]),
    )
    run, order, system, down = in_force(access.stage), grid.column.name, grid["system"], grid.descending
    if run is not None:
        return run, selectors.kept_scores(run, order, system, down=down), grid
    rows = selectors.raw_scores(access.stage, stamp_of(access.stage), order, system, down=down)
    return None, rows, grid


@require_safe
@on_stage()
def scores_csv(request: HttpRequest, access: StageAccess) -> StreamingHttpResponse:
    """What the table shows on all its pages, as CSV."""
    judging_only(access)
    run, rows, _ = _rows(request, access)
    answer = StreamingHttpResponse(_lines(access.stage, run, rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{access.stage.slug}-scores.csv"'
    return answer


def _lines(stage: Stage, run: FilterRun | None, rows: Any) -> Iterator[str]:
    title = run.summary.get("title", run.recipe) if run else "none"
    yield f"# {signature('mean-of-kept', recipe=title, sd='sample', trimmed=0.2, adjusted='p913-12.6')}\n"
    yield csv_text([_COLUMNS])
    for batch in selectors.written_scores(rows):
        simulated = selectors.find_simulated(stage, (row[0] for row in batch))
        comments = selectors.comments_on(stage, [row[0] for row in batch])
        marks = {True: "true", False: "false"}
        yield csv_text(
            (
                row[0],
                *map(cell, row[1:5]),
                *row[5:],
                marks[row[0] in simulated],
                cell(" | ".join(comments.get(row[0], []))),
            )
            for row in batch
        )
