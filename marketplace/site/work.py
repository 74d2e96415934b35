"""Work: the list of HIT groups, a look at a HIT, accepting, working, returning; and for guests of a study."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock
from marketplace.accounts.contact import zone_of
from marketplace.errors import Refusal
from marketplace.forms import pagestorage
from marketplace.forms.questions import ExternalQuestion
from marketplace.lifecycle import assignments, hits, traces
from marketplace.lifecycle.assignments import closed_hours, next_hit
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.hits import return_assignment
from marketplace.models import HIT, Holding, Worker
from marketplace.qualifications.eligibility import verdict
from marketplace.site import frames, records, selectors, taskpages
from marketplace.site.access import current_worker, for_workers, page
from marketplace.site.lookup import (
    entity_id,
    group_named,
    own_holding,
    settle_overdue,
    settle_worker,
    work_url,
)
from marketplace.site.records import find_holding
from marketplace.site.selectors import group_opinion
from marketplace.site.taskpages import guest_address, guest_holding, site_url
from people.models import StudyLink, Visit
from people.task_foot import TaskFoot, Way, foot_of_visit
from people.tokens import sign_visit, token_of

State = Holding.State


# Looking for work.


@require_safe
def groups(request: HttpRequest) -> HttpResponse:
    """The list of groups that the visitor may discover; search, order and page stand in the URL."""
    now = clock.now()
    worker = current_worker(request)
    search = request.GET.get("q", "").replace("\0", "").strip()[: selectors.MAX_SEARCH]
    sort = request.GET.get("sort", "")
    sort = sort if sort in selectors.SORTS else selectors.DEFAULT_SORT
    settle_overdue(now)
    group_views, pages = selectors.listed_groups(
        request=request, worker=worker, search=search, sort=sort, now=now
    )
    return page(
        request,
        "groups.html",
        worker=worker,
        now=now,
        groups=group_views,
        pages=pages,
        search=search,
        sort=sort,
    )


@require_safe
def preview(request: HttpRequest, group_id: str) -> HttpResponse:
    """One HIT of the group to look at, and the button that accepts it."""
    now = clock.now()
    worker = current_worker(request)
    hit_type = group_named(group_id)
    settle_overdue(now)
    hit_verdict = verdict(worker=worker, hit_type=hit_type)
    hit = next_hit(worker=worker, hit_type=hit_type)
    question = taskpages.load_question(hit) if hit and hit_verdict.preview else None
    origin = site_url(request)
    closed = None if hit else closed_hours(worker=worker, hit_type=hit_type, now=now)
    response = page(
        request,
        "preview.html",
        worker=worker,
        now=now,
        hit_type=hit_type,
        hit=hit,
        closed=closed,
        opens_again=closed.next_opening(now) if closed else None,
        verdict=hit_verdict,
        opinion=group_opinion(hit_type),
        ways=selectors.ways(worker, hit_verdict.on_request, now),
        available=selectors.available(hit_type=hit_type, worker=worker, now=now),
        frame_url=taskpages.preview_url(hit=hit, base_url=origin) if hit and question else "",
        frame_height=question.frame_height if question else 0,
        sandbox=frames.sandbox(question, working=False) if question else "",
    )
    return frames.with_task(response, question, origin=origin) if question else response


@require_safe
def preview_by_query(request: HttpRequest) -> HttpResponse:
    """The preview address that scripts print: `/mturk/preview?groupId=…`."""
    group_id = entity_id(request.GET.get("groupId"))
    return redirect("site:preview", group_id=group_id) if group_id else redirect("site:groups")


# Accepting, working, returning, and what comes after a submission.


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def accept(request: HttpRequest, worker: Worker, group_id: str) -> HttpResponse:
    """Accept the HIT that was previewed, or the next one of the group."""
    hit_type = group_named(group_id)
    if request.method != "POST":
        return redirect("site:preview", group_id=hit_type.group_id)
    hit_id = entity_id(request.POST.get("hit_id"))
    try:
        if hit_id:
            hits = HIT.objects.select_related("hit_type", "requester")
            hit = get_object_or_404(hits, hit_id=hit_id, hit_type=hit_type)
            holding = assignments.accept(worker=worker, hit=hit)
        else:
            holding = assignments.accept_next(worker=worker, hit_type=hit_type)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        if refusal.code == "NoWork":
            return redirect("site:groups")
        return redirect("site:preview", group_id=hit_type.group_id)
    traces.note_visit(request=request, worker=worker)
    return redirect(work_url(holding))


@require_POST
@for_workers
def attention(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What the browser counted on the working page; the worker's own work alone, and nothing else is said."""
    counts = read_counts(request)
    pk = _number(request.POST.get("holding", ""))
    holding = Holding.objects.filter(pk=pk, worker=worker, state__in=Holding.OCCUPYING).first()
    if holding is not None and any(counts.values()):
        traces.note_counts(holding=holding, **counts)
    return HttpResponse(status=204)


