"""Webhooks of a project, for managers: where messages about it go, and what became of them."""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from core.origin import Owner
from web.access import ProjectAccess, Role, on_project
from web.pages import show
from web.table_pages import respond
from web.webhook_pages import WebhookPages

PAGES = WebhookPages(Owner.Kind.PROJECT, "desk", show, respond, {"tab": "settings"})


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def webhooks(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The webhooks, and the form for a new one."""
    return PAGES.listing(request, access, access.project.pk, access.project.slug, access.user)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def webhook(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """One webhook with its messages; the form changes it."""
    return PAGES.page(request, access, access.project.pk, access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def act(request: HttpRequest, access: ProjectAccess, *, pk: int, action: str) -> HttpResponse:
    """Do something with a webhook."""
    return PAGES.act(request, access.project.pk, access.project.slug, pk, action)


@require_POST
@on_project(Role.MANAGER)
def message(request: HttpRequest, access: ProjectAccess, *, pk: int, message: int) -> HttpResponse:
    """Send a message again, or skip it."""
    return PAGES.act_on_message(request, access.project.pk, access.project.slug, pk, message)
