"""The desk's table of scores, and its download."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from crowd.desk.doors import StageSeat, on_stage, show
from crowd.models import Stage
from crowd.selectors.cached_figures import kept_rows
from judgments.desk.agreement import FOLDER, judging_only
from judgments.desk.columns import SCORES
from judgments.desk.downloads import signature
from judgments.models import FilterRun
from judgments.selectors import scores as selectors
from judgments.selectors.live import in_force
from judgments.selectors.simulated_scores import random_scores_caution
from judgments.selectors.stamps import stamp_for_pages
from tables.cells import cell, csv_text
from tables.grids import Choices, GridRequest, page_of

_COLUMNS = (
    "candidate", "query_key", "query", "system", "answer", "n_raw", "n_kept", "mean", "sd", "median",
    "trimmed_mean", "score_adjusted", "simulated",
)  # fmt: skip


@require_safe
@on_stage()
def scores(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """The table; sorted, filtered and paged by the address."""
    judging_only(seat)
    run, rows, asked = _rows(request, seat)
    page = page_of(rows, request, kept_rows)
    return show(
        request,
        "scores.html",
        seat,
        folder=FOLDER,
        tab="scores",
        run=run,
        page=page,
        rows=selectors.with_candidates(list(page.object_list)),
        grid=asked,
        target=seat.stage.redundancy,
        simulated_caution=random_scores_caution(seat.stage),
    )


def _rows(request: HttpRequest, seat: StageSeat) -> tuple[FilterRun | None, Any, GridRequest]:
    """The scores that an address asks for: of the filters in force, or else from all judgments."""
    systems = {name: name for name in selectors.systems(seat.stage)}
    by_system = Choices("system", "System", {"": "All systems", **systems}, tabs=True)
    asked = SCORES.asked(
        request.GET,
        by_system,
        file_at=reverse("judgments:scores_csv", args=[seat.project.slug, seat.stage.slug]),
    )
    run, order, system, down = in_force(seat.stage), asked.column.name, asked["system"], asked.descending
    if run is not None:
        return run, selectors.kept_scores(run, order, system, down=down), asked
    rows = selectors.raw_scores(seat.stage, stamp_for_pages(seat.stage), order, system, down=down)
    return None, rows, asked


@require_safe
@on_stage()
def scores_csv(request: HttpRequest, seat: StageSeat) -> StreamingHttpResponse:
    """What the table shows on all its pages, as CSV."""
    judging_only(seat)
    run, rows, _ = _rows(request, seat)
    answer = StreamingHttpResponse(_lines(seat.stage, run, rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{seat.stage.slug}-scores.csv"'
    return answer


def _lines(stage: Stage, run: FilterRun | None, rows: Any) -> Iterator[str]:
    title = run.summary.get("title", run.recipe) if run else "none"
    yield f"# {signature('mean-of-kept', recipe=title, sd='sample', trimmed=0.2, adjusted='p913-12.6')}\n"
    yield csv_text([_COLUMNS])
    for some in selectors.written_scores(rows):
        simulated = selectors.find_simulated(stage, (row[0] for row in some))
        marks = {True: "true", False: "false"}
        yield csv_text((row[0], *map(cell, row[1:5]), *row[5:], marks[row[0] in simulated]) for row in some)
