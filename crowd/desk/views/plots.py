"""Plots of a stage's page, to take along."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from crowd.desk import plot_files
from crowd.desk.chart import hourly
from crowd.desk.doors import StageSeat, on_stage
from crowd.selectors.stage_status import standing
from plots import charts


@require_safe
@on_stage()
def submissions(request: HttpRequest, seat: StageSeat, *, form: str) -> HttpResponse:
    """Submissions per hour of the last three days."""
    hours = hourly(standing(seat.stage).progress.per_hour, timezone.now()).bars
    rows = [{"hour": f"{bar.hour:%Y-%m-%dT%H:%M:%SZ}", "submissions": bar.count} for bar in hours]
    says = f"{sum(bar.count for bar in hours):,} submissions over {len(hours)} hours."
    plot = charts.submissions(rows, says=says, signature="submissions-per-hour|time=UTC")
    return plot_files.answer(request, plot, f"{seat.stage.slug}-submissions", form)
