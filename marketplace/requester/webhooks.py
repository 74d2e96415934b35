"""Webhooks and topics of a requester: where messages go, who is subscribed, and what became of each."""

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.origin import Owner
from marketplace import clock
from marketplace.models import Subscription, TopicDelivery
from marketplace.requester.access import RequesterAccess, on_requester, respond, show
from marketplace.services.members import Action
from marketplace.topics import KEPT, send_again
from web.forms import run_action
from web.tables import Choices, Column, Grid, GridRequest, Words
from web.webhook_pages import WebhookPages

PAGES = WebhookPages(Owner.Kind.REQUESTER, "requester", show, respond, {"place": "webhooks"})
_for_managers = on_requester(look=Action.MANAGE, act=Action.MANAGE)


@require_http_methods(["GET", "HEAD", "POST"])
@_for_managers
def webhooks(request: HttpRequest, access: RequesterAccess) -> HttpResponse:
    """The webhooks, and the form for a new one."""
    return PAGES.listing(request, access, access.requester.pk, access.requester.customer_id, access.user)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@_for_managers
def webhook(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponseBase:
    """One webhook with its messages; the form changes it."""
    return PAGES.page(request, access, access.requester.pk, access.requester.customer_id, pk)


@require_POST
@_for_managers
def act(request: HttpRequest, access: RequesterAccess, *, pk: int, action: str) -> HttpResponse:
    """Do something with a webhook."""
    return PAGES.act(request, access.requester.pk, access.requester.customer_id, pk, action)


@require_POST
@_for_managers
def message(request: HttpRequest, access: RequesterAccess, *, pk: int, message: int) -> HttpResponse:
    """Send a message again, or skip it."""
    return PAGES.act_on_message(request, access.requester.pk, access.requester.customer_id, pk, message)


# Topics, as scripts that know SNS make them.

PLACE = "webhooks"
State = TopicDelivery.State
_MOST_SUBSCRIPTIONS = 100
DELIVERIES = Grid(
    "topic-deliveries",
    columns=(
        Column("created", "Message of", lambda row: row.created_at, by="pk", down=True),
        Column("state", "State", lambda row: row.get_state_display(), by="state"),
        Column("attempts", "Attempts", lambda row: row.attempts, by="attempts", down=True),
    ),
    filters=(
        Choices("state", "State", {"all": "All", **{each.value: each.label for each in State}}, tabs=True),
        Words("q", "Endpoint"),
    ),
    order="created",
)


@require_safe
@on_requester(look=Action.MANAGE)
def topics(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """The subscriptions and the log."""

    def rows(asked: GridRequest) -> QuerySet[TopicDelivery]:
        found = TopicDelivery.objects.filter(subscription__topic__requester=access.requester)
        if asked["state"] != "all":
            found = found.filter(state=asked["state"])
        if asked["q"]:
            found = found.filter(subscription__endpoint__icontains=asked["q"])
        return found.select_related("subscription__topic")

    subscriptions = Subscription.objects.filter(topic__requester=access.requester).select_related("topic")
    return respond(
        request,
        access,
        DELIVERIES,
        rows,
        "topics.html",
        place=PLACE,
        subscriptions=subscriptions.order_by("ended_at", "-pk")[:_MOST_SUBSCRIPTIONS],
        kept_days=KEPT.days,
        now=clock.now(),
    )


@require_POST
@on_requester(act=Action.MANAGE)
def resend(request: HttpRequest, access: RequesterAccess, *, pk: int) -> HttpResponse:
    """Send a message to its endpoint again."""
    mine = TopicDelivery.objects.filter(subscription__topic__requester=access.requester)
    row = get_object_or_404(mine.select_related("subscription"), pk=pk)

    def action() -> str:
        send_again(row)
        return "The message is sent again."

    return run_action(request, action, reverse("requester:topics", args=[access.requester.customer_id]))
