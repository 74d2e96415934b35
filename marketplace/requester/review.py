"""Reviewing by HIT, by worker, in one table, by sheets or one answer, and the decisions taken there."""

from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from core.errors import ActionError
from core.money import FEE_PROFILES
from marketplace import clock
from marketplace.lifecycle import decisions
from marketplace.lifecycle.decisions import Outcome
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.review import OVERRIDE_WITHIN
from marketplace.members import Action
from marketplace.models import HIT, Bonus, Holding, Requester, Worker
from marketplace.money.amounts import money
from marketplace.requester import selectors as tables
from marketplace.requester import work as selectors
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.requester.forms import ApproveForm, BonusForm, RejectForm
from marketplace.requester.lookup import own_hit, own_work, own_worker, visible_work
from marketplace.site.lookup import settle_approvals
from metrics.figure import counted
from web.cells import Link
from web.forms import chosen_keys, read_form, run_action
from web.kit import Empty, Listing, Own, Page, Tabs
from web.tables import late

PLACE = "review"
#: Answers of a sheet on one page: they are read whole.
_ANSWERS = 10


def _at(access: RequesterAccess, name: str, which: str) -> str:
    return reverse(name, args=[access.requester.customer_id, which])


@require_safe
@for_requester
def by_hit(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """HITs with work to review, those made first at the top."""
    now = clock.now()
    settle_approvals(access.requester, now)
    first = selectors.next_hit(access.requester)
    return respond(
        request,
        access,
        selectors.WAITING_HITS,
        lambda grid: tables.hits(
            access.requester,
            state="waiting",
            hit_type=grid["type"],
            batch=grid["batch"],
            query=grid["q"],
            now=now,
        ),
        _describe_review(
            access,
            "By HIT",
            Listing("Find a HIT to review", "HIT to review", "HITs to review", _NO_HITS),
            _at(access, "requester:review_hit", first.hit_id) if first else "",
        ),
        place=PLACE,
        complete=selectors.say_when_due,
        file="review-by-hit",
    )


_NO_HITS = Empty(
    "Nothing to review",
    "Answers appear here as soon as workers submit them, and stay until you decide or their automatic "
    "approval comes.",
)
_NO_WORKERS = Empty(
    "Nothing to review", "Workers appear here as soon as they submit work that is not decided yet."
)
_WAYS = {
    "By HIT": "requester:review",
    "By worker": "requester:review_by_worker",
    "All work": "requester:review_table",
}


def _describe_review(access: RequesterAccess, way: str, part: object, first: str = "") -> Page:
    """The page of one of the ways to review."""
    waiting = selectors.waiting_count(access.requester)
    said = f"{counted(waiting, 'answer')} wait{'s' if waiting == 1 else ''}" if waiting else "No answer waits"
    return Page(
        "Review",
        [part],
        lead=f"{said} for a decision.",
        tabs=Tabs("Ways to review", way, [(label, access.address(name)) for label, name in _WAYS.items()]),
        primary=[Link("Begin reviewing", first)] if first else [],
        scripts=["choose.js"],
    )


@require_safe
@for_requester
def by_worker(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Workers with work to review: how much, and how fast they are."""
    now = clock.now()
    settle_approvals(access.requester, now)
    first = selectors.next_worker(access.requester, now)
    return respond(
        request,
        access,
        tables.WAITING,
        lambda grid: tables.waiting(access.requester, query=grid["q"], now=now),
        _describe_review(
            access,
            "By worker",
            Listing("Find a worker to review", "worker to review", "workers to review", _NO_WORKERS),
            _at(access, "requester:review_worker", first.worker_id) if first else "",
        ),
        place=PLACE,
        complete=lambda rows: tables.say_how_fast(access.requester, rows, now),
        file="review-by-worker",
    )


@require_safe
@for_requester
def table(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """All work in one table, with many approvals at a time, and as a file with its answers."""
    now = clock.now()
    settle_approvals(access.requester, now)
    return respond(
        request,
        access,
        selectors.GRID,
        lambda grid: selectors.work(access.requester, grid.values, now=now),
        _describe_review(access, "All work", Own("marketplace/requester/review_table.html")),
        complete=lambda rows: selectors.say_what_was_asked(
            selectors.say_agreement(selectors.say_hints(rows))
        ),
        place=PLACE,
        file="work",
    )


def state_of(query: QueryDict) -> str:
    """Which work of a sheet is asked for."""
    state = query.get("state", "")
    return state if state in selectors.STATES else "waiting"


@require_safe
@for_requester
def of_hit(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponseBase:
    """The sheet of one HIT: all its answers, one below the other, to decide on."""
    now = clock.now()
    row = own_hit(access.requester, hit_id)
    settle(hits=[row], now=now)
    rows = selectors.of_hit(row, state=state_of(request.GET), now=now)
    after = selectors.next_hit(access.requester, row.pk)
    following = _at(access, "requester:review_hit", after.hit_id) if after else ""
    return _sheet(request, access, rows, now, by="hit", hit=row, following=following)


@require_safe
@for_requester
def of_worker(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponseBase:
    """The sheet of one worker: everything they answered for this requester, to decide on."""
    now = clock.now()
    worker = own_worker(access.requester, worker_id, now)
    settle_approvals(access.requester, now)
    rows = selectors.of_worker(access.requester, worker, state=state_of(request.GET), now=now)
    after = selectors.next_worker(access.requester, now, worker.pk)
    following = _at(access, "requester:review_worker", after.worker_id) if after else ""
    return _sheet(request, access, rows, now, by="worker", whose=worker, following=following)


def _sheet(
    request: HttpRequest,
    access: RequesterAccess,
    rows: QuerySet[Holding],
    now: datetime,
    *,
    by: str,
    following: str,
    hit: HIT | None = None,
    whose: Worker | None = None,
) -> HttpResponse:
    page = Paginator(late(rows), _ANSWERS).get_page(request.GET.get("page"))
    answers = selectors.make_views(list(page.object_list))
    state = state_of(request.GET)
    origin = QueryDict(mutable=True)
    origin["from"] = by
    if state != "waiting":
        origin["state"] = state
    if page.number > 1:
        origin["page"] = str(page.number)
    return show(
        request,
        "review_sheet.html",
        access,
        place=PLACE,
        now=now,
        by=by,
        hit=hit,
        whose=whose,
        answers=answers,
        pages=page,
        state=state,
        states=selectors.STATES,
        origin=f"?{origin.urlencode()}",
        following=following,
        seen=now.isoformat(),
        bonus_rate=bonus_rate(access.requester),
    )


def bonus_rate(requester: Requester) -> Decimal:
    """The fee on a bonus, in percent."""
    return FEE_PROFILES[requester.fee_profile].bonus_rate * 100


@require_safe
@for_requester
def work(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponseBase:
    """One answer, its times, what was paid for it, and the forms by which somebody decides."""
    now = clock.now()
    row = own_work(access.requester, pk, now)
    settle(hits=[row.hit], now=now)
    # Settling may have approved it a moment ago.
    row.refresh_from_db()
    [answer_view] = selectors.make_views([row])
    return show(
        request,
        "work.html",
        access,
        place=PLACE,
        now=now,
        each=answer_view,
        origin="",
        bonuses=Bonus.objects.filter(holding=row).order_by("-granted_at", "-pk")[:50],
        overridable=_overridable(row, now),
        cost=0 if row.unpaid else row.hit.reward_cents + row.hit.fee_cents,
        bonus_rate=bonus_rate(access.requester),
    )


def _overridable(row: Holding, now: datetime) -> bool:
    """A rejection that can still be turned into an approval."""
    return bool(
        row.state == Holding.State.REJECTED
        and not row.hit.disposed_at
        and row.submitted_at
        and row.submitted_at >= now - OVERRIDE_WITHIN
    )


@require_safe
@for_requester
def answer_file(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """The answer as the protocol carries it, to keep; no browser shows it as a page."""
    row = own_work(access.requester, pk, clock.now())
    response = HttpResponse(row.answer, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="answer-{row.assignment_id}.xml"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


# Decisions on answers: approve, reject, pay a bonus; one at a time, or many.

#: Approvals of one press: more would keep the browser waiting.
AT_ONCE = 500
#: Refusals that the note after many decisions spells out.
_TOLD = 10


def _sheet_address(access: RequesterAccess, row: Holding, by: str) -> str:
    names = {"hit": ("requester:review_hit", row.hit.hit_id)}
    name, which = names.get(by, ("requester:review_worker", row.worker.worker_id))
    return reverse(name, args=[access.requester.customer_id, which])


def _back(request: HttpRequest, access: RequesterAccess, row: Holding, *, to: Holding | None = None) -> str:
    """The page from which the form came: at this answer, or at another one of the sheet."""
    by = request.GET.get("from", "")
    if by not in ("hit", "worker"):
        return reverse("requester:work", args=[access.requester.customer_id, row.pk])
    parameters = {name: request.GET[name] for name in ("state", "page") if name in request.GET}
    query = f"?{urlencode(parameters)}" if parameters else ""
    return f"{_sheet_address(access, row, by)}{query}#work-{(to or row).pk}"


def _on(request: HttpRequest, access: RequesterAccess, row: Holding, now: datetime) -> str:
    """Where a reviewer goes on after a decision: the next answer of the sheet, or the next sheet."""
    by = request.GET.get("from", "")
    # Only a sheet of waiting work moves on: on others the answer stays where it is, with its new state.
    if by not in ("hit", "worker") or state_of(request.GET) != "waiting":
        return _back(request, access, row)
    if by == "hit":
        rest = selectors.of_hit(row.hit, state="waiting", now=now)
    else:
        rest = selectors.of_worker(access.requester, row.worker, state="waiting", now=now)
    if following := selectors.after(rest, row):
        return _back(request, access, row, to=following)
    customer = access.requester.customer_id
    if by == "hit" and (hit := selectors.next_hit(access.requester, row.hit_id)):
        return reverse("requester:review_hit", args=[customer, hit.hit_id])
    if by == "worker" and (worker := selectors.next_worker(access.requester, now, row.worker_id)):
        return reverse("requester:review_worker", args=[customer, worker.worker_id])
    return reverse("requester:review" if by == "hit" else "requester:review_by_worker", args=[customer])


@require_POST
@on_requester(act=Action.REVIEW)
def approve(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Approve and pay; what was rejected only where the form says so."""
    now = clock.now()
    row = own_work(access.requester, pk, now)

    def action() -> str:
        feedback = read_form(ApproveForm(request.POST))["feedback"]
        override = "override" in request.POST
        if not decisions.approve_once(holding=row, feedback=feedback, override=override, now=now):
            return "It was approved before; nothing was paid twice."
        if row.unpaid:
            return "Approved. Nothing is paid here: the person came by a study link; the hold is back."
        return f"Approved: {row.worker.worker_id} gets {money(row.hit.reward_cents)}."

    return _decide(request, access, row, action, now)


@require_POST
@on_requester(act=Action.REVIEW)
def reject(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Reject, with a reason."""
    now = clock.now()
    row = own_work(access.requester, pk, now)

    def action() -> str:
        feedback = read_form(RejectForm(request.POST))["feedback"]
        if not decisions.reject_once(holding=row, feedback=feedback, now=now):
            return "It was rejected before; the reason given then stays."
        return f"Rejected: {row.worker.worker_id} gets nothing. You can approve it after all within 30 days."

    return _decide(request, access, row, action, now)


def _decide(
    request: HttpRequest, access: RequesterAccess, row: Holding, action: Callable[[], str], now: datetime
) -> HttpResponse:
    try:
        messages.success(request, action())
    except ActionError as error:
        messages.error(request, str(error))
        return redirect(_back(request, access, row))
    return redirect(_on(request, access, row, now))


@require_POST
@on_requester(act=(Action.REVIEW, Action.PAY))
def bonus(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Pay something on top; the same form sent twice pays once."""
    now = clock.now()
    row = own_work(access.requester, pk, now)
    row.hit.requester = access.requester

    def action() -> str:
        values = read_form(BonusForm(request.POST))
        paid = decisions.bonus_once(
            holding=row, cents=values["amount"], reason=values["reason"], once=values["once"], now=now
        )
        return f"A bonus of {money(paid.cents)} for {row.worker.worker_id} is paid."

    return run_action(request, action, _back(request, access, row))


@require_POST
@on_requester(act=Action.REVIEW)
def approve_chosen(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Approve what is ticked in the table, which comes back as it was filtered."""
    keys = chosen_keys(request.POST.getlist("chosen")[:AT_ONCE])
    now = clock.now()
    rows = visible_work(access.requester, now).filter(pk__in=keys).order_by("pk")
    if keys:
        _tell(request, _approve(rows, now))
    else:
        messages.error(request, "Nothing is chosen. Tick the work that you want to approve.")
    filters = request.GET.urlencode()
    address = reverse("requester:review_table", args=[access.requester.customer_id])
    return redirect(f"{address}?{filters}" if filters else address)


@require_POST
@on_requester(act=Action.REVIEW)
def reject_chosen(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Reject what is ticked in the table, all for one reason, which every one of the workers reads."""
    keys = chosen_keys(request.POST.getlist("chosen")[:AT_ONCE])
    now = clock.now()
    rows = visible_work(access.requester, now).filter(pk__in=keys).order_by("pk")
    form = RejectForm(request.POST)
    if not keys:
        messages.error(request, "Nothing is chosen. Tick the work that you want to reject.")
    elif not form.is_valid():
        messages.error(request, "Write the reason; the workers read it. Nothing was rejected.")
    else:
        loaded: Iterable[Holding] = rows.select_related("worker", "hit").defer("answer", "hit__question")
        outcome = decisions.reject_each(holdings=loaded, feedback=form.cleaned_data["feedback"], now=now)
        _tell(request, outcome, rejecting=True)
    filters = request.GET.urlencode()
    address = reverse("requester:review_table", args=[access.requester.customer_id])
    return redirect(f"{address}?{filters}" if filters else address)


@require_POST
@on_requester(act=Action.REVIEW)
def approve_hit(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """Approve all work on a HIT that was there when its sheet was looked at."""
    now = clock.now()
    row = own_hit(access.requester, hit_id)
    rows = selectors.of_hit(row, state="waiting", now=now)
    left = _approve_seen(request, rows, now)
    following = None if left else selectors.next_hit(access.requester, row.pk)
    names = [access.requester.customer_id, following.hit_id if following else hit_id]
    return redirect("requester:review_hit", *names)


@require_POST
@on_requester(act=Action.REVIEW)
def approve_worker(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Approve all of a worker's work that was there when their sheet was looked at."""
    now = clock.now()
    worker = own_worker(access.requester, worker_id, now)
    rows = selectors.of_worker(access.requester, worker, state="waiting", now=now)
    left = _approve_seen(request, rows, now)
    following = None if left else selectors.next_worker(access.requester, now, worker.pk)
    names = [access.requester.customer_id, following.worker_id if following else worker_id]
    return redirect("requester:review_worker", *names)


def _approve_seen(request: HttpRequest, rows: QuerySet[Holding], now: datetime) -> int:
    """Approve the rows of a sheet that had come in when it was shown; how many still wait."""
    # None is what is no date at all; such as the 30th of February is raised.
    try:
        seen = parse_datetime(request.POST.get("seen", ""))
    except ValueError:
        seen = None
    if seen is None or seen.tzinfo is None:
        messages.error(request, "Nothing was approved: open the sheet again and press there.")
        return rows.count()
    _tell(request, _approve(rows.filter(submitted_at__lte=seen)[:AT_ONCE], now))
    left = rows.count()
    if left:
        messages.info(request, f"{left:,} more {'waits' if left == 1 else 'wait'} here.")
    return left


def _approve(rows: QuerySet[Holding], now: datetime) -> Outcome:
    loaded: Iterable[Holding] = rows.select_related("worker", "hit").defer("answer", "hit__question")
    return decisions.approve_each(holdings=loaded, now=now)


def _tell(request: HttpRequest, outcome: Outcome, *, rejecting: bool = False) -> None:
    done, verb = (outcome.rejected, "rejected") if rejecting else (outcome.approved, "approved")
    if done or not outcome.refused:
        messages.success(request, f"{done:,} {verb}.")
    for worker, why in outcome.refused[:_TOLD]:
        messages.warning(request, f"Work of {worker} was not {verb}. {why}")
    if len(outcome.refused) > _TOLD:
        messages.warning(request, f"Not {verb} besides these: {len(outcome.refused) - _TOLD:,}.")
