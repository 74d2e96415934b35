"""Stages: making, changing, opening and ending them, and the page that shows one at work."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from crowd.desk.chart import hourly
from crowd.desk.doors import (
    NotEnteredError,
    Role,
    Seat,
    StageSeat,
    on_project,
    on_stage,
    posted,
    run_action,
    show,
    show_conflict,
)
from crowd.desk.forms import BudgetForm, MinutesForm, OpenForm, WhyForm
from crowd.desk.stageform import StageForm, form_for
from crowd.desk.views.projects import entered
from crowd.errors import CrowdError
from crowd.kinds import kind_named, kind_of, kinds
from crowd.models import Endpoint, Stage
from crowd.selectors import operations as operation_selectors
from crowd.selectors.cached_figures import is_large, kept
from crowd.selectors.stage_status import standing
from crowd.selectors.wage import expected_wage, wage
from crowd.services import stages
from crowd.services.publication import publish_pending
from crowd.services.quotes import quote
from crowd.study.documents import expected_seconds
from revisions.shown_columns import ConflictError

STAGE = "desk:stage"
Status = Stage.Status


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def new(request: HttpRequest, seat: Seat) -> HttpResponse:
    """A draft of a stage: first its kind, where there are several, then its form."""
    known = list(kinds())
    name = request.GET.get("kind", known[0].name if len(known) == 1 else "")
    if not Endpoint.objects.exists() or name not in {kind.name for kind in known}:
        return show(request, "stage_kind.html", seat, kinds=known, endpoints=Endpoint.objects.exists())
    form = StageForm(request.POST or None, kind=kind_named(name), project=seat.project, budgets=seat.owns)
    if _only_looks(request):
        return _form(request, seat, form)
    if request.method == "POST" and form.is_valid():
        caution = form.caution()
        try:
            stage = stages.create_stage(
                project=seat.project, slug=form.slug, actor=seat.user, **{"kind": name, **form.columns()}
            )
        except CrowdError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The draft is there. Look at what it costs, then open it.")
            _warn(request, caution)
            return redirect(STAGE, seat.project.slug, stage.slug)
    return _form(request, seat, form)


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def edit(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Change a stage, as far as nobody works under its terms yet."""
    form = form_for(seat.stage, request.POST or None, budgets=seat.owns and _may_change_budget(seat.stage))
    if _only_looks(request):
        return _form(request, seat, form)
    if request.method == "POST" and form.is_valid():
        try:
            stages.change_stage(stage=seat.stage, changes=form.columns(), actor=seat.user, seen=form.seen)
        except ConflictError:
            now = _now(seat)
            budgets = seat.owns and _may_change_budget(now)
            form.compare(form_for(now, budgets=budgets), request.path)
        except CrowdError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Saved.")
            _warn(request, form.caution())
            return redirect(STAGE, seat.project.slug, seat.stage.slug)
    return _form(request, seat, form)


def _warn(request: HttpRequest, words: str) -> None:
    if words:
        messages.warning(request, words)


def _only_looks(request: HttpRequest) -> bool:
    """The button that works out the cost was pressed: nothing is stored."""
    return request.method == "POST" and request.POST.get("step") == "cost"


def _form(request: HttpRequest, seat: Seat, form: StageForm) -> HttpResponse:
    status = 409 if form.conflict else 422 if form.is_bound and not form.is_valid() else 200
    return show(
        request,
        "stage_form.html",
        seat,
        form=form,
        part=form.cost(seat.project.wage_floor_cents),
        status=status,
    )


def _now(seat: StageSeat) -> Stage:
    """The stage as it is stored by now."""
    return Stage.objects.select_related("project", "endpoint").get(pk=seat.stage.pk)


def _may_change_budget(stage: Stage) -> bool:
    """More real money is confirmed by opening, so an open stage is paused first."""
    return stage.status != Status.OPEN or not stage.endpoint.real_money


