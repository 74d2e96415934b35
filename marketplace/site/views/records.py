"""One worker's records: history, feedback, earnings, inbox."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from marketplace import clock
from marketplace.models import Worker
from marketplace.site.access import for_workers, page
from marketplace.site.fresh import settle_worker
from marketplace.site.pagination import numbered
from marketplace.site.selectors import records
from marketplace.site.selectors.records import FEEDBACK_KINDS, balances, list_feedback, with_feedback
from web.charts.plot import stack_bars


@require_safe
@for_workers
def history(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What the worker did, with state, money and feedback; filtered by the URL."""
    now = clock.now()
    wanted = request.GET.get("state", "")
    wanted = wanted if wanted in records.FILTERS else "all"
    settle_worker(worker, now)
    found = numbered(records.history(worker=worker, states=records.FILTERS[wanted]), request)
    return page(request, "history.html", worker=worker, now=now, pages=found, wanted=wanted)


@require_safe
@for_workers
def feedback(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What requesters said of the worker's work, and what became of it with each of them."""
    now = clock.now()
    wanted = request.GET.get("kind", "")
    wanted = wanted if wanted in FEEDBACK_KINDS else "all"
    settle_worker(worker, now)
    found = numbered(list_feedback(worker=worker, kind=wanted), request)
    everything, requesters = balances(worker=worker)
    return page(
        request,
        "feedback.html",
        worker=worker,
        now=now,
        pages=found,
        said=with_feedback(found.object_list),
        everything=everything,
        requesters=requesters,
        kinds=FEEDBACK_KINDS,
        wanted=wanted,
    )


@require_safe
@for_workers
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Money per day and per hour, over a period chosen in the URL."""
    now = clock.now()
    asked = request.GET.get("days", "")
    days = int(asked) if asked in map(str, records.PERIODS) else records.PERIODS[1]
    settle_worker(worker, now)
    earned = records.earnings(worker=worker, days=days, now=now)
    return page(
        request,
        "earnings.html",
        worker=worker,
        now=now,
        earnings=earned,
        chart=stack_bars(
            (day, {"earned": day.earned_cents, "pending": day.pending_cents}) for day in earned.days
        ),
        days=days,
        periods=records.PERIODS,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def inbox(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Messages of requesters; a POST marks one of them, or all, as read."""
    now = clock.now()
    messages = records.inbox(worker=worker)
    if request.method == "POST":
        unread = messages.filter(read_at=None)
        named = request.POST.get("message", "")
        if named.isascii() and named.isdigit() and len(named) < 19:
            unread = unread.filter(pk=int(named))
        unread.update(read_at=now)
        return redirect("site:inbox")
    return page(request, "inbox.html", worker=worker, now=now, pages=numbered(messages, request))
