"""Signing in by a provider (OpenID Connect), connecting one, and taking a connection away.

The protocol is django-allauth's, with what this installation asks beyond it. A sign-in has a state that is
kept in the session and used once, a verifier of the code (PKCE) and a nonce. The identity token is always
checked against the keys of the provider: signature by an asymmetric algorithm, issuer, audience, time, nonce;
and what the provider says of the person must be of the same subject.
"""

import secrets
from typing import Any

import jwt
from allauth.account.utils import perform_login
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.crypto import constant_time_compare
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from core.accounts import providers, security, sessions
from core.accounts.confirmation import confirmed_without_factor, safe_next
from core.accounts.memberships import INVITATION, invitation_for
from core.accounts.providers import RefusedSignInError

#: No "none", and no HMAC: a public key of the provider could be passed off as the secret that both share.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY_S = 60


class ProviderError(Exception):
    """The provider did not answer as it has to; the text is for the log, not for the person."""


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # theirs has no types
    """Checks every identity token, whichever way it came."""

    nonce = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the provider says of itself; it must be the one that was asked."""
        config: dict[str, Any] = super().openid_config
        named, server_url = str(config.get("issuer", "")), self.get_provider().app.settings["server_url"]
        if named.rstrip("/") != server_url.rstrip("/"):
            raise ProviderError(f"{server_url} calls itself {named}")
        return config

    def complete_login(
        self, request: HttpRequest, app: SocialApp, token: SocialToken, **answer: Any
    ) -> SocialLogin:
        """Who it is, by a checked token and by what the provider's server says to ours."""
        claims = {"id_token": self.check_token(app, answer["response"]["id_token"])}
        with get_adapter().get_requests_session() as session:
            user_info = session.get(self.profile_url, headers={"Authorization": f"Bearer {token.token}"})
            user_info.raise_for_status()
        claims["userinfo"] = user_info.json()
        return self.get_provider().sociallogin_from_response(request, claims)

    def check_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        """The claims of an identity token; ProviderError where it is not for us and for this sign-in."""
        config = self.openid_config
        with get_adapter().get_requests_session() as session:
            answer = session.get(config["jwks_uri"])
            answer.raise_for_status()
        try:
            named = jwt.get_unverified_header(id_token).get("kid")
            keys = jwt.PyJWKSet.from_dict(answer.json()).keys
            # A key set may hold keys for other things; one of them has to fit.
            key = next(each for each in keys if named is None or each.key_id == named)
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key.key,
                algorithms=_ALGORITHMS,
                audience=app.client_id,
                issuer=config["issuer"],
                leeway=_LEEWAY_S,
                options={"require": ["exp", "iat", "sub", "iss", "aud"]},
            )
        except (jwt.PyJWTError, StopIteration, ValueError) as error:
            raise ProviderError(f"the identity token is not valid: {error!r}") from error
        if not constant_time_compare(str(claims.get("nonce", "")), self.nonce) or not self.nonce:
            raise ProviderError("the identity token is of another sign-in")
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        if len(audiences) > 1 and claims.get("azp") != app.client_id:
            raise ProviderError("the identity token was made for another program")
        return claims


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    """Sends a nonce along."""

    oauth2_adapter_class = Adapter


def register() -> None:
    """Make the library know the kind of provider; nothing of it is loaded before somebody signs in by one."""
    if registry.provider_map.get(Provider.id) is not Provider:
        registry.loaded = True
        registry.provider_map[Provider.id] = Provider


def begin_flow(
    request: HttpRequest, provider_id: str, *, process: str, then: str, further: dict[str, str]
) -> HttpResponseBase:
    """Lead the browser to the provider. ProviderError where that does not answer."""
    register()
    provider = get_adapter().get_provider(request, provider=provider_id)
    nonce = urlsafe_base64_encode(secrets.token_bytes(24))
    try:
        answer: HttpResponseBase = provider.redirect(
            request,
            process,
            next_url=then or None,
            auth_params={"nonce": nonce, **further},
            nonce=nonce,
        )
    except (RequestException, KeyError, ValueError) as error:
        raise ProviderError(f"the provider does not answer: {error!r}") from error
    return answer


def finish_flow(request: HttpRequest, provider_id: str) -> tuple[SocialLogin, dict[str, Any], dict[str, Any]]:
    """Who came back from the provider, the state of their sign-in, and all that the provider says of them."""
    register()
    adapter = Adapter(request, provider_id)
    provider = adapter.get_provider()
    # As the library keeps it: in the session, for ten minutes, and used up by this.
    try:
        state = provider.unstash_redirect_state(request, request.GET.get("state", ""))
    except PermissionDenied as error:
        raise ProviderError("there is no such sign-in in this browser") from error
    if "code" not in request.GET:
        raise ProviderError(f"the provider says {request.GET.get('error', 'nothing')[:60]}")
    adapter.nonce = state.get("nonce", "")
    try:
        client = adapter.get_client(request, provider.app)
        answer = adapter.get_access_token_data(
            request, provider.app, client, pkce_code_verifier=state.get("pkce_code_verifier")
        )
        if not answer.get("id_token"):
            raise ProviderError("there is no identity token")
        token = adapter.parse_token(answer)
        login = adapter.complete_login(request, provider.app, token, response=answer)
    except (OAuth2Error, RequestException, KeyError, ValueError, TypeError) as error:
        raise ProviderError(f"the provider does not answer as it has to: {error!r}") from error
    extra = login.account.extra_data
    claims = {**extra.get("id_token", {}), **extra.get("userinfo", {})}
    if extra.get("userinfo", {}).get("sub") != extra["id_token"]["sub"]:
        raise ProviderError("the provider speaks of two people")
    return login, state, claims


# Pages.

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
        return begin_flow(request, provider_id, process=process, then=safe_next(request), further=further)
    except ProviderError as error:
        return _failed(request, provider, error)


@require_safe
@never_cache
def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Back from the provider."""
    provider = _named(provider_id)
    try:
        login, state, claims = finish_flow(request, provider_id)
    except ProviderError as error:
        return _failed(request, provider, error)
    subject = providers.subject_of(provider, login.account.uid, claims)
    then, process = state.get("next") or "", state.get("process")
    try:
        if process == "login":
            return _sign_in(request, provider, subject, then)
        if not isinstance(request.user, User):
            raise RefusedSignInError(gettext("Your session has ended. Sign in again, then repeat it."))
        if process == "connect":
            providers.connect(provider, subject, request.user)
            messages.success(
                request, gettext("%(name)s is connected: you can sign in with it.") % {"name": provider.name}
            )
            return redirect("accounts:profile")
        if providers.account_for(provider, subject, invited=False) != request.user:
            raise RefusedSignInError(
                gettext("This %(name)s account is not connected to your account here.")
                % {"name": provider.name}
            )
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
    answer: HttpResponse = perform_login(request, user, redirect_url=then or None)
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
            messages.success(request, gettext("The connection is removed."))
        else:
            messages.error(request, gettext("There is no such connection any more."))
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