@require_safe
@on_stage()
def stage(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """How a stage is doing: alarms, progress, money, and what can be done."""
    return show(
        request,
        "stage.html",
        seat,
        tab="stage",
        why_form=WhyForm(),
        budget_form=BudgetForm(stage=seat.stage),
        may_change_budget=_may_change_budget(seat.stage),
        recent=operation_selectors.recent(seat.stage)[:6],
        simulated_caution=kind_of(seat.stage).simulated_caution(seat.stage),
        cautions=_cautions(seat.stage),
        **_live(seat),
    )


def _cautions(row: Stage) -> Sequence[str]:
    """What its kind cautions about until it is closed; where that takes a while, as of a moment ago."""
    if row.status == Status.CLOSED:
        return ()
    key = f"stage-cautions:{row.pk}"
    return kept(key, time.time(), lambda: kind_of(row).cautions(row), large=lambda: is_large(row))


@require_safe
@never_cache
@on_stage()
def live(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """The part of the stage's page that changes by itself."""
    return show(request, "parts/live.html", seat, **_live(seat))


def _live(seat: StageSeat) -> dict[str, Any]:
    row = seat.stage
    now = standing(row)
    progress, waiting = now.progress, now.waiting
    at_work = progress.assignments.get("working", 0) + progress.assignments.get("stored", 0)
    open_hits = progress.hits.get("open", 0) + progress.hits.get("planned", 0)
    return {
        "progress": progress,
        "states": _states(progress.assignments),
        "chart": hourly(progress.per_hour, timezone.now()),
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
    return [(state, words, counts.get(state, 0)) for state, words in _STATE_WORDS.items()]


@require_http_methods(["GET", "HEAD", "POST"])
@on_stage(Role.MANAGER)
def opening(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """What publishing costs; opening, with the amount typed where the money is real."""
    row = seat.stage
    if request.method == "POST":
        if not seat.spends:
            raise Http404("Spending real money is for owners.")
        return _open(request, seat)
    if row.status not in (Status.DRAFT, Status.PAUSED):
        return redirect(STAGE, seat.project.slug, row.slug)
    try:
        stages.refuse_unknown_names(row)
        kind_of(row).prepare(row)
        offer, left_out = quote(row), kind_of(row).left_out(row)
    except CrowdError as error:
        messages.error(request, str(error))
        return redirect(STAGE, seat.project.slug, row.slug)
    return show(
        request,
        "opening.html",
        seat,
        offer=offer,
        left_out=left_out,
        cautions=kind_of(row).cautions(row),
        minutes_form=MinutesForm(stage=row),
        guess=expected_wage(row),
        measured=wage(row),
        must_type=row.endpoint.real_money and row.armed_cents < row.budget_cents,
        form=OpenForm(),
    )


def _open(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    def action() -> str:
        typed = entered(OpenForm(request.POST))["typed"]
        offer = stages.open_stage(stage=seat.stage, actor=seat.user, typed_cents=typed)
        return f"The stage is open: {offer.hits} HITs for {offer.assignments} places are being published."

    return run_action(request, action, STAGE, seat.project.slug, seat.stage.slug, other="desk:opening")


@posted
@on_stage(Role.MANAGER)
def expect(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Keep how long one HIT takes, as the researcher guesses it."""
    form = MinutesForm(request.POST, stage=seat.stage)

    def action() -> str:
        minutes = entered(form)["minutes"]
        changes = {"expected_seconds": expected_seconds(minutes)}
        stages.change_stage(
            stage=seat.stage, changes=changes, actor=seat.user, seen=form.seen, texts_follow=True
        )
        return "Kept. The hourly pay below comes from it." if minutes else "The guess is taken away."

    try:
        return run_action(request, action, "desk:opening", seat.project.slug, seat.stage.slug)
    except ConflictError:
        back = reverse("desk:opening", args=[seat.project.slug, seat.stage.slug])
        return show_conflict(request, seat, form, MinutesForm(stage=_now(seat)), back)


def _moved(request: HttpRequest, seat: StageSeat, action: Callable[[], str]) -> HttpResponse:
    """Do something about a stage's state, and show the page that the button stood on."""
    if request.POST.get("from") == "board":
        return run_action(request, action, "desk:board", seat.project.slug)
    return run_action(request, action, STAGE, seat.project.slug, seat.stage.slug)


@posted
@on_stage(Role.MANAGER)
def pause(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Publish nothing more for now."""

    def action() -> str:
        stages.pause_stage(stage=seat.stage, actor=seat.user, why=entered(WhyForm(request.POST))["why"])
        return "Paused. What is on offer stays, and what comes in is collected."

    return _moved(request, seat, action)


@posted
@on_stage(Role.MANAGER)
def close(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Take everything off offer."""

    def action() -> str:
        stages.close_stage(stage=seat.stage, actor=seat.user, why=entered(WhyForm(request.POST))["why"])
        return "Closed. Work that people have begun may still come in, and is paid."

    return _moved(request, seat, action)


@posted
@on_stage(Role.MANAGER)
def reopen(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """A closed stage back to paused."""

    def action() -> str:
        stages.reopen_stage(stage=seat.stage, actor=seat.user, why=entered(WhyForm(request.POST))["why"])
        return "The stage is paused now. Open it to publish what is still missing."

    return _moved(request, seat, action)


@posted
@on_stage(Role.MANAGER, spends=True)
def top_up(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Publish what was rejected, removed or ran out, now instead of at the next round."""

    def action() -> str:
        if seat.stage.status != Status.OPEN:
            raise NotEnteredError(f"The stage is {seat.stage.status}; only an open one is topped up.")
        count = publish_pending(seat.stage)
        return (
            f"{count} HITs are being published." if count else "Nothing is missing, or the budget is used up."
        )

    return run_action(request, action, STAGE, seat.project.slug, seat.stage.slug)


@posted
@on_stage(Role.OWNER)
def set_budget(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """A new cap for the stage."""
    form = BudgetForm(request.POST, stage=seat.stage)

    def action() -> str:
        if not _may_change_budget(seat.stage):
            raise NotEnteredError("Pause the stage first: opening it again asks you to type the new amount.")
        cents = entered(form)["budget"]
        stages.set_stage_budget(stage=seat.stage, budget_cents=cents, actor=seat.user, seen=form.seen)
        return "The stage has a new budget."

    try:
        return run_action(request, action, STAGE, seat.project.slug, seat.stage.slug)
    except ConflictError:
        back = reverse(STAGE, args=[seat.project.slug, seat.stage.slug])
        return show_conflict(request, seat, form, BudgetForm(stage=_now(seat)), back)
