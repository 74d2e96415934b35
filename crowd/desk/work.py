"""HITs of a stage and the work that came in: the tables, one of each, and what a person decides about it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_POST, require_safe

from core.errors import ActionError
from core.money import bonus_fee
from crowd.access import StageAccess, on_stage
from crowd.desk import tables
from crowd.desk.forms import BonusForm, HoursForm, NoteForm, OnceForm, PlacesForm, ReasonForm
from crowd.desk.tables import HITS
from crowd.desk.tables import WORK as WORK_TABLE
from crowd.errors import StageStateError
from crowd.kinds import kind_of
from crowd.models import Assignment, Hit, HitUnit, MarketOperation, Stage
from crowd.selectors import queues, work_lists
from crowd.selectors.people import say_consents
from crowd.selectors.queues import queue_named
from crowd.services import review, stages
from metrics.figure import counted
from web.access import ProjectAccess, Role, on_project
from web.cells import Link, amount
from web.forms import MOST_MATCHING, chosen_keys, is_confirmed, matching_keys, read_form, run_action
from web.kit import Button, Empty, Listing, Page, Ticks
from web.pages import confirm_all, show, show_table

# Decisions that wait for a person: how many of each kind, and on to the next one.


@require_safe
@on_project()
def list_queue(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """All queues with their counts."""
    waiting_queues = queues.waiting(access.project)
    return show(
        request,
        "queues.html",
        access,
        tab="queues",
        waiting=[each for each in waiting_queues if each.count],
        done=[each for each in waiting_queues if not each.count],
        together=sum(each.count for each in waiting_queues),
    )


@require_safe
@on_project()
def following(request: HttpRequest, access: ProjectAccess, *, queue: str) -> HttpResponse:
    """On to the next one that waits, or back to the queues where none does."""
    queue_row = queues.queue_named(queue)
    if queue_row is None:
        raise Http404("There is no such queue.")
    address = queue_row.first(access.project)
    if address:
        return redirect(address)
    messages.success(request, f"Nothing is left: {queue_row.label.lower()}.")
    return redirect("desk:queues", access.project.slug)


State = Assignment.State
WORK = "desk:assignment"
DECIDABLE = (State.SUBMITTED, State.QUARANTINED)
#: Refusals that the note after a bulk decision spells out.
_TOLD = 10


@require_safe
@on_stage()
def list_work(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The table; sorted, filtered and paged by the address."""

    def complete(rows: list[Assignment]) -> list[Assignment]:
        tables.say_what_about(access.stage, rows)
        say_consents(rows)
        return rows

    return show_table(
        request,
        access,
        WORK_TABLE,
        lambda grid: work_lists.work(access.stage, grid["state"], grid["worker"]),
        _describe_work(request, access),
        complete=complete,
        file=f"{access.stage.slug}-work",
        tab="work",
    )


def _describe_work(request: HttpRequest, access: StageAccess) -> Page:
    stage = access.stage
    approve = f"{access.address('desk:approve_chosen')}?{request.GET.urlencode()}"
    reward = amount(stage.reward_cents, stage.endpoint.currency)
    ticks = Ticks(
        "chosen",
        lambda row: row.pk if row.state in DECIDABLE else None,
        lambda row: (
            f"the work of {row.worker.external_id}" + (f" on HIT {row.hit.ordinal}" if row.hit else "")
        ),
        approve,
        [Button(gettext("Approve the chosen"), plain=True)],
        note=f"Each is paid {reward}; pay cannot be taken back. To reject, or write a note, open the work.",
        most=MOST_MATCHING,
    )
    at_once = " Good-faith work is approved as soon as it arrives." if stage.approve_at_once else ""
    every = Link(gettext("Show all work"), "?state=all")
    waiting = Empty(gettext("Nothing here"), (f"Nothing waits for a decision.{at_once} ", every))
    other = Empty(gettext("Nothing here"), ("No work is in this state. ", every))
    chosen = ticks if access.manages else None
    listing = Listing(
        gettext("Which work to show"),
        gettext("piece of work"),
        gettext("pieces of work"),
        waiting,
        other,
        ticks=chosen,
    )
    return Page(gettext("Work"), [listing])


@dataclass(frozen=True, slots=True)
class Answer:
    """A unit with what was answered; `passed` is None for units that are no check."""

    unit: str
    wording: str
    role: str
    response: Any
    passed: bool | None

    @property
    def fields(self) -> list[tuple[str, Any]]:
        """What was filled in, by name; empty where the answer is one value."""
        if not isinstance(self.response, dict):
            return []
        parts = (
            value.items() if isinstance(value, dict) else [(name, value)]
            for name, value in self.response.items()
        )
        return [
            (name.replace("_", " ").capitalize(), value)
            for part in parts
            for name, value in part
            if value not in ("", None, [])
        ]


