"""A stage's study at a panel: its places, what became of the people it sent, and what needs a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from core.money import dollars
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.forms import AmountForm, LetterForm, PanelTermsForm, PartForm, SlotsForm, WhyForm
from crowd.errors import CrowdError
from crowd.models import Assignment, Group, PanelStudy, PanelSubmission, Stage
from crowd.selectors import operations
from crowd.services import panel_pay, panels
from crowd.sources import stage_at, stages_at
from web.access import Role
from web.forms import read_form, run_action
from web.pages import show, show_table
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


def _at_panel(request: HttpRequest, access: StageAccess) -> Stage:
    """The stage as the panel meets it that the address names, else as its first panel does."""
    name = request.GET.get("source", "") or request.POST.get("source", "")
    heres = stages_at(access.stage)
    there = [here for here in heres if here.endpoint.is_panel]
    return next((here for here in heres if here.endpoint.name == name), (there or heres)[0])


def _study_at(here: Stage) -> PanelStudy | None:
    return PanelStudy.objects.filter(stage=here.pk, endpoint=here.endpoint).first()


def _refuse_elsewhere(here: Stage) -> None:
    if not here.endpoint.is_panel:
        raise CrowdError(f"{here.endpoint.label} is no panel.")


@require_safe
@on_stage()
def panel(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The study, counts by status that add up to all submissions, and each of them."""
    here = _at_panel(request, access)
    study = _study_at(here)
    all_rows = PanelSubmission.objects.filter(study=study)
    answer = Assignment.objects.filter(
        stage=access.stage,
        worker__endpoint=here.endpoint,
        external_id=OuterRef("external_id"),
        stored_at__isnull=False,
    )

    def rows(asked: GridRequest) -> QuerySet[PanelSubmission]:
        found = all_rows.annotate(answered=Exists(answer))
        if asked["state"] == "unanswered":
            return found.filter(answered=False, status="AWAITING REVIEW")
        return found

    return show_table(
        request,
        access,
        SUBMISSIONS,
        rows,
        "panel.html",
        file=f"{access.stage.slug}-panel",
        study=study,
        endpoint=here.endpoint,
        wanted=panels.wanted_places(here),
        counts=_counts(all_rows),
        unanswered=len(panels.unanswered(here)) if study else 0,
        unbooked=list(panel_pay.unbooked_parts(here)[:_SHOWN]),
        screen_outs=panel_pay.unbooked_screen_outs(study).count() if study else 0,
        payable=panel_pay.PAYABLE_IN_PART,
        unread=panels.received(study).filter(read_at=None).count() if study else 0,
        balance=operations.latest_balance(here.endpoint),
        terms=PanelTermsForm(initial=_terms(study)),
        slots_form=SlotsForm(initial={"slots": study.screen_out_slots if study else None}),
        slots_asked=panel_pay.slots_under_way(study) if study else None,
        why_form=WhyForm(),
    )


def _terms(study: PanelStudy | None) -> dict[str, object]:
    if study is None:
        return {}
    return {
        "screen_out": study.screen_out_cents or None,
        "slots": study.screen_out_slots or None,
        "pays_in_part": study.pays_in_part,
    }


def _counts(rows: QuerySet[PanelSubmission]) -> Sequence[StatusCount]:
    found = rows.order_by("status").values_list("status").annotate(n=Count("pk"))
    return [StatusCount(status, count) for status, count in found]


