"""What administrators do with marketplaces and panels: add one, ask for its balance, let it send hooks."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from core.accounts import security
from core.accounts.confirmation import confirmed
from core.money import dollars
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.desk.endpoints import EndpointForm
from crowd.errors import CrowdError
from crowd.models import Endpoint
from crowd.services.endpoints import create_endpoint
from crowd.services.panels import ask_balance, subscribe_hooks
from web.forms import read_form, run_action

SETTINGS = "desk:my_settings"


def _for_staff(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @require_POST
    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, **parts: Any) -> HttpResponse:
        assert isinstance(request.user, User)
        if not request.user.is_staff:
            raise Http404("Marketplaces are added by administrators.")
        return view(request, **parts)

    return guarded


@confirmed
@_for_staff
def add(request: HttpRequest) -> HttpResponse:
    """Add a marketplace or panel."""

    def action() -> str:
        values = read_form(EndpointForm(request.POST))
        made = create_endpoint(**values)
        security.log("endpoint.added", name=made.name, by=request.user.get_username())
        return f"{made.label} is there as {made.name}."

    return run_action(request, action, SETTINGS)


@_for_staff
def check(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Ask for the balance, which proves that address and keys work."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        try:
            balance = (ask_balance(row, force=True) if row.is_panel else None) or registry.adapter(
                row
            ).check()
        except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
            raise CrowdError(f"{row.label}: {error}") from error
        return f"{row.label} answers; {dollars(balance.available.minor)} {row.currency} can be spent."

    return run_action(request, action, SETTINGS)


@_for_staff
def hooks(request: HttpRequest, *, endpoint: str) -> HttpResponse:
    """Subscribe to a panel's hooks."""
    row = get_object_or_404(Endpoint, name=endpoint)

    def action() -> str:
        if not row.is_panel:
            raise CrowdError(f"{row.label} is no panel, and sends no hooks.")
        address = subscribe_hooks(row)
        security.log("endpoint.hooks", name=row.name, by=request.user.get_username())
        return f"{row.label} sends its hooks to {address} from now on."

    return run_action(request, action, SETTINGS)
