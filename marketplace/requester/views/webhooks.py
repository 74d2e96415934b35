"""Webhooks of a requester, for who manages it: where messages go, and what became of them."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from core.origin import Owner
from marketplace.requester.access import RequesterAccess, on_requester, respond, show
from marketplace.services.members import Action
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
