"""Where a requester stands: its money, what needs somebody, what came in, and how far its HITs are."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.requester import arrivals
from marketplace.requester.access import RequesterAccess, for_requester, show
from marketplace.requester.attention import needs
from marketplace.site.fresh import settle_approvals
from marketplace.site.pagination import numbered
from marketplace.site.selectors import desk
from marketplace.submission import site_url


@require_safe
@for_requester
def overview(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The account, and the HIT types with open or undecided work, the newest first."""
    now = clock.now()
    settle_approvals(access.requester, now)
    access.requester.refresh_from_db()
    types = numbered(desk.hit_types(access.user).filter(requester=access.requester), request)
    return show(
        request,
        "overview.html",
        access,
        place="overview",
        now=now,
        types=types,
        progress=desk.progress(list(types.object_list)),
        needs=needs(access.requester, now),
        chart=arrivals.chart(arrivals.per_day(access.requester, now=now)),
        endpoint=f"{site_url(request)}/mturk/api",
    )
