"""Reviewing: what waits by HIT, by worker and in one table, sheets of answers, and one answer."""

from datetime import datetime
from decimal import Decimal

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from core.money.fees import PROFILES
from marketplace import clock
from marketplace.models import HIT, Bonus, Holding, Requester, Worker
from marketplace.requester.access import RequesterAccess, for_requester, respond, show
from marketplace.requester.lookup import own_hit, own_work, own_worker
from marketplace.requester.selectors import hits as hit_rows
from marketplace.requester.selectors import work as selectors
from marketplace.requester.selectors import workers as worker_rows
from marketplace.services.review import OVERRIDE_WITHIN
from marketplace.site.fresh import settle_approvals
from marketplace.sweep import settle
from web.deferred_pages import late

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
        lambda asked: hit_rows.hits(
            access.requester, state="waiting", hit_type=asked["type"], batch="", words=asked["q"], now=now
        ),
        "review_by_hit.html",
        place=PLACE,
        complete=selectors.say_when_due,
        file="review-by-hit",
        now=now,
        tab="hit",
        waiting=selectors.waiting_count(access.requester),
        first=_at(access, "requester:review_hit", first.hit_id) if first else "",
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
        worker_rows.WAITING,
        lambda asked: worker_rows.waiting(access.requester, words=asked["q"], now=now),
        "review_by_worker.html",
        place=PLACE,
        complete=lambda rows: worker_rows.say_how_fast(access.requester, rows, now),
        file="review-by-worker",
        now=now,
        tab="worker",
        waiting=selectors.waiting_count(access.requester),
        first=_at(access, "requester:review_worker", first.worker_id) if first else "",
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
        lambda asked: selectors.work(
            access.requester, state=asked["state"], hit_type=asked["type"], worker=asked["worker"], now=now
        ),
        "review_table.html",
        place=PLACE,
        file="work",
        now=now,
        tab="all",
        waiting=selectors.waiting_count(access.requester),
    )


def state_of(given: QueryDict) -> str:
    """Which work of a sheet is asked for."""
    state = given.get("state", "")
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
    answers = selectors.shown(list(page.object_list))
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
    return PROFILES[requester.fee_profile].bonus_rate * 100


@require_safe
@for_requester
def work(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponseBase:
    """One answer, its times, what was paid for it, and the forms by which somebody decides."""
    now = clock.now()
    row = own_work(access.requester, pk, now)
    settle(hits=[row.hit], now=now)
    row.refresh_from_db()
    [shown] = selectors.shown([row])
    return show(
        request,
        "work.html",
        access,
        place=PLACE,
        now=now,
        each=shown,
        origin="",
        bonuses=Bonus.objects.filter(holding=row).order_by("-granted_at", "-pk")[:50],
        overridable=_overridable(row, now),
        cost=row.hit.reward_cents + row.hit.fee_cents,
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
