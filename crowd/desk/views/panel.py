"""A stage's study at a panel: its places, what became of the people it sent, and what needs a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from crowd.desk.access import StageAccess, on_stage
from crowd.desk.forms import WhyForm
from crowd.errors import CrowdError
from crowd.models import Assignment, Endpoint, PanelStudy, PanelSubmission
from crowd.services import panels
from web.access import Role
from web.forms import read_form, run_action
from web.table_pages import respond
from web.tables import Choices, Column, Grid, GridRequest

SUBMISSIONS = Grid(
    "panel-submissions",
    columns=(
        Column("submission", "Submission", attrgetter("external_id"), by="external_id"),
        Column("participant", "Participant", attrgetter("participant"), by="participant"),
        Column("status", "At the panel", attrgetter("status"), by="status"),
        Column("code", "Code", attrgetter("entered_code")),
        Column("answered", "Answer here", attrgetter("answered")),
        Column("started", "Started", attrgetter("started_at"), by="started_at", down=True, gaps=True),
        Column("completed", "Came back", attrgetter("completed_at"), by="completed_at", down=True, gaps=True),
    ),
    filters=(
        Choices("state", "Which to show", {"all": "All", "unanswered": "Without an answer"}, tabs=True),
    ),
    order="started",
)


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many submissions have a status of the panel."""

    status: str
    count: int


def _refuse_elsewhere(access: StageAccess) -> None:
    if access.stage.endpoint.protocol not in Endpoint.PANELS:
        raise CrowdError(f"{access.stage.endpoint.label} is no panel.")


@require_safe
@on_stage()
def panel(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The study, counts by status that add up to all submissions, and each of them."""
    study = PanelStudy.objects.filter(stage=access.stage).first()
    all_rows = PanelSubmission.objects.filter(study=study)
    answer = Assignment.objects.filter(
        stage=access.stage, external_id=OuterRef("external_id"), stored_at__isnull=False
    )

    def rows(asked: GridRequest) -> QuerySet[PanelSubmission]:
        found = all_rows.annotate(answered=Exists(answer))
        if asked["state"] == "unanswered":
            return found.filter(answered=False, status="AWAITING REVIEW")
        return found

    return respond(
        request,
        access,
        SUBMISSIONS,
        rows,
        "panel.html",
        file=f"{access.stage.slug}-panel",
        study=study,
        wanted=panels.wanted_places(access.stage),
        counts=_counts(all_rows),
        unanswered=len(panels.unanswered(access.stage)) if study else 0,
        why_form=WhyForm(),
    )


def _counts(rows: QuerySet[PanelSubmission]) -> Sequence[StatusCount]:
    found = rows.order_by("status").values_list("status").annotate(n=Count("pk"))
    return [StatusCount(status, count) for status, count in found]


@require_POST
@on_stage(Role.MANAGER)
def read(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Read the study's submissions now."""

    def action() -> str:
        _refuse_elsewhere(access)
        return panels.read_now(access.stage)

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def ask_return(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Ask a participant to return a submission; the person decides."""
    submission = get_object_or_404(PanelSubmission, pk=pk, study__stage=access.stage)

    def action() -> str:
        _refuse_elsewhere(access)
        why = read_form(WhyForm(request.POST))["why"]
        panels.ask_to_return(submission, why=why, actor=access.user)
        return "The participant will be asked to return this submission."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)
