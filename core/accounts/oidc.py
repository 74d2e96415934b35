"""The protocol of OpenID Connect, by django-allauth, with what this installation asks beyond it.

A sign-in has a state that is kept in the session and used once, a verifier of the code (PKCE) and a nonce.
The identity token is always checked against the keys of the provider: signature by an asymmetric algorithm,
issuer, audience, time, nonce; and what the provider says of the person must be of the same subject.
"""

import secrets
from typing import Any

import jwt
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import statekit
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.http import HttpRequest, HttpResponseBase
from django.utils.crypto import constant_time_compare
from django.utils.http import urlsafe_base64_encode
from requests import RequestException

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
        named, asked = str(config.get("issuer", "")), self.get_provider().app.settings["server_url"]
        if named.rstrip("/") != asked.rstrip("/"):
            raise ProviderError(f"{asked} calls itself {named}")
        return config

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
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


def begin(
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


def finish(request: HttpRequest, provider_id: str) -> tuple[SocialLogin, dict[str, Any], dict[str, Any]]:
    """Who came back from the provider, the state of their sign-in, and all that the provider says of them."""
    register()
    adapter = Adapter(request, provider_id)
    provider = adapter.get_provider()
    # As the library keeps it: in the session, for ten minutes, and used up by this.
    state = statekit.unstash_state(
        request, provider_id=provider.sub_id, state_id=request.GET.get("state", "")
    )
    if state is None:
        raise ProviderError("there is no such sign-in in this browser")
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
    said = login.account.extra_data
    claims = {**said.get("id_token", {}), **said.get("userinfo", {})}
    if said.get("userinfo", {}).get("sub") != said["id_token"]["sub"]:
        raise ProviderError("the provider speaks of two people")
    return login, state, claims
