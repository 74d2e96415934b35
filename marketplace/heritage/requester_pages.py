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
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.forms.sheets import Sheet
from marketplace.heritage import formerids
from marketplace.heritage.models import FormerIdClaim, FormerIdRecord, Subscription, TopicDelivery
from marketplace.heritage.topics import KEPT, send_again
from marketplace.members import Action
from marketplace.models import Worker
from marketplace.requester.access import RequesterAccess, on_requester, respond, show
from web.forms import run_action
from web.tables import Choices, Column, Grid, GridRequest, Words

# Topics, as scripts that know SNS make them.

_Delivery = TopicDelivery.State
_MOST_SUBSCRIPTIONS = 100
DELIVERIES = Grid(
    "topic-deliveries",
    columns=(
        Column("created", "Message of", "created_at", by="pk", down=True),
        Column("state", "State", lambda row: row.get_state_display(), by="state"),
        Column("attempts", "Attempts", by="attempts", down=True),
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
    return respond(
        request,
        access,
        DELIVERIES,
        rows,
        "topics.html",
        place="webhooks",
        subscriptions=subscriptions.order_by("ended_at", "-pk")[:_MOST_SUBSCRIPTIONS],
        kept_days=KEPT.days,
        now=clock.now(),
    )


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
RECORDS = Grid(
    "former-ids",
    columns=(
        Column("id", "MTurk id", "former_id", by="former_id"),
        Column("kind", "What is kept", lambda row: row.get_kind_display(), by="kind"),
        Column("applied", "Took effect", "applied_at", by="applied_at", down=True),
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
        request,
        access,
        RECORDS,
        rows,
        "former_ids.html",
        place=PLACE,
        form=form,
        contested=claims.count(),
    )
    if form.errors:
        response.status_code = 422
    return response


_MOST_CLAIMS = 500


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
    return show(request, "former_id_conflicts.html", access, place=PLACE, contested=contested, most=most)


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
