"""The overview of a requester: its money, what needs attention, what came in, progress of its HITs."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.models import HIT, Holding, Letter, Requester
from marketplace.requester import arrivals
from marketplace.requester.access import RequesterAccess, for_requester, show
from marketplace.requester.selectors import qualifications, work
from marketplace.selectors import assignable
from marketplace.services.accesskeys import open_alerts
from marketplace.site import selectors
from marketplace.site.lookup import numbered, settle_approvals
from marketplace.taskpages import site_url

# What needs somebody at a requester: in sentences, each with the page where it is done.

SOON = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Need:
    """Something to do; `urgent` is what time will do otherwise."""

    words: str
    address: str
    urgent: bool = False


def needs(requester: Requester, now: datetime) -> list[Need]:
    """What waits, the most urgent first. Each kind costs one query, however much of it there is."""
    found: list[Need] = []

    def note(number: int, one: str, many: str, name: str, query: str = "", *, urgent: bool = False) -> None:
        if number:
            words = one if number == 1 else many.format(f"{number:,}")
            address = reverse(f"requester:{name}", args=[requester.customer_id])
            found.append(Need(words, address + query, urgent))

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
        "1 answer is approved by itself within a day unless you decide.",
        "{} answers are approved by themselves within a day unless you decide.",
        "review_table",
        urgent=True,
    )
    waiting = work.waiting_count(requester)
    note(waiting, "1 answer waits for a decision.", "{} answers wait for a decision.", "review")
    note(
        qualifications.waiting_count(requester),
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
    return found


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
        chart=arrivals.chart(arrivals.per_day(access.requester, now=now)),
        endpoint=f"{site_url(request)}/mturk/api",
    )
