"""Signing in by a provider, connecting one, and taking a connection away."""

from typing import Any

from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from core.accounts import oidc, providers, security, sessions
from core.accounts.confirmation import confirmed_without_factor, safe_next
from core.accounts.memberships import INVITATION, invitation_for
from core.accounts.providers import RefusedSignInError

#: In the session: the provider that is being connected.
CONNECTING = "connecting"


@require_safe
@never_cache
def begin(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """On to the provider: to sign in, to confirm who one is, or, after `connect`, to be connected."""
    provider = _named(provider_id)
    process, further = "login", {}
    if request.user.is_authenticated:
        process = "connect" if request.session.pop(CONNECTING, None) == provider_id else "confirm"
        further = {"prompt": "login"} if process == "confirm" else {}
    try:
        return oidc.begin(request, provider_id, process=process, then=safe_next(request), further=further)
    except oidc.ProviderError as error:
        return _failed(request, provider, error)


@require_safe
@never_cache
def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Back from the provider."""
    provider = _named(provider_id)
    try:
        login, state, claims = oidc.finish(request, provider_id)
    except oidc.ProviderError as error:
        return _failed(request, provider, error)
    subject = providers.subject_of(provider, login.account.uid, claims)
    then, process = state.get("next") or "", state.get("process")
    try:
        if process == "login":
            return _sign_in(request, provider, subject, then)
        if not isinstance(request.user, User):
            raise RefusedSignInError("Your session has ended. Sign in again, then repeat it.")
        if process == "connect":
            providers.connect(provider, subject, request.user)
            messages.success(request, f"{provider.name} is connected: you can sign in with it.")
            return redirect("accounts:profile")
        if providers.account_for(provider, subject, invited=False) != request.user:
            raise RefusedSignInError(f"This {provider.name} account is not connected to your account here.")
    except RefusedSignInError as error:
        security.log("signin.refused", provider=provider.id, why=str(error))
        context = {"provider": provider, "why": str(error)}
        return render(request, "accounts/provider_refused.html", context, status=403)
    sessions.note_confirmation(request)
    return redirect(then or "accounts:home")


def _sign_in(request: HttpRequest, provider: Any, subject: providers.Subject, then: str) -> HttpResponse:
    invited = invitation_for(request.session.get(INVITATION, "")) is not None
    user = providers.account_for(provider, subject, invited=invited)
    providers.apply_groups(provider, subject, user)
    if request.user.is_authenticated:
        logout(request)
    record_authentication(request, user, "socialaccount", provider=provider.id, uid=subject.uid)
    answer: HttpResponse = perform_login(request, Login(user=user, redirect_url=then or None))
    return answer


@require_POST
def connect(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Connect a provider: by a form of ours, so that no other site connects an account of its choice."""
    return _go_on(request, _named(provider_id))


@login_required
@confirmed_without_factor
def _go_on(request: HttpRequest, provider: Any) -> HttpResponse:
    """A page that goes on by itself: our policy lets no form lead to another site."""
    request.session[CONNECTING] = provider.id
    return render(request, "accounts/provider_go.html", {"provider": provider})


@require_POST
@login_required
@confirmed_without_factor
def disconnect(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a connection away."""
    assert isinstance(request.user, User)
    try:
        if providers.disconnect(user=request.user, pk=pk):
            messages.success(request, "The connection is removed.")
        else:
            messages.error(request, "There is no such connection any more.")
    except RefusedSignInError as error:
        messages.error(request, str(error))
    return redirect("accounts:profile")


def _named(provider_id: str) -> Any:
    provider = providers.provider_named(provider_id)
    if provider is None:
        raise Http404("There is no such provider.")
    return provider


def _failed(request: HttpRequest, provider: Any, error: Exception) -> HttpResponse:
    """Whatever went wrong is for the log; the person is told to try again."""
    security.log("signin.provider_failed", provider=provider.id, why=str(error))
    return render(request, "accounts/provider_refused.html", {"provider": provider, "why": ""}, status=401)
