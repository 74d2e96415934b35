"""The desk's page about how far editors of a stage agree."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.selectors.agreement import curation_agreement, screening_agreement
from crowd.desk.access import StageAccess, on_stage
from crowd.models import Stage
from crowd.selectors.stage_sizes import stage_figures, work_stamps
from web.pages import show

T = TypeVar("T")


@require_safe
@on_stage()
def agreement(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Coefficients of a screening or curation stage, each with what it was computed from."""
    context: dict[str, Any]
    match access.stage.kind:
        case "screening":
            context = {"questions": _kept(access.stage, screening_agreement)}
        case "curation":
            context = {"curation": _kept(access.stage, curation_agreement)}
        case _:
            raise Http404("Only screening and curation have this page.")
    return show(request, "agreement.html", access, folder="annotation", tab="agreement", **context)


def _kept(stage: Stage, make: Callable[[Stage], T]) -> T:
    """What is made of a stage's answers; of a large one cached until its work changes, and a while longer."""
    return stage_figures(
        stage, f"editors-agree:{stage.pk}", lambda: make(stage), stamp=lambda: work_stamps([stage])
    )
