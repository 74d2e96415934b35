"""The report of an evaluation as one page that needs nothing else: no script, no other file, no network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from evaluations.reporting.points import NONE, Points
from evaluations.reporting.reader import Report
from evaluations.reporting.report_views import context_of

_SHEETS = ("distillery.css", "evaluations.css")


def page_of(report: Report, points: Points = NONE) -> str:
    """The page as HTML; the templates escape texts of the data, and figures that are missing say why."""
    return page_with(context_of(report, points))


def page_with(context: Mapping[str, Any]) -> str:
    """The page of a context; plots that were drawn for another page of the same context are drawn once."""
    return render_to_string("evaluations/report.html", {**context, "sheet": sheet()})


def sheet() -> SafeString:
    """The house's style sheets, which come with the program."""
    texts = (Path(str(finders.find(name))).read_text(encoding="utf-8") for name in _SHEETS)
    return SafeString("\n".join(texts))
