"""Pages of a requester: topics with what was sent, and worker ids of MTurk."""

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.files.reading import reading_lines
from marketplace.errors import Refusal
from marketplace.forms.sheets import Sheet
from marketplace.heritage import formerids
from marketplace.heritage.models import FormerIdClaim, FormerIdRecord, Subscription, TopicDelivery
from marketplace.heritage.topics import KEPT, send_again
from marketplace.members import Action
from marketplace.models import Worker
from marketplace.requester.access import RequesterAccess, on_requester, respond, show, trail
from metrics.figure import counted
from web import cells
from web.cells import Cell, Code, Link, Post, chip, isolated, more, phrase, post, several
from web.forms import run_action
from web.kit import Button, Empty, FormSection, Listing, Note, Page, Table
from web.tables import Choices, Column, Grid, GridRequest, Words

# Topics, as scripts that know SNS make them.

_Delivery = TopicDelivery.State
_MOST_SUBSCRIPTIONS = 100


def _draw_resend(cell: Cell) -> object:
    row = cell.row
    words = "Send now" if row.state == _Delivery.WAITING else "Send again"
    which = f"the message of {row.created_at:%-d %b, %H:%M:%S}"
    return post(cell.context, Post(words, cell.address("requester:topic_resend", row.pk), unseen=which))


def _draw_endpoint(subscription: Subscription) -> object:
    endpoint = isolated(subscription.endpoint, mono=True, most=80)
    return several(isolated(subscription.topic.name), endpoint, between=": ")


def _draw_answer(cell: Cell) -> object:
    row = cell.row
    due = row.due_at if row.state == _Delivery.WAITING else None
    return phrase((isolated(row.error) if row.error else row.status or "", due and " Next attempt ", due))


def _stand(row: Subscription) -> str:
    if row.ended_at:
        return "Ended"
    return "Confirmed" if row.confirmed_at else "Waits for its endpoint to confirm"


SUBSCRIPTIONS = (
    Column("topic", "Topic", "topic.name"),
    Column("endpoint", "Endpoint", cell=lambda cell: isolated(cell.value, mono=True, most=120)),
    Column("state", "State", _stand),
    Column("since", "Since", "created_at", cell=cells.moment),
)
DELIVERIES = Grid(
    "topic-deliveries",
    columns=(
        Column("created", "Message of", "created_at", by="pk", down=True, cell=cells.moment),
        Column("state", "State", lambda row: row.get_state_display(), by="state"),
        Column("attempts", "Attempts", by="attempts", down=True),
        Column("resend", "What to do", None, unseen=True, cell=_draw_resend),
        Column("to", "Where to", None, cell=lambda cell: _draw_endpoint(cell.row.subscription)),
        Column("answer", "Last answer", None, cell=_draw_answer),
    ),
    filters=(
        Choices(
            "state", "State", {"all": "All", **{each.value: each.label for each in _Delivery}}, tabs=True
        ),
        Words("q", "Endpoint"),
    ),
    order="created",
)


