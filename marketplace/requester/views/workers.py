"""Workers: the table, one of them, messages to them, keeping somebody out, and giving qualifications."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Block, CountryChange, Message, QualificationType, Requester, Worker
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.requester.charts import pace
from marketplace.requester.forms import BlockForm, GrantForm, MessageForm
from marketplace.requester.lookup import own_worker
from marketplace.requester.selectors import workers as selectors
from marketplace.services import people, qualifications
from marketplace.services.decisions import claim
from marketplace.services.members import Action
from web.forms import read_form, run_action

PLACE = "workers"
#: Workers of one message, as the protocol has it.
MOST_NOTIFIED = 100
_BARS, _ROWS = 60, 20


@require_safe
@for_requester
def listing(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Everybody who answered something; sorted, filtered and paged by the address."""
    now = clock.now()
    return respond(
        request,
        access,
        selectors.GRID,
        lambda asked: selectors.workers(access.requester, state=asked["state"], words=asked["q"], now=now),
        "workers.html",
        place=PLACE,
        complete=lambda rows: selectors.say_how_fast(access.requester, rows, now),
        file="workers",
        now=now,
        latest=selectors.LATEST,
    )


@require_safe
@for_requester
def worker(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponseBase:
    """What somebody did here, how fast, and what can be done about them."""
    now = clock.now()
    whose = own_worker(access.requester, worker_id, now)
    latest = selectors.latest_work(access.requester, whose, now, rows=_BARS)
    kinds = list(grantable(access.requester))
    return show(
        request,
        "worker.html",
        access,
        place=PLACE,
        now=now,
        whose=whose,
        record=selectors.record(access.requester, whose, now),
        latest=latest[:_ROWS],
        pace=pace(latest),
        blocked=Block.objects.filter(requester=access.requester, worker=whose).first(),
        grants=selectors.grants(access.requester, whose),
        written=Message.objects.filter(requester=access.requester, worker=whose).order_by("-sent_at")[:5],
        country_changes=CountryChange.objects.filter(worker=whose).order_by("-at", "-pk")
        if access.user.is_staff
        else None,
        block_form=BlockForm(auto_id="block_%s"),
        grant_form=GrantForm(kinds=kinds, auto_id="grant_%s") if kinds else None,
    )


def grantable(requester: Requester) -> QuerySet[QualificationType]:
    """Qualifications that this requester can give now."""
    return QualificationType.objects.filter(
        requester=requester, deleted_at=None, status=QualificationType.Status.ACTIVE
    ).order_by("name")


def _address(access: RequesterAccess, whose: Worker) -> str:
    return reverse("requester:worker", args=[access.requester.customer_id, whose.worker_id])


def _act(
    request: HttpRequest, access: RequesterAccess, worker_id: str, action: Callable[[Worker], str]
) -> HttpResponse:
    whose = own_worker(access.requester, worker_id, clock.now())

    def all_of_it() -> str:
        with transaction.atomic():
            return action(whose)

    return run_action(request, all_of_it, _address(access, whose))


@require_POST
@for_requester
def block(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Keep somebody from accepting this requester's HITs."""

    def action(whose: Worker) -> str:
        reason = read_form(BlockForm(request.POST))["reason"]
        people.block(requester=access.requester, worker=whose, reason=reason)
        return "Blocked: they cannot accept your HITs. What they did stays, and is paid as you decide."

    return _act(request, access, worker_id, action)


@require_POST
@for_requester
def unblock(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Let somebody in again."""

    def action(whose: Worker) -> str:
        people.unblock(requester=access.requester, worker=whose)
        return "Not blocked any more."

    return _act(request, access, worker_id, action)


@require_POST
@for_requester
def grant(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Give a qualification, or change its value."""

    def action(whose: Worker) -> str:
        given = read_form(GrantForm(request.POST, kinds=grantable(access.requester)))
        kind = QualificationType.objects.get(
            requester=access.requester, qualification_type_id=given["kind"], deleted_at=None
        )
        kind.requester = access.requester
        qualifications.grant(
            qualification_type=kind, worker=whose, value=given["value"], notify=given["tell"]
        )
        return f"“{kind.name}” is given, value {given['value']}."

    return _act(request, access, worker_id, action)


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def message(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Write to workers: into the inboxes of those who did work here or hold a qualification."""
    posted = request.method == "POST"
    given = (request.POST if posted else request.GET).getlist("worker")
    asked = [each for each in dict.fromkeys(given) if "\0" not in each]
    form = MessageForm(request.POST if posted else None)
    problem = ""
    if not asked:
        problem = "Choose to whom first: tick workers in the table, or open one of them."
    elif len(asked) > MOST_NOTIFIED:
        problem = f"One message goes to at most {MOST_NOTIFIED} workers; {len(asked)} are chosen."
    if posted and not problem and form.is_valid():
        return _send(request, access, asked, form.cleaned_data)
    return show(
        request,
        "message.html",
        access,
        place=PLACE,
        form=form,
        asked=asked[:MOST_NOTIFIED],
        problem=problem,
        status=422 if posted else 200,
    )


def _send(
    request: HttpRequest, access: RequesterAccess, asked: list[str], given: dict[str, Any]
) -> HttpResponse:
    def action() -> str:
        with transaction.atomic():
            claim(requester=access.requester, action="message", once=given["once"], now=clock.now())
            failures = people.notify_workers(
                requester=access.requester, worker_ids=asked, subject=given["subject"], body=given["body"]
            )
            if len(failures) == len(asked):
                raise Refusal("InvalidParameterValue", "Nobody got it. " + next(iter(failures.values())))
        sent = len(asked) - len(failures)
        left = f" {len(failures)} did not get it: they never worked for you." if failures else ""
        return f"Sent to {sent} worker{'s' if sent != 1 else ''}.{left}"

    back = reverse("requester:workers", args=[access.requester.customer_id])
    return run_action(request, action, back)
