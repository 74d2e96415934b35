"""Where a requester stands: its money, and how far its HITs are."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.requester.doors import Seat, for_requester, show
from marketplace.site.fresh import settle_overdue
from marketplace.site.paging import numbered
from marketplace.site.selectors import desk


@require_safe
@for_requester
def overview(request: HttpRequest, seat: Seat) -> HttpResponseBase:
    """The account, and the HIT types with open or undecided work, the newest first."""
    settle_overdue(clock.now())
    seat.requester.refresh_from_db()
    types = numbered(desk.hit_types(seat.user).filter(requester=seat.requester), request)
    progress = desk.progress(list(types.object_list))
    return show(request, "overview.html", seat, place="overview", types=types, progress=progress)