@require_safe
@on_requester(look=Action.MANAGE)
def topics(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The subscriptions and the log."""

    def rows(grid: GridRequest) -> QuerySet[TopicDelivery]:
        deliveries = TopicDelivery.objects.filter(subscription__topic__requester=access.requester)
        if grid["state"] != "all":
            deliveries = deliveries.filter(state=grid["state"])
        if grid["q"]:
            deliveries = deliveries.filter(subscription__endpoint__icontains=grid["q"])
        return deliveries.select_related("subscription__topic")

    subscriptions = Subscription.objects.filter(topic__requester=access.requester).select_related("topic")
    nothing = (
        "Nothing is subscribed. A script makes a topic and subscribes an address with the actions of SNS."
    )
    table = Table(
        "Table of subscriptions",
        SUBSCRIPTIONS,
        subscriptions.order_by("ended_at", "-pk")[:_MOST_SUBSCRIPTIONS],
        heading="Subscriptions",
        empty=nothing,
    )
    none = Empty("No message was published yet")
    page = Page(
        "Topics",
        [table, Listing("Find an endpoint", "message", "messages", none, heading="Messages")],
        lead="What scripts have published through SNS, and where it went. "
        f"Messages are listed for {KEPT.days} days.",
        trail=trail(access, ("Webhooks", "requester:webhooks")),
    )
    return respond(request, access, DELIVERIES, rows, page, place="webhooks")


@require_POST
@on_requester(act=Action.MANAGE)
def resend_message(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Send a message to its endpoint again."""
    mine = TopicDelivery.objects.filter(subscription__topic__requester=access.requester)
    row = get_object_or_404(mine.select_related("subscription"), pk=pk)

    def action() -> str:
        send_again(row)
        return "The message is sent again."

    return run_action(request, action, reverse("requester:topics", args=[access.requester.customer_id]))


# Worker ids of MTurk: a table brought in, and what became of each id.

PLACE = "workers"
Kind = FormerIdRecord.Kind


def _draw_applied(cell: Cell) -> object:
    return cells.moment(cell) if cell.value else "not yet"


def _draw_claimant(cell: Cell) -> object:
    worker = cell.row.worker
    return worker and several(isolated(worker.worker_id, mono=True), "(states it, unverified)")


def _draw_details(cell: Cell) -> object:
    row = cell.row
    return several(
        row.qualification_type and several(isolated(row.qualification_type.name), row.value, between=": "),
        row.cents and cells.amount(row.cents),
        isolated(row.reason, most=120),
        row.why and chip(row.why, "bad"),
    )


RECORDS = Grid(
    "former-ids",
    columns=(
        Column("id", "MTurk id", "former_id", by="former_id", cell=cells.mono),
        Column("kind", "What is kept", lambda row: row.get_kind_display(), by="kind"),
        Column("applied", "Took effect", "applied_at", by="applied_at", down=True, cell=_draw_applied),
        Column("worker", "On whom", None, cell=_draw_claimant),
        Column("details", "Details", None, cell=_draw_details),
    ),
    filters=(
        Choices("kind", "Kept", {"all": "All", **{each.value: each.label for each in Kind}}, tabs=True),
        Words("q", "MTurk id"),
    ),
    order="id",
)


class FormerIdsForm(forms.Form):
    """A table of ids."""

    file = forms.FileField(
        label="Table",
        help_text="CSV or a workbook with the column worker_id, and optionally block (a reason), "
        "qualification (its name or id), value, bonus (an amount) and reason.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(act=Action.MANAGE)
def former_ids(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The records, and the form for a table."""
    posted = request.method == "POST"
    form = FormerIdsForm(request.POST if posted else None, request.FILES if posted else None)
    if posted and form.is_valid() and (answer := _bring_in(request, access, form)):
        return answer

    def rows(grid: GridRequest) -> QuerySet[FormerIdRecord]:
        records = FormerIdRecord.objects.filter(requester=access.requester, former_id__icontains=grid["q"])
        if grid["kind"] != "all":
            records = records.filter(kind=grid["kind"])
        return records.select_related("worker", "qualification_type")

    claims = formerids.contested(access.requester).values("former_id").distinct().order_by("former_id")
    response = respond(
        request, access, RECORDS, rows, _describe_ids(access, form, claims.count()), place=PLACE
    )
    if form.errors:
        response.status_code = 422
    return response


def _describe_ids(access: RequesterAccess, form: FormerIdsForm, contested: int) -> Page:
    see = Link("See who", access.address("requester:former_id_conflicts"))
    are = "is" if contested == 1 else "are"
    note = Note(
        (f"{counted(contested, 'id')} of your tables {are} stated by several workers. ", see), "warning"
    )
    bring = FormSection(form, [Button("Bring in")], checked=False)
    none = Empty("None yet", "Bring in a table of ids from MTurk.")
    return Page(
        "Worker ids of MTurk",
        [
            *([note] if contested else []),
            *([bring] if access.may["manage"] else []),
            Listing("Find an id", "record", "records", none, heading="What is kept"),
        ],
        title="MTurk ids",
        lead="What you keep on an id takes effect once, when a worker states that the id was theirs. "
        "Nobody can check that.",
        trail=trail(access, ("Workers", "requester:workers")),
        here="MTurk ids",
    )


_MOST_CLAIMS = 500


def _draw_stated(cell: Cell) -> object:
    return several(isolated(cell.row.worker.worker_id, mono=True), more(phrase(cell.row.at)))


def _draw_whose(cell: Cell) -> object:
    row = cell.row
    if row.accepted:
        said = "Has the id, as staff decided" if row.settled_at else "Has the id until staff decide"
    else:
        said = "Does not have it, as staff decided" if row.settled_at else "Waits for a decision by staff"
    if not cell.access.staff or (row.accepted and row.settled_at):
        return said
    fields = {"former_id": row.former_id, "worker": row.worker.worker_id}
    theirs = f": {row.former_id} of {row.worker.worker_id}"
    address = cell.address("requester:settle_former_id")
    return several(said, post(cell.context, Post("It is theirs", address, fields, unseen=theirs)))


_CLAIMS = (
    Column("worker", "Worker, and when they stated it", None, cell=_draw_stated),
    Column("whose", "Whose it is", None, cell=_draw_whose),
)


@require_safe
@on_requester()
def conflicts(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Ids of the requester's tables that several workers state; staff see buttons that settle them."""
    contested: dict[str, list[FormerIdClaim]] = {}
    # One more than is shown, which tells whether there are more without counting them.
    claims = list(formerids.contested(access.requester)[: _MOST_CLAIMS + 1])
    for row in claims[:_MOST_CLAIMS]:
        contested.setdefault(row.former_id, []).append(row)
    most = _MOST_CLAIMS if len(claims) > _MOST_CLAIMS else 0
    tables: list[object] = [
        Table(f"Who states {name}", _CLAIMS, rows, heading=name) for name, rows in contested.items()
    ]
    first = (f"Only the first {most} claims are shown. ", Code("manage.py marketplace former-ids conflicts"))
    page = Page(
        "Contested MTurk ids",
        [
            *(tables or [Note("No id in your tables is claimed by more than one worker.")]),
            *([Note((*first, " lists all."))] if most else []),
        ],
        lead="MTurk ids in this requester's tables that more than one worker claims. The first of them "
        "has the id until staff decide. What already took effect for one worker stays, and is not applied "
        "twice.",
        trail=trail(access, ("Workers", "requester:workers"), ("MTurk ids", "requester:former_ids")),
    )
    return show(request, page, access, place=PLACE)


@require_POST
@on_requester()
def settle(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """Staff decide whose an id is: it concerns all requesters, so none of them does."""
    if not access.staff:
        raise Http404("Staff settle whose an id is.")
    named = request.POST.get("worker", "").replace("\0", "")[:64]
    former_id = request.POST.get("former_id", "").replace("\0", "")[:64]

    def action() -> str:
        worker = Worker.objects.filter(worker_id=named).first()
        if worker is None:
            raise Refusal("InvalidParameterValue", "There is no such worker.")
        formerids.settle_claim(former_id=former_id, worker=worker)
        return f"{former_id} is {worker.worker_id}'s."

    address = reverse("requester:former_id_conflicts", args=[access.requester.customer_id])
    return run_action(request, action, address)


def _bring_in(request: HttpRequest, access: RequesterAccess, form: FormerIdsForm) -> HttpResponse | None:
    file = form.cleaned_data["file"]
    try:
        outcome = formerids.bring_in(requester=access.requester, sheet=Sheet(file, file.name or "ids.csv"))
    except Refusal as refusal:
        form.add_error("file", refusal.message)
        return None
    read_as = " ".join(reading_lines(outcome.reading.as_json()))
    messages.success(request, f"Ids read: {outcome.rows:,}. New records: {outcome.new:,}. {read_as}")
    return redirect("requester:former_ids", access.requester.customer_id)