def read_counts(request: HttpRequest) -> dict[str, int]:
    """What a browser says that it counted, as `traces.note_counts` takes it."""
    names = ("left", "left_seconds", "pastes", "pasted")
    return {name: _number(request.POST.get(name, "")) for name in names}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


@require_POST
@for_workers
def keep_storage(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What a task page changed in the storage that is lent to it, brought by the page around its frame."""
    pk_text = request.POST.get("holding", "")
    pk = int(pk_text) if pk_text.isascii() and pk_text.isdigit() and len(pk_text) < 19 else 0
    if not pk:
        return JsonResponse({"refused": "Say of which task."}, status=400)
    holding = get_object_or_404(Holding, pk=pk, worker=worker, state__in=Holding.OCCUPYING)
    return record_storage(request, holding)


def record_storage(request: HttpRequest, holding: Holding) -> HttpResponse:
    """Take the changes that the page around the frame of this assignment brought."""
    try:
        pagestorage.record_changes(
            worker_pk=holding.worker_id,
            requester_pk=holding.requester_id,
            changes=json.loads(request.POST.get("changes", "")),
        )
    except (ValueError, RecursionError):
        return JsonResponse({"refused": "The changes are not JSON."}, status=400)
    except Refusal as refusal:
        return JsonResponse(
            {"refused": refusal.message}, status=413 if refusal.code == "StorageFull" else 400
        )
    return HttpResponse(status=204)


@dataclass(frozen=True, slots=True)
class WorkPage:
    """Where the working page leads, for somebody with an account and for one who came by a study link."""

    other_work: str
    going_on: str
    attention: str
    storage: str
    give_back: str
    foot: TaskFoot
    pay: str = ""
    guest: bool = False


@require_safe
@never_cache
@login_required
def work(request: HttpRequest, group_id: str, hit_id: str) -> HttpResponse:
    """The requester's task page in its frame, with the time that is left."""
    user_pk = request.user.pk or 0
    assignment_id = entity_id(request.GET.get("assignment_id")) or _latest(user_pk, hit_id)
    holding = find_holding(user_pk=user_pk, hit_id=hit_id, assignment_id=assignment_id)
    if holding is None:
        raise Http404("You do not hold this HIT.")
    hit_type = holding.hit.hit_type
    if group_id not in (hit_type.group_id, hit_type.type_id):
        return redirect(work_url(holding))
    now = clock.now()
    if holding.state == State.ACCEPTED and holding.deadline <= now:
        settle(now=now, hits=[holding.hit])
        holding.refresh_from_db(fields=["state", "ended_at"])
    if holding.state != State.ACCEPTED:
        return _ended(request, holding)
    links = _links()
    return show_work(
        request,
        holding,
        WorkPage(
            other_work=links["groups"],
            going_on=f"{links['continue']}{holding.pk}",
            attention=links["attention"],
            storage=links["keep_storage"],
            give_back=f"{request.path}/return",
            foot=_foot(holding),
        ),
        now=now,
    )


def show_work(request: HttpRequest, holding: Holding, working: WorkPage, *, now: datetime) -> HttpResponse:
    """The page around the task of an assignment that is at work; its HIT, type and worker are loaded."""
    origin = site_url(request)
    question = taskpages.load_question(holding.hit)
    with timezone.override(zone_of(holding.worker)):
        response = render(
            request,
            "marketplace/site/work.html",
            {
                "holding": holding,
                "hit_type": holding.hit.hit_type,
                "worker": holding.worker,
                "now": now,
                "seconds_left": (holding.deadline - now).total_seconds(),
                "frame_url": taskpages.frame_url(holding=holding, base_url=origin),
                "frame_height": question.frame_height,
                "origin": origin,
                "submit_path": f"/s/{taskpages.submit_signature(holding.pk)}/mturk/externalSubmit",
                "links": _links(),
                "working": working,
                "sandbox": frames.sandbox(question, working=True),
                "preloads": frames.preloads(question),
                "opaque": not isinstance(question, ExternalQuestion),
            },
        )
    return frames.with_task(response, question, origin=origin)


def _foot(holding: Holding) -> TaskFoot:
    """How much of the group the worker has done; giving the HIT back is at the head of the page.

    How many HITs are left is on the page of the group: to count them would slow down each HIT of a large one.
    """
    group = Holding.objects.filter(worker=holding.worker, hit__hit_type=holding.hit.hit_type)
    done = group.filter(state__in=Holding.ANSWERED).count()
    return TaskFoot(
        label=gettext("Your part in this group"),
        progress=ngettext("%(done)s HIT of this group done", "%(done)s HITs of this group done", done)
        % {"done": done},
        ways=(
            Way(gettext("Your work"), reverse("site:history"), apart=True),
            Way(gettext("Stop for now"), reverse("site:queue")),
        ),
    )


@cache
def _links() -> dict[str, str]:
    """Addresses on the working page that are the same for everybody, worked out once."""
    links = {
        name: reverse(f"site:{name}")
        for name in ("groups", "queue", "accept_next", "attention", "keep_storage")
    }
    return links | {"continue": reverse("site:continue", args=[0]).removesuffix("0")}


def _latest(user_pk: int, hit_id: str) -> str:
    mine = Holding.objects.filter(worker__user=user_pk, hit__hit_id=hit_id).order_by("-pk")
    return mine.values_list("assignment_id", flat=True).first() or ""


def _ended(request: HttpRequest, holding: Holding) -> HttpResponse:
    now = clock.now()
    return page(request, "ended.html", worker=holding.worker, now=now, holding=holding)


@require_POST
@for_workers
def give_back(request: HttpRequest, worker: Worker, group_id: str, hit_id: str) -> HttpResponse:
    """Return an accepted HIT unfinished."""
    mine = Holding.objects.filter(worker=worker, hit__hit_id=hit_id).order_by("-pk")
    assignment_id = entity_id(request.POST.get("assignment_id"))
    holding = mine.filter(assignment_id=assignment_id).first() if assignment_id else mine.first()
    if holding is None:
        raise Http404("You do not hold this HIT.")
    try:
        return_assignment(holding=holding)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, gettext("You returned the HIT. It is open to others again."))
    return redirect("site:queue" if request.POST.get("from") == "queue" else "site:groups")


