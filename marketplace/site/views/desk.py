"""The desk: what the marketplace is doing, for staff and for the people who post HITs."""

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from marketplace import clock
from marketplace.site import selectors
from marketplace.site.access import current_worker, for_researchers, page
from marketplace.site.lookup import after, numbered, settle_overdue
from marketplace.taskpages import site_url


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
