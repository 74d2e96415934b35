"""Looking for work: the list of HIT groups, and a look at one of their HITs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from marketplace import clock, frames, taskpages
from marketplace.eligibility import verdict
from marketplace.services.assignments import closed_hours, next_hit
from marketplace.site.access import current_worker, page
from marketplace.site.fresh import settle_overdue
from marketplace.site.lookup import entity_id, group_named
from marketplace.site.selectors import groups as selectors
from marketplace.site.selectors import qualifications
from marketplace.site.selectors.groups import group_opinion
from marketplace.taskpages import site_url


@require_safe
def groups(request: HttpRequest) -> HttpResponse:
    """The list of groups that the visitor may discover; search, order and page stand in the URL."""
    now = clock.now()
    worker = current_worker(request)
    search = request.GET.get("q", "").replace("\0", "").strip()[: selectors.MAX_SEARCH]
    sort = request.GET.get("sort", "")
    sort = sort if sort in selectors.SORTS else selectors.DEFAULT_SORT
    settle_overdue(now)
    shown, found = selectors.listed_groups(request=request, worker=worker, search=search, sort=sort, now=now)
    return page(
        request, "groups.html", worker=worker, now=now, groups=shown, pages=found, search=search, sort=sort
    )


@require_safe
def preview(request: HttpRequest, group_id: str) -> HttpResponse:
    """One HIT of the group to look at, and the button that accepts it."""
    now = clock.now()
    worker = current_worker(request)
    hit_type = group_named(group_id)
    settle_overdue(now)
    judged = verdict(worker=worker, hit_type=hit_type)
    hit = next_hit(worker=worker, hit_type=hit_type)
    question = taskpages.load_question(hit) if hit and judged.preview else None
    origin = site_url(request)
    closed = None if hit else closed_hours(worker=worker, hit_type=hit_type, now=now)
    shown = page(
        request,
        "preview.html",
        worker=worker,
        now=now,
        hit_type=hit_type,
        hit=hit,
        closed=closed,
        opens_again=closed.next_opening(now) if closed else None,
        verdict=judged,
        opinion=group_opinion(hit_type),
        ways=qualifications.ways(worker, judged.on_request, now),
        available=selectors.available(hit_type=hit_type, worker=worker, now=now),
        frame_url=taskpages.preview_url(hit=hit, base_url=origin) if hit and question else "",
        frame_height=question.frame_height if question else 0,
        sandbox=frames.sandbox(question, working=False) if question else "",
    )
    return frames.with_task(shown, question, origin=origin) if question else shown


@require_safe
def preview_by_query(request: HttpRequest) -> HttpResponse:
    """The preview address that scripts print: `/mturk/preview?groupId=…`."""
    group_id = entity_id(request.GET.get("groupId"))
    return redirect("site:preview", group_id=group_id) if group_id else redirect("site:groups")
