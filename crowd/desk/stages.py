"""Stages: making, changing, trying and ending them, the page of one at work, and its calls to a market.

A trial shows exactly the worker's page, with real units, and stores nothing of it.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from csp.decorators import csp_replace, csp_update
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.projects.selectors import last_event
from core.revisions import ConflictError
from crowd.access import StageAccess, on_stage
from crowd.desk.forms import BudgetForm, CopyForm, MinutesForm, OpenForm, ResolveForm, WhyForm
from crowd.desk.stageform import StageForm, form_for
from crowd.desk.tables import OPERATIONS
from crowd.errors import CrowdError
from crowd.kinds import kind_named, kind_of, kinds
from crowd.models import MarketOperation, Stage
from crowd.rights import usable_endpoints
from crowd.selectors import operations, work_lists
from crowd.selectors.known_people import list_cautions
from crowd.selectors.stage_status import standing
from crowd.selectors.wage import expected_wage, wage
from crowd.services import review, stages
from crowd.services.copies import copy_stage
from crowd.services.instructions import in_language, list_missing_texts
from crowd.services.publication import Quote, publish_pending, quote
from crowd.services.responses import is_remembered, roll_back_after, units_to_try
from crowd.sources import spends_real_money, stages_at
from crowd.study.documents import expected_seconds
from crowd.taskpage import FormValues, UnreadableError, form_of, of_unit, trial_page
from metrics.figure import counted
from web import chart_files, charts
from web.access import ProjectAccess, Role, on_project
from web.cache import cached
from web.cells import Link
from web.charts import BarChart, stack_bars
from web.forms import FormError, read_form, run_action
from web.kit import Empty, Listing, Note, Page
from web.languages import catalogue_language
from web.pages import show, show_conflict, show_table
from web.tables import page_of

# Submissions per hour, as bars.

_HOUR = timedelta(hours=1)
_FEWEST, _MOST = 12, 73


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour, and what came in."""

    at: datetime
    count: int


def count_hours(per_hour: list[tuple[datetime, int]], now: datetime) -> list[Hour]:
    """Each hour from the first one with submissions until now; twelve at least."""
    counts = dict(per_hour)
    last = now.replace(minute=0, second=0, microsecond=0)
    first = min(min(counts, default=last), last - (_FEWEST - 1) * _HOUR)
    hours = [first + number * _HOUR for number in range(min(_MOST, int((last - first) / _HOUR) + 1))]
    return [Hour(at, counts.get(at, 0)) for at in hours]


def draw_hours(hours: list[Hour]) -> BarChart[Hour]:
    """A bar for each hour."""
    return stack_bars((hour, {"earned": hour.count}) for hour in hours)


# Plots of a stage's page, to take along.


@require_safe
@on_stage()
def submissions(request: HttpRequest, access: StageAccess, *, form: str) -> HttpResponse:
    """Submissions per hour of the last three days."""
    hours = count_hours(standing(access.stage).progress.per_hour, timezone.now())
    rows = [{"hour": f"{hour.at:%Y-%m-%dT%H:%M:%SZ}", "submissions": hour.count} for hour in hours]
    says = f"Submissions over {len(hours)} hours: {sum(hour.count for hour in hours):,}."
    plot = charts.submissions(rows, says=says, signature="submissions-per-hour|time=UTC")
    return chart_files.answer(request, plot, f"{access.stage.slug}-submissions", form)


