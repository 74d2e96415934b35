"""Looking for work: the list of HIT groups, and a look at one of their HITs."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock, frame
from marketplace.eligibility import verdict
from marketplace.errors import Refusal
from marketplace.models import QualificationType, Worker
from marketplace.services.assignments import next_hit
from marketplace.services.qualifications import request_auto_granted
from marketplace.site import framing
from marketplace.site.access import for_workers
from marketplace.site.fresh import settle_overdue
from marketplace.site.lookup import entity_id, group_named
from marketplace.site.pages import page
from marketplace.site.people import current_worker
from marketplace.site.selectors import groups as selectors
from marketplace.site.selectors import ratings


@require_safe
def groups(request: HttpRequest) -> HttpResponse:
    """The list of groups that the visitor may discover; search, order and page stand in the URL."""
    now = clock.now()
    worker = current_worker(request)
    search = request.GET.get("q", "").replace("\0", "").strip()[: selectors.MAX_SEARCH]
    sort = request.GET.get("sort", "")
    sort = sort if sort in selectors.SORTS else selectors.DEFAULT_SORT
    settle_overdue(now)
    shown, found = selectors.groups(request=request, worker=worker, search=search, sort=sort, now=now)
    return page(
        request, "groups.html", worker=worker, now=now, groups=shown, pages=found, search=search, sort=sort
    )


@require_safe
@framing.may_frame_tasks
def preview(request: HttpRequest, group_id: str) -> HttpResponse:
    """One HIT of the group to look at, and the button that accepts it."""
    now = clock.now()
    worker = current_worker(request)
    hit_type = group_named(group_id)
    settle_overdue(now)
    judged = verdict(worker=worker, hit_type=hit_type)
    hit = next_hit(worker=worker, hit_type=hit_type)
    shown = frame.question(hit) if hit and judged.preview else None
    return page(
        request,
        "preview.html",
        worker=worker,
        now=now,
        hit_type=hit_type,
        hit=hit,
        verdict=judged,
        opinion=ratings.opinion(hit_type),
        available=selectors.available(hit_type=hit_type, worker=worker, now=now),
        frame_url=frame.preview_url(hit=hit) if hit and shown else "",
        frame_height=shown.frame_height if shown else 0,
        sandbox=framing.PREVIEW,
    )


@require_safe
def preview_by_query(request: HttpRequest) -> HttpResponse:
    """The preview address that scripts print: `/mturk/preview?groupId=…`."""
    group_id = entity_id(request.GET.get("groupId"))
    return redirect("site:preview", group_id=group_id) if group_id else redirect("site:groups")


@require_POST
@for_workers
def request_qualification(
    request: HttpRequest, worker: Worker, group_id: str, qualification_type_id: str
) -> HttpResponse:
    """Ask for a qualification that this group wants and that everybody gets who asks."""
    hit_type = group_named(group_id)
    wanted = [requirement["QualificationTypeId"] for requirement in hit_type.requirements]
    if qualification_type_id not in wanted:
        raise Http404("This group does not ask for that qualification.")
    kind = get_object_or_404(QualificationType, qualification_type_id=qualification_type_id)
    try:
        request_auto_granted(worker=worker, qualification_type=kind)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "The qualification is yours.")
    return redirect("site:preview", group_id=hit_type.group_id)
