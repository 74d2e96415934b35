"""The report inside the page of the desk: drawn once by the job, for drawing its plots takes seconds."""

from django.conf import settings
from django.core.cache import cache
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from core.files.atomic import Write
from evaluations import plot_points, storage
from evaluations.models import Evaluation
from evaluations.reporting.page import page_with
from evaluations.reporting.points import NONE, Points
from evaluations.reporting.reader import Report
from evaluations.reporting.report_views import context_of
from judgments.reporting.writer import text_of

_PART = "evaluations/parts/report.html"
_SECONDS = 3_600


def file_name() -> str:
    """What this version of the program draws; another version draws again."""
    return f"shown-{settings.DISTILLERY_VERSION}.html"


def pages(report: Report, points: Points) -> dict[str, Write]:
    """The report as a page that stands alone and as a part of the desk's; its plots are drawn once."""
    context = context_of(report, points)
    return {
        "report.html": text_of(page_with(context)),
        file_name(): text_of(render_to_string(_PART, context)),
    }


def shown(evaluation: Evaluation) -> SafeString:
    """The drawn report: as the job left it, or drawn now and remembered for a while."""
    try:
        with storage.open_at(evaluation, file_name()) as file:
            # Our own templates wrote it, with every text of the data escaped.
            return SafeString(file.read().decode())
    except FileNotFoundError:
        key = f"evaluation-shown:{evaluation.pk}:{settings.DISTILLERY_VERSION}"
        return SafeString(
            cache.get_or_set(key, lambda: drawn(evaluation.report, _points(evaluation)), _SECONDS)
        )


def drawn(report: Report, points: Points) -> str:
    """Sentence, tables and plots as HTML."""
    return render_to_string(_PART, context_of(report, points))


def _points(evaluation: Evaluation) -> Points:
    try:
        with storage.open_at(evaluation, plot_points.FILE) as file:
            return plot_points.points_in(file)
    except FileNotFoundError:
        return NONE
