"""The desk's page about how far editors of a stage agree."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from annotation.selectors.agreement import curation_agreement, screening_agreement
from crowd.desk.doors import StageSeat, on_stage, show


@require_safe
@on_stage()
def agreement(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Coefficients of a screening or curation stage, each with what it was computed from."""
    context: dict[str, Any]
    match seat.stage.kind:
        case "screening":
            context = {"questions": screening_agreement(seat.stage)}
        case "curation":
            context = {"curation": curation_agreement(seat.stage)}
        case _:
            raise Http404("Only screening and curation have this page.")
    return show(request, "agreement.html", seat, folder="annotation", tab="agreement", **context)
