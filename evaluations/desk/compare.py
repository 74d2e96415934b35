"""Two evaluations side by side: the same metric in both, the difference, whether the intervals overlap."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from crowd.desk import tables
from evaluations import selectors
from evaluations.desk.listing import FOLDER, TAB
from evaluations.models import Evaluation
from evaluations.report.figures import Figure
from evaluations.report.model import FIGURES, figure
from evaluations.report.parts import Report, read_report
from web.access import ProjectAccess, on_project
from web.pages import show

_MOST = 200


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
    ready = list(selectors.evaluations_of(access.project).filter(state=Evaluation.State.READY)[:_MOST])
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
    found = {str(each.pk): each for each in ready}
    for name in ("a", "b"):
        if request.GET.get(name) and request.GET[name] not in found:
            raise Http404("There is no such evaluation to compare.")
    second = found.get(request.GET.get("b", "")) or next(iter(ready), None)
    others = [each for each in ready if each is not second]
    first = found.get(request.GET.get("a", "")) or next(iter(others), None)
    return first, second