@require_POST
@on_stage(Role.MANAGER)
def read(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Read the study's submissions now."""

    def action() -> str:
        here = _at_panel(request, access)
        _refuse_elsewhere(here)
        return panels.read_now(here)

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def ask_return(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Ask a participant to return a submission; the person decides."""
    submission = get_object_or_404(PanelSubmission, pk=pk, study__stage=access.stage)

    def action() -> str:
        _refuse_elsewhere(stage_at(access.stage, submission.study.endpoint_id))
        why = read_form(WhyForm(request.POST))["why"]
        panels.ask_to_return(submission, why=why, actor=access.user)
        return "The participant will be asked to return this submission."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def set_terms(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Say what the study pays beside whole rewards; once it is there, how many screen-outs it pays."""

    def action() -> str:
        here = _at_panel(request, access)
        _refuse_elsewhere(here)
        study = _study_at(here)
        if study is not None and study.external_id:
            slots = read_form(SlotsForm(request.POST))["slots"]
            panel_pay.raise_slots(study, slots=slots, actor=access.user)
            return f"The panel is told of {slots:,} paid screen-outs; their money is set aside."
        given = read_form(PanelTermsForm(request.POST))
        panel_pay.set_terms(
            panels.study_of(here),
            screen_out_cents=given["screen_out"] or 0,
            screen_out_slots=given["slots"] or 0,
            pays_in_part=given["pays_in_part"],
            actor=access.user,
        )
        return "These terms go with the study when the stage opens."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def pay_in_part(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Pay a participant a share of the reward, which ends their submission."""
    submission = get_object_or_404(PanelSubmission, pk=pk, study__stage=access.stage)

    def action() -> str:
        _refuse_elsewhere(stage_at(access.stage, submission.study.endpoint_id))
        given = read_form(PartForm(request.POST))
        panel_pay.pay_in_part(submission, percent=given["percent"], note=given["note"], actor=access.user)
        return f"{given['percent']} percent of the reward will be paid."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def state_amount(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Say what was paid in part on the panel's own pages."""
    submission = get_object_or_404(PanelSubmission, pk=pk, study__stage=access.stage)

    def action() -> str:
        _refuse_elsewhere(stage_at(access.stage, submission.study.endpoint_id))
        cents = read_form(AmountForm(request.POST))["amount"]
        panel_pay.state_amount(submission, cents=cents, actor=access.user)
        return f"Booked: {dollars(cents)}."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


#: Letters and messages on one page.
_SHOWN = 50


@require_safe
@on_stage()
def messages(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """What participants wrote, what was written to them, and a form to write."""
    study = _study_at(_at_panel(request, access))
    form = LetterForm(choices=_readers(access, study), initial={"to": request.GET.get("to", "")})
    return _show_messages(request, access, study, form)


@require_POST
@on_stage(Role.MANAGER)
def write_message(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Write to participants; a form with a mistake is shown again with what was entered."""
    study = _study_at(_at_panel(request, access))
    form = LetterForm(request.POST, choices=_readers(access, study))
    if study is not None and not form.is_valid():
        return _show_messages(request, access, study, form)

    def action() -> str:
        if study is None:
            raise CrowdError("The study is not at the panel yet.")
        return _write(access, study, form.cleaned_data)

    return run_action(request, action, "desk:panel_messages", access.project.slug, access.stage.slug)


def _show_messages(
    request: HttpRequest, access: StageAccess, study: PanelStudy | None, form: LetterForm
) -> HttpResponse:
    received = list(panels.received(study)[:_SHOWN]) if study else []
    return show(
        request,
        "panel_messages.html",
        access,
        endpoint=_at_panel(request, access).endpoint,
        study=study,
        form=form,
        received=received,
        sent=list(panels.sent(access.stage)[:_SHOWN]),
        can_write=bool(study and study.external_id and access.manages),
        status=422 if form.is_bound else 200,
    )


def _readers(access: StageAccess, study: PanelStudy | None) -> list[tuple[str, str]]:
    """Whom a message can go to: everybody by status, the groups that we keep there, and each participant."""
    if study is None:
        return []
    rows = PanelSubmission.objects.filter(study=study)
    by_status = [
        (f"status:{each.status}", f"All who are {each.status.lower()} ({each.count})")
        for each in _counts(rows)
    ]
    groups = Group.objects.filter(endpoint=study.endpoint_id, stage__project=access.project)
    kept = [
        (f"group:{each.pk}", f"Group {each.name}")
        for each in groups.exclude(external_id="").order_by("name")[:_SHOWN]
    ]
    people = rows.order_by("-started_at", "-pk").values_list("participant", flat=True)[:1_000]
    return [*by_status, *kept, *((f"participant:{each}", each) for each in dict.fromkeys(people))]


def _write(access: StageAccess, study: PanelStudy, letter: Mapping[str, str]) -> str:
    kind, _, name = letter["to"].partition(":")
    if kind == "group":
        group = get_object_or_404(Group, pk=name, stage__project=access.project)
        panels.write_to_group(study, group, text=letter["text"], actor=access.user)
        return "The message goes to the group."
    rows = PanelSubmission.objects.filter(study=study)
    chosen = rows.filter(status=name) if kind == "status" else rows.filter(participant=name)
    readers = list(chosen.values_list("participant", flat=True).distinct())
    panels.write_to_participants(study, readers, text=letter["text"], actor=access.user)
    return f"The message goes to {len(readers)} participant{'' if len(readers) == 1 else 's'}."


@require_POST
@on_stage(Role.MANAGER)
def read_messages(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Ask the panel for what participants wrote, or note what is shown as read."""

    def action() -> str:
        here = _at_panel(request, access)
        _refuse_elsewhere(here)
        study = panels.study_of(here)
        if "read" in request.POST:
            keys = [int(key) for key in request.POST.getlist("read") if key.isdigit()]
            panels.note_read(study, keys=keys)
            return "Noted as read."
        try:
            new = panels.sync_messages(here.endpoint, force=True)
        except (MarketplaceDownError, MarketplaceRefusedError) as error:
            raise CrowdError(f"{here.endpoint.label}: {error}") from error
        return f"Read: {new} new message{'' if new == 1 else 's'}."

    return run_action(request, action, "desk:panel_messages", access.project.slug, access.stage.slug)
