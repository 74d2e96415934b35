"""The desk's page of the honest report: live figures, the report of the run in force, downloads."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crowd.desk.access import StageAccess, on_stage
from crowd.models import Stage
from judgments.desk import downloads, shares
from judgments.desk.reportview import view_of
from judgments.kinds.judging_config import judging_config
from judgments.kinds.scale_config import labels_by_score
from judgments.models import AgreementReport
from judgments.selectors.live import in_force, live
from judgments.selectors.ratings import newer_than
from judgments.selectors.reports import standing
from judgments.selectors.simulated_scores import random_scores_caution
from judgments.services import reports
from web.access import Role
from web.forms import FormError, run_action
from web.pages import show

FOLDER = "judgments"
PAGE = "judgments:agreement"


def judging_only(access: StageAccess) -> None:
    """Other kinds of stages have no judgments."""
    if access.stage.kind != "judging":
        raise Http404("Only judging stages have this page.")


@require_safe
@on_stage()
def agreement(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The honest report on one page."""
    judging_only(access)
    caution = random_scores_caution(access.stage)
    return show(
        request,
        "agreement.html",
        access,
        folder=FOLDER,
        tab="agreement",
        simulated_caution=caution,
        **_live(access),
    )


@require_safe
@never_cache
@on_stage()
def agreement_live(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The part of the page that changes by itself."""
    judging_only(access)
    return show(request, "parts/agreement_live.html", access, folder=FOLDER, **_live(access))


def _live(access: StageAccess) -> dict[str, Any]:
    stage = access.stage
    now = live(stage)
    run = in_force(stage) if now.stamp.run else None
    made = standing(stage, now.stamp)
    return {
        "now": now,
        "run": run,
        "newer": newer_than(stage, run.last_judgment) if run else 0,
        "made": made,
        "view": view_of(made.report, made.newest),
        "histogram": shares.histogram(now, made.report, _labels(stage)),
        "scale": now.scale.description,
        "sizes": shares.counted([(str(size), count) for size, count in now.sizes]),
        "spreads": shares.counted(now.spreads),
        "systems": shares.systems(now),
        "signed": downloads.signatures(now, made),
        "over": stage.status != Stage.Status.OPEN and not made.under_way,
    }


def _labels(stage: Stage) -> dict[str, str]:
    config = judging_config(stage)
    return labels_by_score(config.scale, config.labels, config.rating_scale)


@require_POST
@on_stage(Role.MANAGER)
def calculate(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Have the report worked out again: minutes of the server's time, so viewers only read it."""
    judging_only(access)

    def action() -> str:
        reports.ask(stage=access.stage)
        return "The report is being worked out. This page shows it as soon as it is there."

    return run_action(request, action, PAGE, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def cancel(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Stop working out the report; the newest one stays as it is."""
    judging_only(access)

    def action() -> str:
        if not reports.cancel(stage=access.stage):
            raise FormError("No report is being worked out at the moment.")
        return "The report is no longer worked out."

    return run_action(request, action, PAGE, access.project.slug, access.stage.slug)


@require_safe
@on_stage()
def report_json(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The whole newest report with its lists, as `manage.py filter` writes it; pseudonyms, no ids."""
    judging_only(access)
    row = AgreementReport.objects.filter(stage=access.stage).order_by("-created_at", "-pk").first()
    if row is None:
        raise Http404("No report was made yet.")
    whole = {key: value for key, value in row.report.items() if key != "pairs"} | row.rows
    whole["made_at"] = row.created_at.isoformat()
    answer = JsonResponse(whole, json_dumps_params={"ensure_ascii": False, "indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="{access.stage.slug}-report.json"'
    return answer


@require_safe
@on_stage()
def figure_csv(request: HttpRequest, access: StageAccess, *, figure: str) -> HttpResponse:
    """One figure of the page as CSV, with its signature in the first line."""
    judging_only(access)
    now = live(access.stage)
    table = downloads.figure(figure, now, standing(access.stage, now.stamp), access.project)
    if table is None:
        raise Http404("There is no such figure, or it was not worked out yet.")
    return downloads.answer(table, f"{access.stage.slug}-{figure}")
