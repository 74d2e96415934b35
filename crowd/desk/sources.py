"""The sources of a stage: the state of each, what a person does about one, and its study at a panel."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, gettext_noop
from django.views.decorators.http import require_POST, require_safe
from pydantic import ValidationError

from core.money import format_amount
from crowd.access import StageAccess, on_stage
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.desk import modelform
from crowd.desk.forms import (
    AmountForm,
    Form,
    LetterForm,
    OpenForm,
    PanelTermsForm,
    PartForm,
    SlotsForm,
    WhyForm,
)
from crowd.desk.quantities import when
from crowd.desk.stageform import endpoint_words
from crowd.errors import CrowdError, NotArmedError
from crowd.models import Group, PanelStudy, PanelSubmission, PersonMatch, Stage, StageSource, Worker
from crowd.rights import usable_endpoints
from crowd.selectors import operations
from crowd.selectors.stage_status import source_status
from crowd.services import panel_pay, panels, persons
from crowd.services.publication import quote
from crowd.services.sources import close_source, move_work, open_source, pause_source, row_of, set_sources
from crowd.sources import forget_rows, source_rows, spends_real_money, stage_at, stages_at
from crowd.study.documents import source_plans, stage_document
from crowd.study.schema import StageFields
from metrics.figure import counted
from web.access import ProjectAccess, Role, on_project
from web.cache import cached
from web.cells import Cell, Link, Post, chip, isolated, link, more, post, several
from web.forms import read_form, run_action
from web.kit import Empty, Note, Page, Table
from web.pages import show, show_table
from web.tables import Choices, Column, Grid, GridRequest

SOURCES = "desk:sources"
_FEWEST = 2


class SourcesForm(Form):
    """The list of a stage's sources, read by the model that also reads a study's file."""

    def __init__(self, data: Any = None, *, stage: Stage) -> None:
        rows = stage_document(stage)["sources"] or [{"endpoint": stage.endpoint.name, "share": 1}]
        super().__init__(data, initial={"sources": rows})
        self.stage = stage
        field = modelform.fields_of(StageFields)["sources"]
        field.label, field.help_text = "Sources", ""
        assert isinstance(field, modelform.Rows)
        usable = usable_endpoints([stage.project], used_by=stage)
        endpoints = usable.filter(currency=stage.endpoint.currency).order_by("real_money", "name")
        choices = [("", "\N{EN DASH}"), *((each.name, endpoint_words(each)) for each in endpoints)]
        inner = forms.ChoiceField(label=gettext("Marketplace"), choices=choices)
        field.inner["endpoint"] = field.widget.inner["endpoint"] = inner  # type: ignore[index]  # a dict
        self.fields["sources"] = field
        typed = OpenForm(currency=stage.endpoint.currency).fields["typed"]
        typed.required = False
        self.fields["typed"] = typed

    def clean(self) -> dict[str, Any]:
        """Ask the model; its errors stand beside the list."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        data = stage_document(self.stage)
        data["sources"] = cleaned["sources"] if isinstance(cleaned["sources"], list) else []
        try:
            self.read = StageFields.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, StageFields, data)
        return cleaned

    def apply(self, access: StageAccess) -> None:
        """Make these the stage's sources. Raises CrowdError."""
        fields = self.read
        names = [each.endpoint for each in fields.sources]
        usable = usable_endpoints([self.stage.project], used_by=self.stage)
        endpoints = {each.name: each for each in usable.filter(name__in=names)}
        if missing := next((name for name in names if name not in endpoints), None):
            raise CrowdError(f"There is no marketplace {missing!r}.")
        plans = source_plans(fields, endpoints)
        if len(plans) < _FEWEST and names in ([], [self.stage.endpoint.name]):
            plans = []
        is_open = self.stage.status == Stage.Status.OPEN
        if is_open and not access.owns and any(plan.endpoint.real_money for plan in plans):
            raise CrowdError("Only an owner of the project can change sources that spend real money.")
        typed = self.cleaned_data["typed"]
        set_sources(stage=self.stage, plans=plans, actor=access.user, typed_cents=typed)


