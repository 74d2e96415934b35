"""The desk's page of the honest report: live figures, the report of the run in force, downloads."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowd.desk.doors import NotEnteredError, Role, StageSeat, on_stage, posted, run_action, show
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

FOLDER = "judgments"
PAGE = "judgments:agreement"


def judging_only(seat: StageSeat) -> None:
    """Other kinds of stages have no judgments."""
    if seat.stage.kind != "judging":
        raise Http404("Only judging stages have this page.")


@require_safe
@on_stage()
def agreement(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """The honest report on one page."""
    judging_only(seat)
    caution = random_scores_caution(seat.stage)
    return show(
        request,
        "agreement.html",
        seat,
        folder=FOLDER,
        tab="agreement",
        simulated_caution=caution,
        **_live(seat),
    )


@require_safe
@never_cache
@on_stage()
def agreement_live(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """The part of the page that changes by itself."""
    judging_only(seat)
    return show(request, "parts/agreement_live.html", seat, folder=FOLDER, **_live(seat))


def _live(seat: StageSeat) -> dict[str, Any]:
    stage = seat.stage
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


@posted
@on_stage(Role.MANAGER)
def calculate(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Have the report worked out again: minutes of the server's time, so viewers only read it."""
    judging_only(seat)

    def action() -> str:
        reports.ask(stage=seat.stage)
        return "The report is being worked out. This page shows it as soon as it is there."

    return run_action(request, action, PAGE, seat.project.slug, seat.stage.slug)


@posted
@on_stage(Role.MANAGER)
def cancel(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Stop working out the report; the newest one stays as it is."""
    judging_only(seat)

    def action() -> str:
        if not reports.cancel(stage=seat.stage):
            raise NotEnteredError("No report is being worked out at the moment.")
        return "The report is no longer worked out."

    return run_action(request, action, PAGE, seat.project.slug, seat.stage.slug)


@require_safe
@on_stage()
def report_json(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """The whole newest report with its lists, as `manage.py filter` writes it; pseudonyms, no ids."""
    judging_only(seat)
    row = AgreementReport.objects.filter(stage=seat.stage).order_by("-created_at", "-pk").first()
    if row is None:
        raise Http404("No report was made yet.")
    whole = {key: value for key, value in row.report.items() if key != "pairs"} | row.rows
    whole["made_at"] = row.created_at.isoformat()
    answer = JsonResponse(whole, json_dumps_params={"ensure_ascii": False, "indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="{seat.stage.slug}-report.json"'
    return answer


@require_safe
@on_stage()
def figure_csv(request: HttpRequest, seat: StageSeat, *, figure: str) -> HttpResponse:
    """One figure of the page as CSV, with its signature in the first line."""
    judging_only(seat)
    now = live(seat.stage)
    table = downloads.figure(figure, now, standing(seat.stage, now.stamp), seat.project)
    if table is None:
        raise Http404("There is no such figure, or it was not worked out yet.")
    return downloads.answer(table, f"{seat.stage.slug}-{figure}")
