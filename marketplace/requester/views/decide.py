"""Decisions on answers: approve, reject, pay a bonus; one at a time, or many."""

from collections.abc import Callable, Iterable
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST

from core.errors import ActionError
from marketplace import clock
from marketplace.models import Holding
from marketplace.requester.access import RequesterAccess, for_requester
from marketplace.requester.forms import ApproveForm, BonusForm, RejectForm
from marketplace.requester.lookup import own_hit, own_work, own_worker, visible_work
from marketplace.requester.selectors import work as selectors
from marketplace.requester.views.review import state_of
from marketplace.services import decisions
from marketplace.services.decisions import Outcome
from marketplace.templatetags.marketplace_money import money
from web.forms import read_form, run_action
from web.keys import chosen_keys

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
    kept = {name: request.GET[name] for name in ("state", "page") if name in request.GET}
    query = f"?{urlencode(kept)}" if kept else ""
    return f"{_sheet_address(access, row, by)}{query}#work-{(to or row).pk}"


def _on(request: HttpRequest, access: RequesterAccess, row: Holding, now: datetime) -> str:
    """Where a reviewer goes on after a decision: the next answer of the sheet, or the next sheet."""
    by = request.GET.get("from", "")
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
@for_requester
def approve(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Approve and pay; what was rejected only where the form says so."""
    now = clock.now()
    row = own_work(access.requester, pk, now)

    def action() -> str:
        feedback = read_form(ApproveForm(request.POST))["feedback"]
        override = "override" in request.POST
        if not decisions.approve_once(holding=row, feedback=feedback, override=override, now=now):
            return "It was approved before; nothing was paid twice."
        return f"Approved: {row.worker.worker_id} gets {money(row.hit.reward_cents)}."

    return _decide(request, access, row, action, now)


@require_POST
@for_requester
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
@for_requester
def bonus(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Pay something on top; the same form sent twice pays once."""
    now = clock.now()
    row = own_work(access.requester, pk, now)
    row.hit.requester = access.requester

    def action() -> str:
        given = read_form(BonusForm(request.POST))
        paid = decisions.bonus_once(
            holding=row, cents=given["amount"], reason=given["reason"], once=given["once"], now=now
        )
        return f"A bonus of {money(paid.cents)} for {row.worker.worker_id} is paid."

    return run_action(request, action, _back(request, access, row))


@require_POST
@for_requester
def approve_chosen(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Approve what is ticked in the table, which comes back as it was filtered."""
    chosen = chosen_keys(request.POST.getlist("chosen")[:AT_ONCE])
    now = clock.now()
    rows = visible_work(access.requester, now).filter(pk__in=chosen).order_by("pk")
    if chosen:
        _tell(request, _approve(rows, now))
    else:
        messages.error(request, "Nothing is chosen. Tick the work that you want to approve.")
    filters = request.GET.urlencode()
    address = reverse("requester:review_table", args=[access.requester.customer_id])
    return redirect(f"{address}?{filters}" if filters else address)


@require_POST
@for_requester
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
@for_requester
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


def _tell(request: HttpRequest, outcome: Outcome) -> None:
    if outcome.approved or not outcome.refused:
        messages.success(request, f"{outcome.approved:,} approved.")
    for worker, why in outcome.refused[:_TOLD]:
        messages.warning(request, f"Work of {worker} was not approved. {why}")
    if len(outcome.refused) > _TOLD:
        messages.warning(request, f"{len(outcome.refused) - _TOLD} more were not approved.")
