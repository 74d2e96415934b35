"""The overview of a requester (its money, what needs attention, what came in), and the desk of them all."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from django.contrib.auth.models import User
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.accounts.accesskeys import open_alerts
from marketplace.lifecycle.selectors import assignable
from marketplace.models import HIT, Holding, Letter, Requester
from marketplace.requester import work
from marketplace.requester.access import RequesterAccess, for_requester, operator_groups, show
from marketplace.requester.charts import day_of
from marketplace.requester.lookup import visible_work
from marketplace.requester.selectors import count_waiting_requests
from marketplace.site import selectors
from marketplace.site.access import current_worker, for_researchers, page
from marketplace.site.lookup import after, numbered, settle_approvals, settle_overdue
from marketplace.site.taskpages import site_url

# What came in per day, as bars; the list below the chart says the same in figures.

DAYS = 14
HEIGHT, STEP, BAR = 120, 10, 8
#: From the ground upwards.
_ORDER = (Holding.State.APPROVED, Holding.State.SUBMITTED, Holding.State.REJECTED)


@dataclass(frozen=True, slots=True)
class Piece:
    """Answers of one day in one state, drawn."""

    state: str
    y: float
    height: float


@dataclass(slots=True)
class Day:
    """Answers that were submitted on one day (UTC), by their state now."""

    date: date
    counts: dict[str, int] = field(default_factory=dict)
    x: float = 0
    pieces: list[Piece] = field(default_factory=list)

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Chart:
    """Days on one scale; the highest is as high as the box."""

    days: list[Day]
    width: int
    height: int
    highest: int
    total: int


def per_day(requester: Requester, *, now: datetime, days: int = DAYS) -> list[Day]:
    """The last days, oldest first, in one query."""
    first = now.date() - timedelta(days=days - 1)
    rows = (
        visible_work(requester, now)
        .filter(submitted_at__gte=datetime.combine(first, time.min, tzinfo=UTC))
        .order_by()
        .values("state", day=day_of("submitted_at"))
        .annotate(number=Count("pk"))
    )
    counts: dict[date, dict[str, int]] = defaultdict(dict)
    for row in rows:
        counts[date.fromisoformat(row["day"])][row["state"]] = row["number"]
    each = (first + timedelta(days=number) for number in range(days))
    return [Day(day, counts.get(day, {})) for day in each]


def chart(days: Sequence[Day]) -> Chart | None:
    """Bars; None where nothing came in."""
    highest = max((day.total for day in days), default=0)
    if not highest:
        return None
    for number, day in enumerate(days):
        day.x = number * STEP + (STEP - BAR) / 2
        top = float(HEIGHT)
        for state in _ORDER:
            if count := day.counts.get(state, 0):
                height = count * HEIGHT / highest
                top -= height
                day.pieces.append(Piece(state, round(top, 2), round(height, 2)))
    return Chart(list(days), len(days) * STEP, HEIGHT, highest, sum(day.total for day in days))


# What needs somebody at a requester: in sentences, each with the page where it is done.

SOON = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Need:
    """Something to do; `urgent` is what time will do otherwise."""

    text: str
    address: str
    urgent: bool = False


def needs(requester: Requester, now: datetime) -> list[Need]:
    """What waits, the most urgent first. Each kind costs one query, however much of it there is."""
    todos: list[Need] = []

    def note(number: int, one: str, many: str, name: str, query: str = "", *, urgent: bool = False) -> None:
        if number:
            text = one if number == 1 else many.format(f"{number:,}")
            address = reverse(f"requester:{name}", args=[requester.customer_id])
            todos.append(Need(text, address + query, urgent))

    note(
        open_alerts(requester).count(),
        "An access key was used from an address not seen before.",
        "Access keys were used from {} addresses not seen before.",
        "keys",
    )
    note(
        Holding.objects.filter(
            requester=requester, state=Holding.State.SUBMITTED, auto_approve_at__lte=now + SOON
        ).count(),
        "1 answer is approved automatically within a day unless you decide.",
        "{} answers are approved automatically within a day unless you decide.",
        "review_table",
        urgent=True,
    )
    waiting = work.waiting_count(requester)
    note(waiting, "1 answer waits for a decision.", "{} answers wait for a decision.", "review")
    note(
        count_waiting_requests(requester),
        "1 worker asks for a qualification.",
        "{} requests for qualifications wait for a decision.",
        "qualification_requests",
    )
    note(
        Letter.objects.filter(requester=requester, read_at=None, answered_at=None).count(),
        "1 message of a worker is open.",
        "{} messages of workers are open.",
        "letters",
    )
    note(
        HIT.objects.filter(assignable(now), requester=requester, expires_at__lte=now + SOON).count(),
        "1 HIT with open places expires within a day.",
        "{} HITs with open places expire within a day.",
        "hits",
        "?state=assignable&order=expires",
    )
    return todos


@require_safe
@for_requester
def overview(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The account, and the HIT types with open or undecided work, the newest first."""
    now = clock.now()
    settle_approvals(access.requester, now)
    access.requester.refresh_from_db()
    types = numbered(selectors.living_hit_types(access.user).filter(requester=access.requester), request)
    return show(
        request,
        "overview.html",
        access,
        place="overview",
        now=now,
        types=types,
        progress=selectors.progress(list(types.object_list)),
        needs=needs(access.requester, now),
        chart=chart(per_day(access.requester, now=now)),
        endpoint=f"{site_url(request)}/mturk/api",
    )


@require_safe
@for_researchers
def desk(request: HttpRequest, user: User) -> HttpResponse:
    """Requesters with their money, HITs in progress, the latest calls, and how to point a script here."""
    now = clock.now()
    settle_overdue(now)
    requesters = numbered(selectors.with_key(selectors.requesters(user)), request, name="requesters")
    types = numbered(selectors.living_hit_types(user), request)
    calls, older = after(selectors.calls(user), request)
    return page(
        request,
        "desk.html",
        sidebar=operator_groups(user, request.path),
        worker=current_worker(request),
        now=now,
        requesters=requesters,
        types=types,
        progress=selectors.progress(list(types.object_list)),
        calls=calls,
        older_calls=older,
        first_calls="before" not in request.GET,
        endpoint=f"{site_url(request)}/mturk/api",
        newest_requester=next(iter(requesters.object_list), None),
    )