@require_safe
@for_workers
def queue(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The HITs the worker has accepted and not finished."""
    now = clock.now()
    settle_worker(worker, now)
    holdings = list(records.queue(worker=worker, now=now))
    limit = settings.MARKETPLACE_QUEUE_LIMIT
    return page(request, "queue.html", worker=worker, now=now, holdings=holdings, limit=limit)


@require_safe
@never_cache
@for_workers
def after_submit(request: HttpRequest, worker: Worker, holding_id: int) -> HttpResponse:
    """After a submission: thanks, and the next HIT of the group, at once for workers who want that.

    Nothing is accepted here: the page posts to `accept`, by script or by its button.
    """
    holding = own_holding(worker, holding_id)
    now = clock.now()
    if holding.state == State.ACCEPTED and holding.deadline > now:
        return redirect(work_url(holding))
    if holding.state not in Holding.ANSWERED:
        return _ended(request, holding)
    hit_type = holding.hit.hit_type
    more = verdict(worker=worker, hit_type=hit_type).accept and bool(
        assignments.next_hit(worker=worker, hit_type=hit_type)
    )
    return page(
        request,
        "submitted.html",
        worker=worker,
        now=now,
        holding=holding,
        hit_type=hit_type,
        more=more,
        at_once=more and worker.accept_next,
    )


# People who came by a study link: the page of a HIT without an account, a session or a cookie. The signature
# in the path names one assignment; who has it may do that one. When it is over, the browser goes back to the
# study, which leads to the next HIT or to the end.

_ROWS = Holding.objects.select_related(
    "worker", "hit__hit_type__requester", "visit__link", "visit__guest"
).defer("answer")
View = Callable[..., HttpResponse]


def _of_guest(view: View) -> View:
    """The view gets the assignment that the path names. A form needs no token: the path is the credential."""

    @csrf_exempt
    @never_cache
    def guarded(request: HttpRequest, signature: str) -> HttpResponse:
        pk = guest_holding(signature)
        holding = _ROWS.filter(pk=pk, visit__isnull=False).first() if pk is not None else None
        if holding is None:
            raise Http404("There is no such assignment.")
        return view(request, holding)

    return guarded


@require_safe
@_of_guest
def guest_work(request: HttpRequest, holding: Holding) -> HttpResponse:
    """The requester's task page in its frame, with the time that is left."""
    now = clock.now()
    if holding.state == State.ACCEPTED and holding.deadline <= now:
        settle(now=now, hits=[holding.hit])
        holding.refresh_from_db(fields=["state"])
    if holding.state != State.ACCEPTED:
        return _go_on(holding)
    guest_going_on = guest_address(holding, "continue")
    page = WorkPage(
        other_work=guest_going_on,
        going_on=guest_going_on,
        attention=guest_address(holding, "attention"),
        storage=guest_address(holding, "storage"),
        give_back=guest_address(holding, "return"),
        foot=_study_foot(holding),
        pay=_pay(holding),
        guest=True,
    )
    return show_work(request, holding, page, now=now)


@require_safe
@_of_guest
def guest_going_on(request: HttpRequest, holding: Holding) -> HttpResponse:
    """Back to the study: to the next HIT, or to the end."""
    return _go_on(holding)


def _pay(holding: Holding) -> str:
    """What people get in place of the reward; empty where the reward is paid."""
    if not holding.unpaid or holding.visit is None:
        return ""
    link = holding.visit.link
    nothing = link.compensation == StudyLink.Compensation.NOTHING
    return gettext("Without pay") if nothing else link.get_compensation_display()


def _study_foot(holding: Holding) -> TaskFoot:
    """The foot of the study's tasks."""
    visit, token, state = _of_study(holding)
    return foot_of_visit(visit, token, state, host=_study_host(), apart=True)


def _of_study(holding: Holding) -> tuple[Visit, str, str]:
    """The visit, and how the study's pages know it.

    The browser that joined has rights in its cookie; the addresses carry none.
    """
    visit = holding.visit
    assert visit is not None
    return visit, token_of(visit.link), sign_visit(visit, trusted=False)


def _study_host() -> str:
    return settings.TASK_URL if settings.PUBLIC_URL else ""


def _go_on(holding: Holding) -> HttpResponse:
    _, token, state = _of_study(holding)
    return redirect(f"{_study_host()}{reverse('join:handed_over', args=[token, state])}")


@require_POST
@_of_guest
def give_back_as_guest(request: HttpRequest, holding: Holding) -> HttpResponse:
    """Return the HIT unfinished; it is not offered to the person again."""
    with suppress(Refusal):  # submitted or over meanwhile: the study knows where to go on
        hits.return_assignment(holding=holding)
    return redirect(guest_address(holding, "continue"))


@require_POST
@_of_guest
def guest_attention(request: HttpRequest, holding: Holding) -> HttpResponse:
    """What the browser counted on the working page."""
    counts = read_counts(request)
    if holding.state in Holding.OCCUPYING and any(counts.values()):
        traces.note_counts(holding=holding, **counts)
    return HttpResponse(status=204)


@require_POST
@_of_guest
def keep_guest_storage(request: HttpRequest, holding: Holding) -> HttpResponse:
    """What a task page changed in the storage that is lent to it."""
    if holding.state not in Holding.OCCUPYING:
        raise Http404("The assignment is over.")
    return record_storage(request, holding)
