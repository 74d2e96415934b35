"""Workers: the table, one of them, what they are sent or given."""

from collections.abc import Callable
from operator import attrgetter
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
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show, trail
from marketplace.requester.charts import pace
from marketplace.requester.forms import BlockForm, GrantForm, InvitationForm, MessageForm
from marketplace.requester.lookup import own_worker
from marketplace.site.taskpages import site_url
from metrics.figure import counted
from web.cells import Link
from web.forms import read_form, run_action
from web.kit import Button, Empty, FormSection, Listing, Note, Page, Secret, Ticks

PLACE = "workers"
WORKERS = ("Workers", "requester:workers")
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
        _describe_workers(access),
        place=PLACE,
        complete=lambda rows: selectors.say_how_fast(access.requester, rows, now),
        file="workers",
        now=now,
    )


def _describe_workers(access: RequesterAccess) -> Page:
    begin = "Then you see how much each did and how fast, can write to them, and block a worker."
    ticks = Ticks(
        "worker",
        attrgetter("worker_id"),
        attrgetter("worker_id"),
        access.address("requester:message"),
        [Button("Write to the chosen", plain=True)],
        method="get",
        note=f"Median times are of the latest {selectors.LATEST} answers of each.",
    )
    empty = Empty("None yet", f"Workers appear here as soon as they submit something to you. {begin}")
    invitation = _invitation(access, InvitationForm(auto_id="invite_%s"), folded="Invite workers")
    return Page(
        "Workers",
        [
            Listing("Find a worker", "worker", "workers", empty, ticks=ticks),
            *([invitation] if access.staff else []),
        ],
        lead="Who worked for you. You know them by an id, never by a name.",
        primary=[
            Link("MTurk ids", access.address("requester:former_ids"), plain=True),
            Link("Bonuses by file", access.address("requester:bonus_files"), plain=True),
        ],
    )


def _invitation(access: RequesterAccess, form: InvitationForm, *, folded: str = "") -> FormSection:
    action = access.address("requester:invite_workers")
    return FormSection(form, [Button("Make the link", plain=True)], action, folded=folded)


@require_POST
@for_requester
def invite(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """A link by which people sign up as workers of this installation, for its administrators; shown once."""
    if not access.user.is_staff:
        raise Http404("Administrators invite workers.")
    form = InvitationForm(request.POST, auto_id="invite_%s")
    if not form.is_valid():
        page = Page(
            "Invite workers", [_invitation(access, form)], trail=trail(access, WORKERS), here="Invite"
        )
        return show(request, page, access, place=PLACE, status=422)
    fields = form.cleaned_data
    _, token = people.create_invitation(label=fields["label"], max_uses=fields["uses"], days=fields["days"])
    address = f"{site_url(request)}{reverse('site:invitation', args=[token])}"
    people_count = f"{fields['uses']} {'person' if fields['uses'] == 1 else 'people'}"
    until = f", for {counted(fields['days'], 'day')}" if fields["days"] else ""
    page = Page(
        "Invite workers",
        [
            Secret("Send people this link. This page shows it once.", address),
            Note(f"{people_count} can sign up with it{until}. They work for all requesters here."),
        ],
        trail=trail(access, WORKERS),
        here="Invite",
        scripts=["copy.js"],
    )
    return show(request, page, access, place=PLACE)


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
    more = f" and {len(worker_ids) - 10} more" if len(worker_ids) > 10 else ""
    to = Note(("To ", ", ".join(each[:64] for each in worker_ids[:10]), more), "")
    section = FormSection(
        form,
        [Button("Send")],
        before=[to],
        note=f"It goes into their inbox on the worker site. They see the name {access.requester.name}.",
        fields=[("worker", each) for each in worker_ids],
    )
    to_workers = Link("To the workers", access.address("requester:workers"))
    page = Page(
        f"Message to {'a worker' if len(worker_ids) == 1 else 'workers'}",
        [Note((problem, " ", to_workers), "error alarm") if problem else section],
        trail=trail(access, WORKERS),
        here="Message",
    )
    return show(request, page, access, place=PLACE, status=422 if posted else 200)


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
