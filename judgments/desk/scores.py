"""The desk's table of scores, and its download."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.files.cells import cell, csv_text
from crowd.desk.access import StageAccess, on_stage
from crowd.models import Stage
from judgments.desk.agreement import FOLDER, judging_only
from judgments.desk.downloads import signature
from judgments.models import FilterRun
from judgments.selectors import scores as selectors
from judgments.selectors.live import in_force
from judgments.selectors.ratings import stamp_for_pages
from judgments.selectors.scores import random_scores_caution
from web.cache import cached_rows
from web.pages import show
from web.tables import Choices, Column, Grid, GridRequest, page_of

#: Its file begins with a signature and has columns of its own.
SCORES = Grid(
    "scores",
    columns=(
        Column("query", "Answer", by="query"),
        Column("system", "System"),
        Column("mean", "Mean", by="mean", down=True, number=True),
        Column("sd", "SD", by="sd", down=True, number=True),
        Column("n", "Judgments", by="n_kept", number=True),
        Column("median", "Median", number=True),
        Column("trimmed", "Trimmed", number=True),
        Column("adjusted", "Adjusted", number=True),
    ),
    order="mean",
    aliases={"best": "mean", "worst": "-mean", "disputed": "sd", "fewest": "n"},
)

_COLUMNS = (
    "candidate", "query_key", "query", "system", "answer", "n_raw", "n_kept", "mean", "sd", "median",
    "trimmed_mean", "score_adjusted", "simulated",
)  # fmt: skip


@require_safe
@on_stage()
def scores(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The table; sorted, filtered and paged by the address."""
    judging_only(access)
    run, rows, asked = _rows(request, access)
    page = page_of(rows, request, cached_rows)
    return show(
        request,
        "scores.html",
        access,
        folder=FOLDER,
        tab="scores",
        run=run,
        page=page,
        rows=selectors.with_candidates(list(page.object_list)),
        grid=asked,
        target=access.stage.redundancy,
        simulated_caution=random_scores_caution(access.stage),
    )


def _rows(request: HttpRequest, access: StageAccess) -> tuple[FilterRun | None, Any, GridRequest]:
    """The scores that an address asks for: of the filters in force, or else from all judgments."""
    systems = {name: name for name in selectors.systems(access.stage)}
    by_system = Choices("system", "System", {"": "All systems", **systems}, tabs=True)
    asked = SCORES.asked(
        request.GET,
        by_system,
        file_at=reverse("judgments:scores_csv", args=[access.project.slug, access.stage.slug]),
    )
    run, order, system, down = in_force(access.stage), asked.column.name, asked["system"], asked.descending
    if run is not None:
        return run, selectors.kept_scores(run, order, system, down=down), asked
    rows = selectors.raw_scores(access.stage, stamp_for_pages(access.stage), order, system, down=down)
    return None, rows, asked


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
    for some in selectors.written_scores(rows):
        simulated = selectors.find_simulated(stage, (row[0] for row in some))
        marks = {True: "true", False: "false"}
        yield csv_text((row[0], *map(cell, row[1:5]), *row[5:], marks[row[0] in simulated]) for row in some)
