"""The drawn report of an evaluation as a part of its page on the desk."""

from django.conf import settings
from django.core.cache import cache
from django.utils.safestring import SafeString

from evaluations import storage
from evaluations.models import Evaluation
from evaluations.report import points
from evaluations.report.page import context_of, file_name, part_with
from evaluations.report.parts import read_report
from evaluations.report.points import NONE, Points

_SECONDS = 3_600


def shown(evaluation: Evaluation) -> SafeString:
    """The drawn report: as the job left it, or drawn now and remembered for a while."""
    try:
        with storage.open_at(evaluation, file_name()) as file:
            # Our own templates wrote it, with every text of the data escaped.
            return SafeString(file.read().decode())
    except FileNotFoundError:
        key = f"evaluation-shown:{evaluation.pk}:{settings.DISTILLERY_VERSION}"
        return SafeString(cache.get_or_set(key, lambda: _drawn(evaluation), _SECONDS))


def _drawn(evaluation: Evaluation) -> str:
    return part_with(context_of(read_report(evaluation.report), _points(evaluation)))


def _points(evaluation: Evaluation) -> Points:
    try:
        with storage.open_at(evaluation, points.FILE) as file:
            return points.points_in(file)
    except FileNotFoundError:
        return NONE