STAGE = "desk:stage"
Status = Stage.Status


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """A draft of a stage: first its kind, where there are several, then its form."""
    all_kinds = list(kinds())
    name = request.GET.get("kind", all_kinds[0].name if len(all_kinds) == 1 else "")
    has_endpoints = usable_endpoints([access.project]).exists()
    if not has_endpoints or name not in {kind.name for kind in all_kinds}:
        present = Stage.objects.filter(project=access.project).order_by("pk")
        return show(
            request, "stage_kind.html", access, kinds=all_kinds, endpoints=has_endpoints, stages=present
        )
    kind = kind_named(name)
    presets = {preset.name: preset for preset in getattr(kind, "presets", tuple)()}
    preset = presets.get(request.GET.get("preset", ""))
    if presets and preset is None and request.method == "GET" and "preset" not in request.GET:
        return show(request, "stage_preset.html", access, kind=kind, presets=presets.values())
    form = StageForm(
        request.POST or None,
        kind=kind,
        project=access.project,
        budgets=access.owns,
        terms=preset.terms if preset else None,
    )

    _take_picture(request, form)

    def make() -> Stage:
        terms = {"kind": name, **form.columns()}
        return stages.create_stage(project=access.project, slug=form.slug, actor=access.user, **terms)

    if _only_looks(request):
        return _look(request, access, form, make)
    if request.method == "POST" and form.is_valid():
        caution = form.caution()
        try:
            stage = make()
        except CrowdError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("The draft is there. Look at what it costs, then open it."))
            _warn(request, caution)
            following = "desk:opening" if request.POST.get("step") == "open" else STAGE
            return redirect(following, access.project.slug, stage.slug)
    return _form(request, access, form)


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def edit(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Change a stage, as far as nobody works under its terms yet."""
    form = form_for(
        access.stage, request.POST or None, budgets=access.owns and _may_change_budget(access.stage)
    )

    _take_picture(request, form)

    def change() -> Stage:
        stages.change_stage(stage=access.stage, changes=form.columns(), actor=access.user, seen=form.seen)
        return _now(access)

    if _only_looks(request):
        return _look(request, access, form, change)
    if request.method == "POST" and form.is_valid():
        try:
            change()
        except ConflictError:
            now = _now(access)
            budgets = access.owns and _may_change_budget(now)
            form.compare(form_for(now, budgets=budgets), request.path)
        except CrowdError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, gettext("Saved."))
            _warn(request, form.caution())
            return redirect(STAGE, access.project.slug, access.stage.slug)
    return _form(request, access, form)


@require_POST
@on_stage(Role.MANAGER)
def copy(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """A draft with the stage's terms."""
    copies: list[Stage] = []

    def action() -> str:
        fields = read_form(CopyForm(request.POST))
        copies.append(copy_stage(stage=access.stage, actor=access.user, **fields))
        return "The draft is there. Change what is to be different; an owner sets its budget."

    answer = run_action(request, action, "desk:edit_stage", access.project.slug, access.stage.slug)
    return redirect("desk:edit_stage", access.project.slug, copies[0].slug) if copies else answer


def _warn(request: HttpRequest, text: str) -> None:
    if text:
        messages.warning(request, text)


def _only_looks(request: HttpRequest) -> bool:
    """The cost or the worker's page is asked for: nothing is stored."""
    return request.method == "POST" and request.POST.get("step") in ("cost", "preview", "language", "picture")


def _take_picture(request: HttpRequest, form: StageForm) -> None:
    """Take the picture that a form brings, whatever it was sent for: browsers forget the choice of a file."""
    file = request.FILES.get("picture")
    if "picture" in form.fields and (form.adds_picture or file is not None):
        form.take_picture(file, request.user)


def _look(
    request: HttpRequest, access: ProjectAccess, form: StageForm, store: Callable[[], Stage]
) -> HttpResponseBase:
    if request.POST["step"] == "preview":
        task = _preview(request, form, store)
        return csp_replace(_POLICY)(lambda _: task)(request)
    return _form(request, access, form)


def _form(request: HttpRequest, access: ProjectAccess, form: StageForm) -> HttpResponseBase:
    wrong = form.is_bound and not form.is_valid() and not _only_looks(request)
    status = 409 if form.conflict else 422 if wrong else 200
    page = show(
        request,
        "stage_form.html",
        access,
        form=form,
        part=form.cost(access.project.wage_floor_cents),
        versions=form.stage.instructions.order_by("-version") if form.stage else (),
        status=status,
    )
    return csp_update({"frame-src": [_SELF]})(lambda _: page)(request)


def _now(access: StageAccess) -> Stage:
    """The stage as it is stored by now."""
    return Stage.objects.select_related("project", "endpoint").get(pk=access.stage.pk)


def _may_change_budget(stage: Stage) -> bool:
    """More real money is confirmed by opening, so an open stage is paused first."""
    return stage.status != Status.OPEN or not spends_real_money(stage)


@require_safe
@on_stage()
def stage(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """How a stage is doing: alarms, progress, money, and what can be done."""
    return show(
        request,
        "stage.html",
        access,
        tab="stage",
        why_form=WhyForm(),
        closing_form=WhyForm(auto_id="closing_%s"),
        budget_form=BudgetForm(stage=access.stage),
        copy_form=CopyForm(auto_id="copy_%s"),
        may_change_budget=_may_change_budget(access.stage),
        recent=operations.recent_operations(access.stage)[:6],
        simulated_caution=kind_of(access.stage).simulated_caution(access.stage),
        cautions=_cautions(access.stage),
        sources=[source_stage.endpoint for source_stage in stages_at(access.stage)],
        real_money=spends_real_money(access.stage),
        panels=[
            source_stage.endpoint
            for source_stage in stages_at(access.stage)
            if source_stage.endpoint.is_panel
        ],
        **_live(access),
    )


def _cautions(row: Stage) -> Sequence[str]:
    """What its kind cautions about until it is closed; where that takes a while, as of a moment ago."""
    if row.status == Status.CLOSED:
        return ()
    return cached(("stage-cautions", row.pk), partial(list_cautions, row))


@require_safe
@never_cache
@on_stage()
def live(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The part of the stage's page that changes by itself."""
    return show(request, "parts/live.html", access, **_live(access))


def _live(access: StageAccess) -> dict[str, Any]:
    row = access.stage
    now = standing(row)
    progress, waiting = now.progress, now.waiting
    at_work = progress.assignments.get("working", 0) + progress.assignments.get("stored", 0)
    open_hits = progress.hits.get("open", 0) + progress.hits.get("planned", 0)
    hours = count_hours(progress.per_hour, timezone.now())
    return {
        "progress": progress,
        "states": _states(progress.assignments),
        "chart": draw_hours(hours),
        "busy_hours": [hour for hour in reversed(hours) if hour.count],
        "pay": now.pay,
        "alarms": now.alarms,
        "waiting": waiting,
        "done": not (row.status == Status.OPEN or waiting or at_work or open_hits),
        "spent": {"rewards": now.rewards_cents, "fees": now.fees_cents},
        "counted_at": now.counted_at,
    }


_STATE_WORDS = {
    "working": "at work",
    "stored": "stored, not yet listed",
    "submitted": "submitted, undecided",
    "approved": "approved",
    "rejected": "rejected",
    "quarantined": "in quarantine",
    "ended": "given back",
}


def _states(counts: dict[str, int]) -> list[tuple[str, str, int]]:
    return [(state, label, counts.get(state, 0)) for state, label in _STATE_WORDS.items()]


@dataclass(frozen=True, slots=True)
class _Offer:
    """What opening a stage would publish and cost, what it would not ask about, and what to know before."""

    offer: Quote
    left_out: Mapping[str, int]
    cautions: Sequence[str]


def _find_offer(row: Stage) -> _Offer:
    kind = kind_of(row)
    cautions = stages.take_panel_fees(row)
    kind.prepare(row)
    all_cautions = [*cautions, *list_cautions(row), *list_missing_texts(row)]
    return _Offer(quote(row), dict(kind.left_out(row)), all_cautions)


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def opening(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """What publishing costs; opening, with the amount typed where the money is real."""
    row = access.stage
    if request.method == "POST":
        if not access.spends:
            raise Http404("Spending real money is for owners.")
        return _open(request, access)
    if row.status not in (Status.DRAFT, Status.PAUSED):
        return redirect(STAGE, access.project.slug, row.slug)
    try:
        stages.refuse_unknown_names(row)
        # Whatever a person did in the project may change it; what people answer changes it all the time.
        proposal = cached(("stage-offer", row.pk, last_event(access.project, "")), partial(_find_offer, row))
    except CrowdError as error:
        messages.error(request, str(error))
        return redirect(STAGE, access.project.slug, row.slug)
    return show(
        request,
        "opening.html",
        access,
        offer=proposal.offer,
        left_out=proposal.left_out,
        cautions=proposal.cautions,
        minutes_form=MinutesForm(stage=row),
        guess=expected_wage(row),
        measured=wage(row),
        must_type=spends_real_money(row) and row.armed_cents < row.budget_cents,
        form=OpenForm(),
    )


def _open(request: HttpRequest, access: StageAccess) -> HttpResponse:
    def action() -> str:
        typed = read_form(OpenForm(request.POST, currency=access.stage.endpoint.currency))["typed"]
        offer = stages.open_stage(stage=access.stage, actor=access.user, typed_cents=typed)
        hits = ngettext("%d HIT", "%d HITs", offer.hits) % offer.hits
        places = ngettext("%d place", "%d places", offer.assignments) % offer.assignments
        return f"The stage is open: {hits} for {places}. They are published now."

    return run_action(request, action, STAGE, access.project.slug, access.stage.slug, other="desk:opening")


@require_POST
@on_stage(Role.MANAGER)
def expect(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Keep how long one HIT takes, as the researcher guesses it."""
    form = MinutesForm(request.POST, stage=access.stage)

    def action() -> str:
        minutes = read_form(form)["minutes"]
        changes = {"expected_seconds": expected_seconds(minutes)}
        stages.change_stage(
            stage=access.stage, changes=changes, actor=access.user, seen=form.seen, texts_follow=True
        )
        return "Saved. The hourly pay below comes from it." if minutes else "The guess is removed."

    try:
        return run_action(request, action, "desk:opening", access.project.slug, access.stage.slug)
    except ConflictError:
        back = reverse("desk:opening", args=[access.project.slug, access.stage.slug])
        return show_conflict(request, access, form, MinutesForm(stage=_now(access)), back)


def _moved(request: HttpRequest, access: StageAccess, action: Callable[[], str]) -> HttpResponse:
    """Do something about a stage's state, and show the page that the button stood on."""
    if request.POST.get("from") == "board":
        return run_action(request, action, "desk:board", access.project.slug)
    return run_action(request, action, STAGE, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def pause(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Publish nothing more for now."""

    def action() -> str:
        stages.pause_stage(stage=access.stage, actor=access.user, why=read_form(WhyForm(request.POST))["why"])
        return "Paused. What is on offer stays, and what comes in is collected."

    return _moved(request, access, action)


@require_POST
@on_stage(Role.MANAGER)
def close(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Expire all its HITs."""

    def action() -> str:
        stages.close_stage(stage=access.stage, actor=access.user, why=read_form(WhyForm(request.POST))["why"])
        return "Closed. Work that people have begun may still come in, and is paid."

    return _moved(request, access, action)


@require_POST
@on_stage(Role.MANAGER)
def reopen(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """A closed stage back to paused."""

    def action() -> str:
        stages.reopen_stage(
            stage=access.stage, actor=access.user, why=read_form(WhyForm(request.POST))["why"]
        )
        return "The stage is paused now. Open it to publish what is still missing."

    return _moved(request, access, action)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def top_up(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Publish what was rejected, removed or ran out, now instead of at the next round."""

    def action() -> str:
        if access.stage.status != Status.OPEN:
            raise FormError(f"The stage is {access.stage.status}; only an open one is topped up.")
        count = publish_pending(access.stage, actor=access.user)
        if not count:
            return "Nothing is missing, or the budget is used up."
        return ngettext("%d HIT is being published.", "%d HITs are being published.", count) % count

    return run_action(request, action, STAGE, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.OWNER)
def set_budget(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """A new cap for the stage."""
    form = BudgetForm(request.POST, stage=access.stage)

    def action() -> str:
        if not _may_change_budget(access.stage):
            raise FormError(
                gettext("Pause the stage first: opening it again asks you to type the new amount.")
            )
        cents = read_form(form)["budget"]
        stages.set_stage_budget(stage=access.stage, budget_cents=cents, actor=access.user, seen=form.seen)
        return "The stage has a new budget."

    try:
        return run_action(request, action, STAGE, access.project.slug, access.stage.slug)
    except ConflictError:
        back = reverse(STAGE, args=[access.project.slug, access.stage.slug])
        return show_conflict(request, access, form, BudgetForm(stage=_now(access)), back)


Kind = MarketOperation.Kind

#: Per kind: what was asked, where to look, what "it happened" and "it did not" do.
_WORDS: dict[str, tuple[str, str, str, str]] = {
    Kind.PUBLISH: (
        "Publish a HIT",
        "Look in the marketplace's list of HITs for one whose annotation ends with the token.",
        "The HIT is taken as published under the id that you give; its answers are collected and paid.",
        "Its money is free again and the HIT counts as refused; topping up asks for its units again.",
    ),
    Kind.EXTEND: (
        "Give a HIT more places",
        "Look at the HIT: has it the new number of places?",
        "The places are counted, their money stays reserved.",
        "The money is free again; you can ask for more places once more.",
    ),
    Kind.BONUS: (
        "Pay a bonus",
        "Look in the list of bonus payments of the assignment for one with the reference in its reason.",
        "The bonus is booked as paid and never paid again.",
        "The money is free again; this bonus is not tried again by itself. You can plan another one.",
    ),
    Kind.APPROVE: (
        "Approve work",
        "Look at the assignment: is it approved?",
        "The work is booked as approved and paid.",
        "Nothing is booked; the work waits for another decision.",
    ),
    Kind.REJECT: (
        "Reject work",
        "Look at the assignment: is it rejected?",
        "The work is booked as rejected; its money is free again.",
        "Nothing is booked; the work waits for another decision.",
    ),
}
_OTHERS = (
    "",
    "Look at the marketplace whether it was done.",
    "It is booked as done.",
    "It is booked as not done, and is not tried again by itself.",
)


# The log of what was asked of the marketplace, and what a person must decide about


@require_safe
@on_stage()
def list_operations(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Every call that changed something, or should have; newest first unless the address says otherwise."""
    return show_table(
        request,
        access,
        OPERATIONS,
        lambda grid: work_lists.operations_of(operations.recent_operations(access.stage), grid["state"]),
        _describe_operations(access),
        file=f"{access.stage.slug}-operations",
        tab="operations",
    )


def _describe_operations(access: StageAccess) -> Page:
    undecided = operations.operations_for_people(access.stage).count()
    needs = f"{counted(undecided, 'operation')} need{'s' if undecided == 1 else ''} your decision"
    alarm = Note(
        (Link(needs, access.address("desk:decisions")), ": the marketplace did not answer."),
        "error alarm",
    )
    kinds_of_calls = "publishing, approving, paying, expiring. The first ones come when the stage opens."
    planned = f"Every call that changes something there is planned here first, and stays: {kinds_of_calls}"
    empty = Empty(gettext("Nothing was asked of the marketplace yet"), planned)
    none = Empty(gettext("None is in this state"), Link(gettext("Show all operations"), "?"))
    listing = Listing(
        gettext("Which operations to show"), gettext("operation"), gettext("operations"), empty, none
    )
    return Page(gettext("Operations"), [alarm, listing] if undecided else [listing])


@require_safe
@on_stage()
def list_undecided_operations(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Operations that nobody answered, with what each answer of yours does."""
    page = page_of(operations.operations_for_people(access.stage), request)
    cases = [
        (
            row,
            _WORDS.get(row.kind, (row.get_kind_display(), *_OTHERS[1:])),
            ResolveForm(auto_id=f"{row.token[:8]}_%s"),
        )
        for row in page
    ]
    return show(request, "decisions.html", access, tab="operations", cases=cases, pages=page)


@require_POST
@on_stage(Role.MANAGER)
def resolve_operation(request: HttpRequest, access: StageAccess, *, operation: uuid.UUID) -> HttpResponse:
    """What became of an operation; booking money that was reserved spends nothing new."""
    row = get_object_or_404(MarketOperation, stage=access.stage, pk=operation)

    def action() -> str:
        fields = read_form(ResolveForm(request.POST))
        happened = fields["happened"] == "yes"
        review.resolve_operation(
            operation=row, actor=access.user, happened=happened, ref=fields["ref"], why=fields["why"]
        )
        return "Booked as done." if happened else "Booked as not done; its money is free again."

    answer = run_action(request, action, "desk:decisions", access.project.slug, access.stage.slug)
    if (
        request.GET.get("queue") == "operations"
        and not operations.operations_for_people(access.stage).exists()
    ):
        return redirect("desk:queue", access.project.slug, "operations")
    return answer


_SELF = "'self'"
_POLICY = {
    "default-src": ["'none'"],
    "script-src": [_SELF],
    "style-src": [_SELF],
    "img-src": [_SELF, "data:"],
    "form-action": [_SELF],
    "base-uri": ["'none'"],
    "frame-ancestors": [_SELF],
}


@require_safe
@csp_update({"frame-src": [_SELF]})
@on_stage()
def trial(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """The task in a frame, wide or as wide as a phone."""
    return show(request, "try.html", access)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@xframe_options_sameorigin
@csp_replace(_POLICY)
@on_stage()
def try_task(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """GET shows the task, POST says what is missing; neither keeps anything."""
    with roll_back_after():
        try:
            names = units_to_try(access.stage)
        except CrowdError as error:
            return _show_message(request, gettext("This cannot be shown yet"), str(error))
        if not names:
            sentence = (
                "There is nothing to ask about yet. Bring what this stage needs; then its first HIT is here."
            )
            return _show_message(request, gettext("No units yet"), sentence)
        if request.method == "POST":
            return _read(request, access.stage, names)
        return trial_page(request, access.stage, names, FormValues())


@never_cache
@xframe_options_sameorigin
def _preview(request: HttpRequest, form: StageForm, store: Callable[[], Stage]) -> HttpResponse:
    """The worker's page of a stage with the terms that are entered, which are not kept."""
    if not form.is_valid():
        sentence = "It comes back when what is entered fits together."
        return _show_message(request, gettext("No preview now"), sentence)
    with roll_back_after():
        try:
            stage = store()
            names = units_to_try(stage)
            stage = in_language(stage, request.POST.get("preview_language", ""))
        except (CrowdError, ConflictError) as error:
            return _show_message(request, gettext("No preview now"), str(error))
        if not names:
            return _show_message(
                request, gettext("No preview yet"), gettext("There is nothing to ask about yet.")
            )
        with translation.override(catalogue_language(stage.text_language)):
            return trial_page(request, stage, names, FormValues(), preview=True)


def _read(request: HttpRequest, stage: Stage, names: dict[str, str]) -> HttpResponse:
    """What a worker would read who sent this form."""
    try:
        sent = form_of(request)
    except UnreadableError:
        return _show_message(
            request,
            gettext("Nothing was read"),
            gettext("The form is far too long."),
            again=request.path,
            status=413,
        )
    form = {name: value for name, value in sent.items() if "|" in name and not is_remembered(name)}
    kind = kind_of(stage)
    parsed = {unit: kind.parse(stage, unit, of_unit(form, name)) for unit, name in names.items()}
    errors = {unit: result.errors for unit, result in parsed.items() if not result.good}
    if errors:
        return trial_page(request, stage, names, FormValues(form, errors), status=422)
    sentence = (
        "Everything is filled in; a worker's answer would be stored now. This was a trial: nothing was."
    )
    return _show_message(request, gettext("That would be all"), sentence, again=request.path)


def _show_message(
    request: HttpRequest, title: str, sentence: str, *, again: str = "", status: int = 200
) -> HttpResponse:
    context = {"title": title, "sentence": sentence, "again": again}
    return render(request, "crowd/tried.html", context, status=status)
