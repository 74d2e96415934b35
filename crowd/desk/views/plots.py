"""Plots of a stage's page, to take along."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from crowd.desk.access import StageAccess, on_stage
from crowd.desk.chart import count_hours
from crowd.selectors.stage_status import standing
from web import chart_files
from web.charts import charts


@require_safe
@on_stage()
def submissions(request: HttpRequest, access: StageAccess, *, form: str) -> HttpResponse:
    """Submissions per hour of the last three days."""
    hours = count_hours(standing(access.stage).progress.per_hour, timezone.now())
    rows = [{"hour": f"{hour.at:%Y-%m-%dT%H:%M:%SZ}", "submissions": hour.count} for hour in hours]
    says = f"{sum(hour.count for hour in hours):,} submissions over {len(hours)} hours."
    plot = charts.submissions(rows, says=says, signature="submissions-per-hour|time=UTC")
    return chart_files.answer(request, plot, f"{access.stage.slug}-submissions", form)