def _answers(assignment: Assignment) -> list[Answer]:
    responses = assignment.response if isinstance(assignment.response, dict) else {}
    kind, stage = kind_of(assignment.stage), assignment.stage
    answers = []
    roles = dict(HitUnit.objects.filter(hit=assignment.hit).order_by("position").values_list("unit", "role"))
    wording = kind.wording(stage, list(roles))
    for unit, role in roles.items():
        response = responses.get(unit)
        passed = None
        if role == HitUnit.Role.CHECK and response is not None:
            passed = kind.passes(stage, unit, response)
        answers.append(Answer(unit, wording.get(unit, unit), role, response, passed))
    return answers


def _assignment(access: StageAccess, pk: int) -> Assignment:
    row: Assignment = get_object_or_404(
        Assignment.objects.select_related("hit", "worker"), stage=access.stage, pk=pk
    )
    row.stage = access.stage
    return row


@require_safe
@on_stage()
def assignment(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Answers, checks, times, and the forms by which a person decides."""
    row = _assignment(access, pk)
    return show(
        request,
        "assignment.html",
        access,
        tab="work",
        assignment=row,
        answers=_answers(row),
        queue=queue_named(request.GET.get("queue", "")),
        operation_table=tables.operation_table(MarketOperation.objects.filter(assignment=row)),
        decidable=row.state in DECIDABLE,
        note_form=NoteForm(auto_id="approve_%s"),
        reason_form=ReasonForm(auto_id="reject_%s", least=review.least_rejection(row.endpoint)),
        override_form=NoteForm(auto_id="override_%s"),
        bonus_form=BonusForm(auto_id="bonus_%s"),
        bonus_fee=bonus_fee(access.stage.endpoint.fee_profile, bonus_cents=100),
    )


def _decide(request: HttpRequest, access: StageAccess, pk: int, action: Callable[[], str]) -> HttpResponse:
    """Decide, and show the work again; or the next of the queue from which it was opened."""
    names = (access.project.slug, access.stage.slug, pk)
    queue = queue_named(request.GET.get("queue", ""))
    if queue is None:
        return run_action(request, action, WORK, *names)
    try:
        messages.success(request, action())
    except ActionError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse(WORK, args=names)}?queue={queue.name}")
    return redirect("desk:queue", access.project.slug, queue.name)


@require_POST
@on_stage(Role.MANAGER)
def approve(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Plan the payment of an assignment, with a note for the worker."""
    row = _assignment(access, pk)

    def action() -> str:
        note = read_form(NoteForm(request.POST))["note"]
        review.approve(assignment=row, actor=access.user, note=note)
        return _with_rest("The approval is on its way to the marketplace.", row)

    return _decide(request, access, pk, action)


@require_POST
@on_stage(Role.MANAGER)
def approve_chosen(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Approve what is ticked in the table; the table comes back as it was filtered."""
    filters = request.GET.urlencode()
    address = access.address("desk:work") + (f"?{filters}" if filters else "")
    try:
        if "every" in request.POST:
            grid = WORK_TABLE.read_request(request.GET)
            rows = work_lists.work(access.stage, grid["state"], grid["worker"])
            keys = matching_keys(request.POST, rows.filter(state__in=DECIDABLE))
            if not is_confirmed(request.POST):
                return _confirm_approval(request, access, len(keys), address)
            outcome = review.approve_each(stage=access.stage, assignments=keys, actor=access.user)
        else:
            keys = chosen_keys(request.POST.getlist("chosen"))
            outcome = review.approve_chosen(stage=access.stage, assignments=keys, actor=access.user)
    except ActionError as error:
        messages.error(request, str(error))
    else:
        if outcome.approved:
            messages.success(request, f"{outcome.approved} approved: on the way to the marketplace.")
        for worker, why in outcome.refused[:_TOLD]:
            messages.warning(request, f"Work of {worker} was not approved. {why}")
        if len(outcome.refused) > _TOLD:
            messages.warning(request, f"Not approved besides these: {len(outcome.refused) - _TOLD:,}.")
        for worker, what in outcome.undecided[:_TOLD]:
            messages.info(request, f"Work of {worker} was approved. {what}")
        if len(outcome.undecided) > _TOLD:
            more = len(outcome.undecided) - _TOLD
            messages.info(
                request, f"Approved besides these, with answers that wait for a reviewer: {more:,}."
            )
    return redirect(address)


def _confirm_approval(request: HttpRequest, access: StageAccess, count: int, back: str) -> HttpResponse:
    stage = access.stage
    each, together = (
        amount(cents, stage.endpoint.currency) for cents in (stage.reward_cents, count * stage.reward_cents)
    )
    note = (
        f"All that match the filter and can be approved. Each is paid {each}, together {together} and the "
        "marketplace's fee. Pay cannot be taken back."
    )
    question = f"Approve {counted(count, 'piece')} of work?"
    return confirm_all(request, access, count=count, question=question, note=note, back=back, tab="work")


@require_POST
@on_stage(Role.MANAGER)
def reject(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Reject, with a reason."""
    row = _assignment(access, pk)

    def action() -> str:
        reason = read_form(ReasonForm(request.POST))["reason"]
        review.reject(assignment=row, actor=access.user, reason=reason)
        return "The rejection is on its way to the marketplace. Within 30 days you can still approve it."

    return _decide(request, access, pk, action)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def override(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Approve rejected work after all."""
    row = _assignment(access, pk)

    def action() -> str:
        note = read_form(NoteForm(request.POST))["note"]
        review.override(assignment=row, actor=access.user, note=note)
        return _with_rest("Approved after all: on the way to the marketplace.", row)

    return run_action(request, action, WORK, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER, spends=True)
def bonus(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Pay a bonus."""
    row = _assignment(access, pk)

    def action() -> str:
        form = BonusForm(request.POST, currency=access.stage.endpoint.currency)
        fields = read_form(form)
        review.bonus(
            assignment=row,
            actor=access.user,
            cents=fields["amount"],
            reason=fields["reason"],
            purpose=form.purpose(),
        )
        return "The bonus is being paid."

    return run_action(request, action, WORK, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER)
def release(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Let held work go on."""
    row = _assignment(access, pk)

    def action() -> str:
        review.release_hold(assignment=row, actor=access.user)
        return _with_rest("No longer held; it is being approved.", row)

    return _decide(request, access, pk, action)


def _with_rest(sentence: str, row: Assignment) -> str:
    """The sentence, and what in the approved work still waits for a reviewer."""
    return " ".join(filter(None, (sentence, kind_of(row.stage).undecided(row))))


# HITs of a stage


@require_safe
@on_stage()
def list_hits(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """The table; sorted, filtered and paged by the address."""
    return show_table(
        request,
        access,
        HITS,
        lambda grid: work_lists.hits(access.stage, grid["state"], grid["q"]),
        Page("HITs", [Listing(gettext("Find a HIT"), "HIT", "HITs", _no_hits(access))]),
        file=f"{access.stage.slug}-hits",
        tab="hits",
    )


def _no_hits(access: StageAccess) -> Empty:
    words = (
        "A HIT is a bundle of units that people take as one piece of work. HITs are made when the "
        "stage opens, "
    )
    opens = access.manages and access.stage.status in (Stage.Status.DRAFT, Stage.Status.PAUSED)
    cost = Link(gettext("Look at what opening costs"), access.address("desk:opening"))
    return Empty(gettext("No HITs"), (f"{words}and again when something is missing. ", opens and cost))


def _find_hit(access: StageAccess, number: int) -> Hit:
    hit: Hit = get_object_or_404(Hit, stage=access.stage, ordinal=number)
    hit.stage = access.stage
    return hit


@require_safe
@on_stage()
def hit(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """What is in a HIT, who took it, and what was asked of the marketplace about it."""
    row = _find_hit(access, number)
    work = list(Assignment.objects.filter(hit=row).select_related("worker", "hit").order_by("pk")[:100])
    return show(
        request,
        "hit.html",
        access,
        tab="hits",
        hit=row,
        units=_units(row),
        work_table=tables.work_table(work),
        operation_table=tables.operation_table(MarketOperation.objects.filter(hit=row)),
        hours_form=HoursForm(),
        places_form=PlacesForm(),
        expire_form=OnceForm(auto_id="expire_%s"),
    )


def _units(row: Hit) -> list[tuple[HitUnit, str]]:
    """What is in a HIT, in its order, each with the kind's words for it."""
    units = list(row.units.order_by("position"))
    wording = kind_of(row.stage).wording(row.stage, [unit.unit for unit in units])
    return [(unit, wording.get(unit.unit, unit.unit)) for unit in units]


@require_POST
@on_stage(Role.MANAGER)
def more_time(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """Keep it on offer longer."""
    row = _find_hit(access, number)

    def action() -> str:
        hours = read_form(HoursForm(request.POST))["hours"]
        until = max(row.expires_at or timezone.now(), timezone.now()) + timedelta(hours=hours)
        _on_offer_once(row)
        stages.extend_hit_time(hit=row, until=until.replace(microsecond=0))
        return f"It is asked to stay on offer until {until:%-d %b %Y, %H:%M} UTC."

    return run_action(request, action, "desk:hit", access.project.slug, access.stage.slug, number)


def _on_offer_once(row: Hit) -> None:
    if row.state == Hit.State.PLANNED or not row.external_id:
        raise StageStateError("The HIT is not published yet.")


@require_POST
@on_stage(Role.MANAGER, spends=True)
def more_places(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """More people for it."""
    row = _find_hit(access, number)

    def action() -> str:
        form = PlacesForm(request.POST)
        places = read_form(form)["places"]
        stages.extend_hit_places(hit=row, places=places, purpose=form.purpose())
        return f"{counted(places, 'more place')} asked for."

    return run_action(request, action, "desk:hit", access.project.slug, access.stage.slug, number)


@require_POST
@on_stage(Role.MANAGER)
def expire(request: HttpRequest, access: StageAccess, *, number: int) -> HttpResponse:
    """Plan the end of a HIT; who works on it may still submit."""
    row = _find_hit(access, number)

    def action() -> str:
        form = OnceForm(request.POST)
        read_form(form)
        _on_offer_once(row)
        stages.expire_hit(hit=row, purpose=form.purpose())
        return "It expires now. Work that people have begun may still come in."

    return run_action(request, action, "desk:hit", access.project.slug, access.stage.slug, number)
