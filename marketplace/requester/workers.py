"""Workers: the table, one of them, what they are sent or given."""

from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock, inbox, models
from marketplace.accounts import people
from marketplace.errors import Refusal
from marketplace.lifecycle.decisions import claim
from marketplace.members import Action
from marketplace.qualifications import grants
from marketplace.requester import selectors
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.requester.charts import pace
from marketplace.requester.forms import BlockForm, GrantForm, InvitationForm, MessageForm
from marketplace.requester.lookup import own_worker
from marketplace.site.taskpages import site_url
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
        selectors.WORKERS,
        lambda grid: selectors.workers(access.requester, state=grid["state"], query=grid["q"], now=now),
        "workers.html",
        place=PLACE,
        complete=lambda rows: selectors.say_how_fast(access.requester, rows, now),
        file="workers",
        now=now,
        latest=selectors.LATEST,
        invitation_form=InvitationForm(auto_id="invite_%s") if access.user.is_staff else None,
    )


@require_POST
@for_requester
def invite(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """A link by which people sign up as workers of this installation, for its administrators; shown once."""
    if not access.user.is_staff:
        raise Http404("Administrators invite workers.")
    form = InvitationForm(request.POST, auto_id="invite_%s")
    if not form.is_valid():
        return show(request, "invite_workers.html", access, place=PLACE, form=form, status=422)
    fields = form.cleaned_data
    _, token = people.create_invitation(label=fields["label"], max_uses=fields["uses"], days=fields["days"])
    address = f"{site_url(request)}{reverse('site:invitation', args=[token])}"
    return show(request, "invite_workers.html", access, place=PLACE, address=address, asked=fields)


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
        blocked=models.Block.objects.filter(requester=access.requester, worker=whose).first(),
        grants=selectors.grants(access.requester, whose),
        written=models.Message.objects.filter(requester=access.requester, worker=whose).order_by("-sent_at")[
            :5
        ],
        country_changes=models.CountryChange.objects.filter(worker=whose).order_by("-at", "-pk")
        if access.user.is_staff
        else None,
        block_form=BlockForm(auto_id="block_%s"),
        grant_form=GrantForm(kinds=kinds, auto_id="grant_%s") if kinds else None,
    )


def grantable(requester: models.Requester) -> QuerySet[models.QualificationType]:
    """Qualifications that this requester can give now."""
    return models.QualificationType.objects.filter(
        requester=requester, deleted_at=None, status=models.QualificationType.Status.ACTIVE
    ).order_by("name")


def _address(access: RequesterAccess, whose: models.Worker) -> str:
    return reverse("requester:worker", args=[access.requester.customer_id, whose.worker_id])


def _act(
    request: HttpRequest, access: RequesterAccess, worker_id: str, action: Callable[[models.Worker], str]
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

    def action(whose: models.Worker) -> str:
        reason = read_form(BlockForm(request.POST))["reason"]
        people.block(requester=access.requester, worker=whose, reason=reason)
        return "Blocked: they cannot accept your HITs. What they did stays, and is paid as you decide."

    return _act(request, access, worker_id, action)


@require_POST
@for_requester
def unblock(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Let somebody in again."""

    def action(whose: models.Worker) -> str:
        people.unblock(requester=access.requester, worker=whose)
        return "Unblocked."

    return _act(request, access, worker_id, action)


@require_POST
@for_requester
def grant(request: HttpRequest, access: RequesterAccess, *, worker_id: str) -> HttpResponse:
    """Give a qualification, or change its value."""

    def action(whose: models.Worker) -> str:
        values = read_form(GrantForm(request.POST, kinds=grantable(access.requester)))
        kind = models.QualificationType.objects.get(
            requester=access.requester, qualification_type_id=values["kind"], deleted_at=None
        )
        kind.requester = access.requester
        grants.grant(qualification_type=kind, worker=whose, value=values["value"], notify=values["tell"])
        return f"“{kind.name}” is given, value {values['value']}."

    return _act(request, access, worker_id, action)


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(look=Action.MANAGE, act=Action.MANAGE)
def message(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Write to workers: into the inboxes of those who did work here or hold a qualification."""
    posted = request.method == "POST"
    posted_ids = (request.POST if posted else request.GET).getlist("worker")
    worker_ids = [each for each in dict.fromkeys(posted_ids) if "\0" not in each]
    form = MessageForm(request.POST if posted else None)
    problem = ""
    if not worker_ids:
        problem = "Choose recipients first: tick workers in the table, or open one of them."
    elif len(worker_ids) > MOST_NOTIFIED:
        problem = f"One message goes to at most {MOST_NOTIFIED} workers; {len(worker_ids)} are chosen."
    if posted and not problem and form.is_valid():
        return _send(request, access, worker_ids, form.cleaned_data)
    return show(
        request,
        "message.html",
        access,
        place=PLACE,
        form=form,
        asked=worker_ids[:MOST_NOTIFIED],
        problem=problem,
        status=422 if posted else 200,
    )


def _send(
    request: HttpRequest, access: RequesterAccess, worker_ids: list[str], fields: dict[str, Any]
) -> HttpResponse:
    def action() -> str:
        with transaction.atomic():
            claim(requester=access.requester, action="message", once=fields["once"], now=clock.now())
            failures = inbox.notify_workers(
                requester=access.requester,
                worker_ids=worker_ids,
                subject=fields["subject"],
                body=fields["body"],
            )
            if len(failures) == len(worker_ids):
                why = next(iter(failures.values()))
                raise Refusal("InvalidParameterValue", f"It was not sent to anyone. {why}")
        sent = len(worker_ids) - len(failures)
        left = f" {len(failures)} did not get it: they never worked for you." if failures else ""
        return f"Sent to {sent} worker{'s' if sent != 1 else ''}.{left}"

    back = reverse("requester:workers", args=[access.requester.customer_id])
    return run_action(request, action, back)
