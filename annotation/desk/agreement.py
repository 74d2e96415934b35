"""How far editors of a stage agree: their page, and their rows on the project's page of agreement."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.selectors.agreement import agreement_by_source, curation_agreement, screening_agreement
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.agreement import Row
from crowd.models import Stage
from crowd.selectors.stage_sizes import cached_of_stage, stage_figures, work_stamps
from web.cache import cached_before
from web.pages import show

# Rows of screening and curation stages for the project's page of agreement.

KINDS = ("screening", "curation")


def rows_of(stages: Sequence[Stage], quick: bool) -> Mapping[int, Row]:
    """One row per stage; cached until its work changes. With `quick` only what was worked out before."""
    if quick:
        before = {stage.pk: cached_before(_key(stage)) for stage in stages}
        return {stage: row for stage, row in before.items() if row is not None}
    stamps = work_stamps(stages)
    return {stage.pk: _cached_row(stage, stamps[stage.pk]) for stage in stages}


def _cached_row(stage: Stage, stamp: tuple[object, ...]) -> Row:
    return cached_of_stage(stage, _key(stage), stamp, lambda: _row(stage))


def _key(stage: Stage) -> str:
    return f"agreement-row:{stage.pk}"


def _row(stage: Stage) -> Row:
    address = reverse("annotation:agreement", args=[stage.project.slug, stage.slug])
    if stage.kind == "curation":
        found = curation_agreement(stage)
        measure, method = "Chosen passages: alpha with MASI distance", "krippendorff-alpha|distance=masi"
        coefficient, items = found.alpha, found.queries
    else:
        first = screening_agreement(stage)[0]
        measure, method = "Class of the query: nominal alpha", "krippendorff-alpha|distance=nominal"
        coefficient, items = first.alpha, first.queries
    signature = f"{method}|queries={items}|distillery={settings.DISTILLERY_VERSION}"
    return Row(
        measure, coefficient.value, None, None, None, items, "queries", address, coefficient.reason, signature
    )


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
    context["sources"] = _kept(access.stage, agreement_by_source, "editors-agree-by-source")
    return show(request, "agreement.html", access, folder="annotation", tab="agreement", **context)


def _kept(stage: Stage, make: Callable[[Stage], T], name: str = "editors-agree") -> T:
    """What is made of a stage's answers; of a large one cached until its work changes, and a while longer."""
    return stage_figures(stage, f"{name}:{stage.pk}", lambda: make(stage), stamp=lambda: work_stamps([stage]))
