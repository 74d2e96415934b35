"""A real OpenID provider for tests: authlib's server in a process of its own, over HTTP on this machine.

    python -m tests.oidc_provider PEOPLE.json      # prints its address, serves until it is stopped

`PEOPLE.json` maps names to claims; a person who signs in there picks a name. A claim that begins with `_` is
a fault on purpose: `_nonce`, `_aud`, `_iss` replace what the identity token says; `_key` signs by another
key, `_sub` is what the page of claims says instead.
"""

import json
import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import authlib.integrations.flask_oauth2 as integration
import flask
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from joserfc.jwk import RSAKey
from werkzeug.serving import BaseWSGIServer, make_server

CLIENT, SECRET = "distillery", "a secret of the provider"
_PAGE = "<!doctype html><html lang=en><title>Provider</title><h1>Who are you?</h1><form method=post>{}</form>"


class Client(ClientMixin):
    """The one client, with whatever address of ours."""

    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> str | None:
        return None

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return "/accounts/oidc/" in redirect_uri

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return True

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code(AuthorizationCodeMixin):
    """A code that was handed out and not used yet."""

    code: str
    who: str
    redirect_uri: str
    scope: str
    nonce: str | None
    code_challenge: str | None
    code_challenge_method: str | None

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str | None:
        return self.nonce

    def get_auth_time(self) -> None:
        return None

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


@dataclass
class Provider:
    """What it knows: people, its keys, codes and tokens."""

    people: dict[str, dict[str, Any]]
    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first"}))
    other_key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first"}))
    codes: dict[str, Code] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def claims(self, who: str) -> dict[str, Any]:
        """What is true of somebody."""
        return {name: value for name, value in self.people[who].items() if not name.startswith("_")}


def application(provider: Provider) -> flask.Flask:
    """The provider as a web application."""
    app = flask.Flask("provider")
    app.secret_key = secrets.token_hex(16)

    class CodeGrant(grants.AuthorizationCodeGrant):  # type: ignore[misc]  # it has no types
        def save_authorization_code(self, code: str, request: Any) -> None:
            data = request.payload.data
            provider.codes[code] = Code(
                code, request.user, request.payload.redirect_uri, request.payload.scope, data.get("nonce"),
                data.get("code_challenge"), data.get("code_challenge_method"),
            )  # fmt: skip

        def query_authorization_code(self, code: str, client: Any) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            provider.codes.pop(authorization_code.code, None)

        def authenticate_user(self, authorization_code: Code) -> str:
            return authorization_code.who

    class Identity(OpenIDCode):  # type: ignore[misc]
        def exists_nonce(self, nonce: str, request: Any) -> bool:
            return any(code.nonce == nonce for code in provider.codes.values())

        def get_authorization_code_claims(self, authorization_code: Code) -> dict[str, Any]:
            faults = provider.people[authorization_code.who]
            return {"nonce": faults.get("_nonce", authorization_code.nonce)}

        def get_client_claims(self, client: Client) -> dict[str, Any]:
            return {"iss": provider.issuer, "aud": [CLIENT]}

        def get_encode_header(self, client: Client) -> dict[str, str]:
            return {"alg": "RS256", "kid": "first"}

        def get_client_algorithm(self, client: Client) -> str:
            return "RS256"

        def encode_id_token(self, token: Any, request: Any) -> Any:
            self.who = request.user
            return super().encode_id_token(token, request)

        def resolve_client_private_key(self, client: Client) -> RSAKey:
            return provider.other_key if provider.people[self.who].get("_key") else provider.key

        def generate_user_info(self, user: str, scope: str) -> dict[str, Any]:
            faults = provider.people[user]
            wrong = {name[1:]: faults[name] for name in ("_aud", "_iss") if name in faults}
            return {"sub": provider.claims(user)["sub"], **wrong}

    def save_token(token: dict[str, Any], request: Any) -> None:
        provider.tokens[token["access_token"]] = request.user

    server = integration.AuthorizationServer(app, lambda client_id: Client(), save_token)
    server.register_grant(CodeGrant, [Identity(require_nonce=True), CodeChallenge(required=True)])

    @app.get("/.well-known/openid-configuration")
    def configuration() -> dict[str, Any]:
        return {
            "issuer": provider.issuer,
            "authorization_endpoint": f"{provider.issuer}/authorize",
            "token_endpoint": f"{provider.issuer}/token",
            "userinfo_endpoint": f"{provider.issuer}/userinfo",
            "jwks_uri": f"{provider.issuer}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
        }

    @app.route("/authorize", methods=["GET", "POST"])
    def authorize() -> Any:
        if flask.request.method == "GET":
            buttons = "".join(f'<button name="who" value="{who}">{who}</button>' for who in provider.people)
            return _PAGE.format(buttons)
        who = flask.request.form["who"]
        grant = server.get_consent_grant(end_user=who)
        return server.create_authorization_response(grant=grant, grant_user=who)

    @app.post("/token")
    def token() -> Any:
        return server.create_token_response()

    @app.get("/userinfo")
    def userinfo() -> Any:
        who = provider.tokens.get(flask.request.headers.get("Authorization", "").removeprefix("Bearer "))
        if who is None:
            return {"error": "invalid_token"}, 401
        claims = provider.claims(who)
        return claims | {"sub": provider.people[who].get("_sub", claims["sub"])}

    @app.get("/jwks")
    def jwks() -> dict[str, Any]:
        return {"keys": [provider.key.as_dict(private=False, use="sig", alg="RS256")]}

    return app


def _serve(provider: Provider) -> BaseWSGIServer:
    server = make_server("127.0.0.1", 0, application(provider), threaded=True)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    return server


@contextmanager
def running(people: dict[str, dict[str, Any]]) -> Iterator[Provider]:
    """The provider in a thread of this process, for tests that look at refusals."""
    provider = Provider(people)
    server = _serve(provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield provider
    server.shutdown()
    server.server_close()


def table(provider_id: str, issuer: str, further: str = "") -> str:
    """The provider as the settings file names it."""
    return (
        f'[[provider]]\nid = "{provider_id}"\nname = "{provider_id.title()}"\nserver = "{issuer}"\n'
        f'client_id = "{CLIENT}"\nclient_secret = "{SECRET}"\n{further}\n'
    )


def answer_as(who: str, asked: str) -> str:
    """Sign in at the provider without a browser: where it leads the browser then."""
    import httpx  # of the tests alone

    answer = httpx.post(asked, data={"who": who}, follow_redirects=False)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["Location"])


def with_query(address: str, **changes: str) -> str:
    """The same address with other values in its query."""
    base, _, query = address.partition("?")
    values = dict(pair.split("=", 1) for pair in query.split("&"))
    return (
        f"{base}?{'&'.join(f'{k}={v}' for k, v in values.items() if k not in changes)}&{urlencode(changes)}"
    )


if __name__ == "__main__":
    serving = _serve(known := Provider(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    sys.stdout.write(f"{known.issuer}\n")
    sys.stdout.flush()
    serving.serve_forever()