@require_safe
@on_stage()
def sources(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Where the people of the stage come from, each source with its part, its answers and its money."""
    return _page(request, access, SourcesForm(stage=access.stage))


def _page(request: HttpRequest, access: StageAccess, form: SourcesForm, *, status: int = 200) -> HttpResponse:
    stage = access.stage
    forget_rows(stage)
    return show(
        request,
        "sources.html",
        access,
        tab="stage",
        rows=source_status(stage),
        offer=_offer(stage),
        form=form,
        why_form=WhyForm(),
        may_type=spends_real_money(stage)
        or usable_endpoints([stage.project]).filter(real_money=True).exists(),
        open_matches=persons.count_open(access.project),
        statuses=StageSource.Status,
        status=status,
    )


def _offer(stage: Stage) -> Any:
    """What is still to be published at each source; None where the kind cannot tell yet."""
    if not source_rows(stage):
        return None
    try:
        return quote(stage)
    except CrowdError:
        return None


@require_POST
@on_stage(Role.MANAGER, spends=True)
def set_all(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Add sources and change their parts."""
    form = SourcesForm(request.POST, stage=access.stage)
    if form.is_valid():
        try:
            form.apply(access)
        except CrowdError as error:
            form.add_error("typed" if isinstance(error, NotArmedError) else "sources", str(error))
        else:
            messages.success(request, gettext("Saved. New HITs are divided in this way."))
            return redirect(SOURCES, access.project.slug, access.stage.slug)
    return _page(request, access, form, status=422)


def _one(
    request: HttpRequest, access: StageAccess, endpoint: str, do_it: Callable[[StageSource, str], str]
) -> HttpResponse:
    own = {access.stage.endpoint.name, *(row.endpoint.name for row in source_rows(access.stage))}
    if endpoint not in own:
        raise Http404("The stage has no such source.")

    def action() -> str:
        return do_it(row_of(access.stage, endpoint), read_form(WhyForm(request.POST))["why"])

    return run_action(request, action, SOURCES, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def pause(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Publish nothing more at one source."""

    def pausing(row: StageSource, why: str) -> str:
        pause_source(stage=access.stage, row=row, actor=access.user, why=why)
        return f"{row.endpoint.label} is paused. What is on offer there stays; its part waits for it."

    return _one(request, access, endpoint, pausing)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def reopen(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Let a source take work again."""

    def opening(row: StageSource, why: str) -> str:
        form = OpenForm(request.POST, currency=access.stage.endpoint.currency)
        typed = read_form(form)["typed"] if request.POST.get("typed") else None
        open_source(stage=access.stage, row=row, actor=access.user, typed_cents=typed, why=why)
        return f"{row.endpoint.label} takes work again."

    return _one(request, access, endpoint, opening)


@require_POST
@on_stage(Role.MANAGER)
def close(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Take nothing more from a source; others do what it leaves."""

    def closing(row: StageSource, why: str) -> str:
        close_source(stage=access.stage, row=row, actor=access.user, why=why)
        return f"{row.endpoint.label} is closed. The other sources get what it leaves undone."

    return _one(request, access, endpoint, closing)


@require_POST
@on_stage(Role.MANAGER)
def move(request: HttpRequest, access: StageAccess, *, endpoint: str) -> HttpResponse:
    """Give the free places of a source to the others."""

    def moving(row: StageSource, _why: str) -> str:
        count = move_work(stage=access.stage, row=row, actor=access.user)
        if not count:
            return "No place is free there, so there is nothing to give to the others."
        return (
            f"{count} HIT{'' if count == 1 else 's'} there expire; the other sources get their free places."
        )

    return _one(request, access, endpoint, moving)


# Workers who may be the same person


@require_POST
@on_project(Role.MANAGER)
def decide(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Say whether two workers are one person."""

    rows = PersonMatch.objects.select_related("project", "first", "second")
    match = get_object_or_404(rows, pk=pk, project=access.project)

    def action() -> str:
        persons.decide_match(match=match, verdict=request.POST.get("verdict", ""), actor=access.user)
        return "Saved. This changes nothing that either of them did."

    return run_action(request, action, "desk:matches", access.project.slug)


@require_safe
@on_project()
def matches(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Workers of different marketplaces who may be the same person."""
    pairs = list(persons.list_matches(access.project))
    same = (
        "When this project asks people at several marketplaces, workers with the same id at a panel, "
        "the same "
    )
    none = Empty(
        gettext("None noticed"), f"{same}e-mail address or the same account for payments are listed here."
    )
    note = Note(
        gettext(
            "Workers of two marketplaces with something in common. Until you decide, and after “same "
            "person”, an exclusion of one also excludes the other. Nothing that either did is changed, "
            "and they are never merged."
        )
    )
    page = Page(
        gettext("May be the same person"),
        [note, Table(gettext("Table of pairs"), _PAIRS, pairs)] if pairs else [none],
        trail=[Link(gettext("Workers"), access.address("desk:project_workers"))],
    )
    return show(request, page, access)


def _draw_one(cell: Cell, worker: Worker) -> object:
    name = link(worker.external_id, cell.address("desk:person", worker.pk), mono=True)
    return several(name, more(isolated(worker.endpoint.label)))


def _draw_verdict(cell: Cell) -> object:
    match, verdicts = cell.row, PersonMatch.Verdict
    state = chip(match.get_verdict_display(), "wait" if match.verdict == verdicts.OPEN else "")
    decided = match.decided_at and more(match.decided_by or "", " ", when(match.decided_at))
    buttons = []
    for verdict, words in ((verdicts.SAME, "Same person"), (verdicts.DIFFERENT, "Different people")):
        if cell.access.manages and match.verdict != verdict:
            address = cell.address("desk:decide_match", match.pk)
            buttons.append(post(cell.context, Post(words, address, {"verdict": verdict.value})))
    return several(state, decided, *buttons)


_PAIRS = (
    Column("first", gettext_noop("Worker"), cell=lambda cell: _draw_one(cell, cell.row.first)),
    Column("second", gettext_noop("Worker"), cell=lambda cell: _draw_one(cell, cell.row.second)),
    Column("kinds", gettext_noop("In common"), "kind_words"),
    Column("found_at", gettext_noop("Noticed")),
    Column("verdict", gettext_noop("Decision"), cell=_draw_verdict),
)


SUBMISSIONS = Grid(
    "panel-submissions",
    columns=(
        Column("submission", gettext_noop("Submission"), "external_id", by="external_id"),
        Column("participant", gettext_noop("Participant"), by="participant"),
        Column("status", gettext_noop("At the panel"), by="status"),
        Column("code", gettext_noop("Code"), "entered_code"),
        Column("answered", gettext_noop("Answer here")),
        Column("started", gettext_noop("Started"), "started_at", by="started_at", down=True, gaps=True),
        Column(
            "completed", gettext_noop("Came back"), "completed_at", by="completed_at", down=True, gaps=True
        ),
    ),
    filters=(
        Choices(
            "state",
            gettext_noop("Which to show"),
            {"all": "All", "unanswered": "Without an answer"},
            tabs=True,
        ),
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
    source_stages = stages_at(access.stage)
    at_panels = [source_stage for source_stage in source_stages if source_stage.endpoint.is_panel]
    return next(
        (source_stage for source_stage in source_stages if source_stage.endpoint.name == name),
        (at_panels or source_stages)[0],
    )


def _study_at(source_stage: Stage) -> PanelStudy | None:
    return PanelStudy.objects.filter(stage=source_stage.pk, endpoint=source_stage.endpoint).first()


def _refuse_elsewhere(source_stage: Stage) -> None:
    if not source_stage.endpoint.is_panel:
        raise CrowdError(f"{source_stage.endpoint.label} is no panel.")


@require_safe
@on_stage()
def panel(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The study, counts by status that add up to all submissions, and each of them."""
    source_stage = _at_panel(request, access)
    study = _study_at(source_stage)
    all_rows = PanelSubmission.objects.filter(study=study)

    charges = panel_pay.booked_charges(study) if study else None

    def rows(grid: GridRequest) -> QuerySet[PanelSubmission]:
        return (panels.unanswered if grid["state"] == "unanswered" else panels.submissions_of)(source_stage)

    return show_table(
        request,
        access,
        SUBMISSIONS,
        rows,
        "panel.html",
        file=f"{access.stage.slug}-panel",
        study=study,
        endpoint=source_stage.endpoint,
        wanted=_wanted_places(source_stage, study) if study else 0,
        counts=_counts(all_rows),
        unanswered=panels.unanswered(source_stage).count() if study else 0,
        unbooked=list(panel_pay.unbooked_parts(source_stage)[:_SHOWN]),
        screen_outs=panel_pay.unbooked_screen_outs(study).count() if study else 0,
        charges=charges,
        unbooked_fees=panel_pay.unbooked_fees(study, charges) if study and charges else None,
        payable=panel_pay.PAYABLE_IN_PART,
        unread=panels.received(study).filter(read_at=None).count() if study else 0,
        balance=operations.latest_balance(source_stage.endpoint),
        terms=PanelTermsForm(initial=_terms(study)),
        slots_form=SlotsForm(initial={"slots": study.screen_out_slots if study else None}),
        slots_asked=panel_pay.slots_under_way(study) if study else None,
        why_form=WhyForm(),
    )


def _wanted_places(source_stage: Stage, study: PanelStudy) -> int:
    """How many people the study has to let in; where counting takes long, as of a while ago."""
    key = ("panel-places", source_stage.pk, source_stage.endpoint_id, study.places)
    return cached(key, partial(panels.wanted_places, source_stage))


def _terms(study: PanelStudy | None) -> dict[str, object]:
    if study is None:
        return {}
    return {
        "screen_out": study.screen_out_cents or None,
        "slots": study.screen_out_slots or None,
        "pays_in_part": study.pays_in_part,
    }


def _counts(rows: QuerySet[PanelSubmission]) -> Sequence[StatusCount]:
    counts = rows.order_by("status").values_list("status").annotate(n=Count("pk"))
    return [StatusCount(status, count) for status, count in counts]


@require_POST
@on_stage(Role.MANAGER)
def read_study(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Read the study's submissions now."""

    def action() -> str:
        source_stage = _at_panel(request, access)
        _refuse_elsewhere(source_stage)
        return panels.read_now(source_stage)

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
        source_stage = _at_panel(request, access)
        _refuse_elsewhere(source_stage)
        study = _study_at(source_stage)
        if study is not None and study.external_id:
            slots = read_form(SlotsForm(request.POST))["slots"]
            panel_pay.raise_slots(study, slots=slots, actor=access.user)
            return f"The panel is told of {counted(slots, 'paid screen-out')}; the money is reserved."
        fields = read_form(PanelTermsForm(request.POST, currency=source_stage.endpoint.currency))
        panel_pay.set_terms(
            panels.study_of(source_stage),
            screen_out_cents=fields["screen_out"] or 0,
            screen_out_slots=fields["slots"] or 0,
            pays_in_part=fields["pays_in_part"],
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
        fields = read_form(PartForm(request.POST))
        panel_pay.pay_in_part(submission, percent=fields["percent"], note=fields["note"], actor=access.user)
        return f"{fields['percent']} percent of the reward will be paid."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def state_amount(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Say what was paid in part on the panel's own pages."""
    submission = get_object_or_404(PanelSubmission, pk=pk, study__stage=access.stage)

    def action() -> str:
        _refuse_elsewhere(stage_at(access.stage, submission.study.endpoint_id))
        currency = submission.study.endpoint.currency
        cents = read_form(AmountForm(request.POST, currency=currency))["amount"]
        panel_pay.state_amount(submission, cents=cents, actor=access.user)
        return f"Booked: {format_amount(cents, currency)}."

    return run_action(request, action, "desk:panel", access.project.slug, access.stage.slug)


#: Letters and messages on one page.
_SHOWN = 50


@require_safe
@on_stage()
def study_messages(request: HttpRequest, access: StageAccess) -> HttpResponse:
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
    statuses = [
        (f"group:{each.pk}", f"Group {each.name}")
        for each in groups.exclude(external_id="").order_by("name")[:_SHOWN]
    ]
    people = rows.order_by("-started_at", "-pk").values_list("participant", flat=True)[:1_000]
    return [*by_status, *statuses, *((f"participant:{each}", each) for each in dict.fromkeys(people))]


def _write(access: StageAccess, study: PanelStudy, letter: Mapping[str, str]) -> str:
    kind, _, name = letter["to"].partition(":")
    if kind == "group":
        group = get_object_or_404(Group, pk=name, stage__project=access.project)
        panels.write_to_group(study, group, text=letter["text"], actor=access.user)
        return "The message goes to the group."
    rows = PanelSubmission.objects.filter(study=study)
    submissions = rows.filter(status=name) if kind == "status" else rows.filter(participant=name)
    readers = list(submissions.values_list("participant", flat=True).distinct())
    panels.write_to_participants(study, readers, text=letter["text"], actor=access.user)
    return f"The message goes to {len(readers)} participant{'' if len(readers) == 1 else 's'}."


@require_POST
@on_stage(Role.MANAGER)
def read_messages(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Ask the panel for what participants wrote, or note what is shown as read."""

    def action() -> str:
        source_stage = _at_panel(request, access)
        _refuse_elsewhere(source_stage)
        study = panels.study_of(source_stage)
        if "read" in request.POST:
            keys = [int(key) for key in request.POST.getlist("read") if key.isdigit()]
            panels.note_read(study, keys=keys)
            return "Noted as read."
        try:
            new = panels.sync_messages(source_stage.endpoint, force=True)
        except (MarketplaceDownError, MarketplaceRefusedError) as error:
            raise CrowdError(f"{source_stage.endpoint.label}: {error}") from error
        return f"Read: {new} new message{'' if new == 1 else 's'}."

    return run_action(request, action, "desk:panel_messages", access.project.slug, access.stage.slug)
