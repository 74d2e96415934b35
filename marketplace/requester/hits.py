"""HITs: the table, one of them with who took it, and longer, more or less of it."""

from collections.abc import Callable

from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle import hits
from marketplace.lifecycle.decisions import claim
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.holds import LARGE_HIT
from marketplace.lifecycle.selectors import hit_status, is_expired
from marketplace.models import HIT
from marketplace.requester import selectors
from marketplace.requester.access import RequesterAccess, for_requester, respond, show
from marketplace.requester.forms import MorePlacesForm, MoreTimeForm, OnceForm
from marketplace.requester.lookup import own_hit
from marketplace.site import frames, taskpages
from marketplace.site.lookup import settle_overdue
from marketplace.site.selectors import Progress
from marketplace.site.taskpages import site_url
from web.cells import Code, Link, isolated
from web.forms import read_form, run_action
from web.kit import Empty, Listing, Own, Page
from web.tables import late

PLACE = "hits"
#: People of a HIT on one page.
_PEOPLE = 50
_BEGIN = (
    *("HITs appear here as soon as a script posts them with ", Code("create_hit")),
    ", or a batch is published.",
)


@require_safe
@for_requester
def listing(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The table; sorted, filtered and paged by the address."""
    now = clock.now()
    settle_overdue(now)

    def complete(rows: list[HIT]) -> list[HIT]:
        for row in rows:
            row.status = hit_status(row, now)  # type: ignore[attr-defined]
        return rows

    return respond(
        request,
        access,
        selectors.HITS,
        lambda grid: selectors.hits(
            access.requester,
            state=grid["state"],
            hit_type=grid["type"],
            batch=grid["batch"],
            query=grid["q"],
            now=now,
        ),
        Page("HITs", [Listing("Find a HIT", "HIT", "HITs", Empty("No HIT yet", _BEGIN))]),
        place=PLACE,
        complete=complete,
        file="hits",
        now=now,
    )


@require_safe
@for_requester
def hit(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponseBase:
    """What is in a HIT, who took it, and what can be done with it."""
    now = clock.now()
    row = own_hit(access.requester, hit_id)
    settle(hits=[row], now=now)
    status = hit_status(row, now)
    people = Paginator(late(selectors.people(row, now)), _PEOPLE).get_page(request.GET.get("page"))
    # Comes back with the form: sent twice, it asks for the same end, not for twice as many hours.
    since = row.expires_at if row.expires_at > now else now
    task = getattr(row, "batch_task", None) if row.batch else None
    return show(
        request,
        "hit.html",
        access,
        place=PLACE,
        now=now,
        hit=row,
        standing=status,
        progress=_progress(row),
        people=people,
        bonuses=selectors.bonuses(row)[:_PEOPLE],
        inputs=list(zip(row.batch.columns, task.values, strict=False)) if row.batch and task else [],
        time_form=MoreTimeForm(initial={"since": int(since.timestamp()), "hours": 24}),
        places_form=MorePlacesForm(initial={"places": 1}),
        expire_form=OnceForm(auto_id="expire_%s"),
        expired=is_expired(row, now),
        deletable=status in ("Reviewable", "Reviewing") and not row.submitted,
        places_left=_places_left(row),
        held=row.held_places * (row.reward_cents + row.fee_cents),
        reopening=row.open_places * (row.reward_cents + row.fee_cents),
    )


def _progress(row: HIT) -> Progress:
    return Progress(
        hit_type=row.hit_type,
        hits=1,
        total=row.max_assignments,
        open=row.open_places,
        pending=row.pending,
        submitted=row.submitted,
        approved=row.approved,
        rejected=row.rejected,
    )


def _places_left(row: HIT) -> int | None:
    """How many places can be added before the border that no HIT crosses; None: any number."""
    return LARGE_HIT - 1 - row.max_assignments if row.max_at_creation < LARGE_HIT else None


@require_safe
@for_requester
def question(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """The task as workers see it before they accept."""
    row = own_hit(access.requester, hit_id)
    hit_question, origin = taskpages.load_question(row), site_url(request)
    page = Page(
        "The task of one HIT",
        [Own("marketplace/requester/parts/task_frame.html")],
        lead=isolated(row.hit_type.title),
        trail=[
            Link("HITs", access.address("requester:hits")),
            Link(row.hit_id, access.address("requester:hit", row.hit_id)),
        ],
        here="Task",
    )
    response = show(
        request,
        page,
        access,
        place=PLACE,
        what="Preview.",
        why="The task as workers see it before they accept.",
        title=f"Preview of the task: {row.hit_type.title}",
        frame_url=taskpages.preview_url(hit=row, base_url=origin),
        frame_height=hit_question.frame_height,
        sandbox=frames.sandbox(hit_question, working=False),
    )
    return frames.with_task(response, hit_question, origin=origin)


Action = Callable[[HIT], str]


def _act(request: HttpRequest, access: RequesterAccess, hit_id: str, action: Action) -> HttpResponse:
    """Apply what time has done to the HIT, then change it in one transaction."""
    row = own_hit(access.requester, hit_id)
    settle(hits=[row], now=clock.now())

    def locked() -> str:
        with transaction.atomic():
            return action(row)

    return run_action(request, locked, reverse("requester:hit", args=[access.requester.customer_id, hit_id]))


@require_POST
@for_requester
def more_time(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """Keep it on offer longer."""

    def action(row: HIT) -> str:
        form = MoreTimeForm(request.POST)
        read_form(form)
        until, now = form.until(), clock.now()
        if until <= now:
            raise Refusal("InvalidParameterValue", "That is over already. Ask for more hours.")
        hits.set_expiration(hit=row, expires_at=until, now=now)
        return f"It stays on offer until {until:%-d %b %Y, %H:%M} UTC."

    return _act(request, access, hit_id, action)


@require_POST
@for_requester
def more_places(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """More people for it."""

    def action(row: HIT) -> str:
        values = read_form(MorePlacesForm(request.POST))
        claim(requester=access.requester, action="add-places", once=values["once"], now=clock.now())
        hits.add_places(hit=row, places=values["places"], now=clock.now())
        return f"{values['places']:,} place{'s' if values['places'] > 1 else ''} more."

    return _act(request, access, hit_id, action)


@require_POST
@for_requester
def expire(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """Expire it now; the money for open places comes back."""

    def action(row: HIT) -> str:
        hits.set_expiration(hit=row, expires_at=clock.now(), now=clock.now())
        return "It has expired. Work that people have begun may still come in."

    return _act(request, access, hit_id, action)


@require_POST
@for_requester
def reviewing(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """Mark it as being reviewed, or take the mark away."""

    def action(row: HIT) -> str:
        marked = "revert" not in request.POST
        hits.set_reviewing(hit=row, reviewing=marked, now=clock.now())
        return "Marked as being reviewed." if marked else "The mark is removed."

    return _act(request, access, hit_id, action)


@require_POST
@for_requester
def delete(request: HttpRequest, access: RequesterAccess, *, hit_id: str) -> HttpResponse:
    """Delete it, once all of its work is decided."""

    def action(row: HIT) -> str:
        if row.disposed_at:
            raise Refusal("DuplicateRequest", "It was deleted already.")
        hits.dispose(hit=row, now=clock.now())
        return "Deleted. Its work and payments stay on record; rejections in it are final now."

    return _act(request, access, hit_id, action)
