"""Providers by which people sign in (OpenID Connect), from a file; `docs/sign-in.md` has all its keys.

    [[provider]]
    id = "university"
    name = "University"
    server = "https://sso.example.org/realms/lab"
    client_id = "distillery"
    client_secret_env = "UNIVERSITY_SECRET"

All of it is read and checked before anything starts; what cannot be used stops the start.
"""

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

#: What a preset says of a provider; the file may say otherwise.
PRESETS: dict[str, dict[str, Any]] = {
    "oidc": {},
    "google": {"name": "Google", "server": "https://accounts.google.com"},
    "orcid": {"name": "ORCID", "server": "https://orcid.org", "scopes": ["openid"]},
}
_KINDS = {"project": {"owner", "manager", "viewer"},
          "requester": {"owner", "manager", "reviewer", "payer", "viewer"}}  # fmt: skip
_ROLE_KEYS = {"group", "staff", "role", *_KINDS}
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True, slots=True)
class GroupRole:
    """What somebody in a group of the provider's gets: the rights of staff, or a role somewhere."""

    group: str
    kind: str
    target: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class SignInProvider:
    """One provider."""

    id: str
    name: str
    server: str
    client_id: str
    client_secret: str
    scopes: tuple[str, ...]
    groups_claim: str
    sign_up: bool
    link_by_email: bool
    roles: tuple[GroupRole, ...]


def sign_in_providers(path: str) -> tuple[SignInProvider, ...]:
    """The providers of a file, in its order; none without a file."""
    if not path:
        return ()
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ImproperlyConfigured(f"SIGN_IN_PROVIDERS={path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"SIGN_IN_PROVIDERS={path} is no TOML: {error}.") from error
    if set(content) - {"provider"} or not isinstance(content.get("provider", []), list):
        raise ImproperlyConfigured(f"{path}: it has tables [[provider]] and nothing else.")
    providers = tuple(
        _Reader(f"{path}, provider {number}", table).provider()
        for number, table in enumerate(content.get("provider", []), 1)
    )
    ids = [each.id for each in providers]
    if len(set(ids)) < len(ids):
        raise ImproperlyConfigured(f"{path}: each id is there once; these are {', '.join(ids)}.")
    return providers


def sign_in_library_settings(providers: tuple[SignInProvider, ...]) -> dict[str, Any]:
    """The same as django-allauth wants it."""
    return {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": each.id,
                    "name": each.name,
                    "client_id": each.client_id,
                    "secret": each.client_secret,
                    "settings": {"server_url": each.server, "scope": list(each.scopes)},
                }
                for each in providers
            ],
        }
    }


class _Reader:
    """Takes the values out of one table; what is wrong is told with its place."""

    def __init__(self, place: str, table: dict[str, Any]) -> None:
        self.place = place
        preset = table.get("preset", "oidc")
        if preset not in PRESETS:
            raise self._wrong("preset", f"{preset!r} is not one of {', '.join(PRESETS)}")
        self.left = {**PRESETS[preset], **table}
        self.left.pop("preset", None)

    def provider(self) -> SignInProvider:
        """All of it."""
        roles = self._take("role", list, [])
        provider = SignInProvider(
            id=self._id(),
            name=self._text("name")[:40],
            server=self._server(),
            client_id=self._text("client_id"),
            client_secret=self._secret(),
            scopes=tuple(self._text_list("scopes", ["openid", "profile", "email"])),
            groups_claim=self._text("groups_claim", "groups"),
            sign_up=self._take("sign_up", bool, False),
            link_by_email=self._take("link_by_email", bool, False),
            roles=tuple(self._role(number, table) for number, table in enumerate(roles, 1)),
        )
        if self.left:
            raise self._wrong(sorted(self.left)[0], "there is no such setting of a provider")
        if "openid" not in provider.scopes:
            raise self._wrong("scopes", '"openid" is missing')
        return provider

    def _id(self) -> str:
        value = self._text("id")
        if not re.fullmatch(r"[a-z][a-z0-9-]{0,39}", value):
            raise self._wrong("id", f"{value!r} is not made of small letters, digits and hyphens")
        return value

    def _server(self) -> str:
        value = self._text("server").rstrip("/").removesuffix("/.well-known/openid-configuration")
        parts = urlsplit(value)
        if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
            return value
        raise self._wrong("server", "it is an https address (http only on this machine)")

    def _secret(self) -> str:
        name = self._text("client_secret_env", "")
        path = self._text("client_secret_file", "")
        value = self._text("client_secret", "")
        if sum(map(bool, (name, path, value))) > 1:
            raise self._wrong("client_secret", "give it once: as it is, by _env, or by _file")
        if name and not (value := os.environ.get(name, "")):
            raise self._wrong("client_secret_env", f"the environment has no {name}")
        if path:
            try:
                value = Path(path).read_text(encoding="utf-8").strip()
            except OSError as error:
                raise self._wrong("client_secret_file", f"it cannot be read: {error.strerror}") from error
        return value

    def _role(self, number: int, table: Any) -> GroupRole:
        key = f"role {number}"
        if not isinstance(table, dict) or set(table) - _ROLE_KEYS or not isinstance(table.get("group"), str):
            raise self._wrong(key, f"it has group and some of {', '.join(sorted(_ROLE_KEYS - {'group'}))}")
        kinds = [kind for kind in _KINDS if kind in table]
        if table.get("staff") is True and not kinds and "role" not in table:
            return GroupRole(table["group"], "staff")
        if len(kinds) != 1 or "staff" in table:
            raise self._wrong(key, "it says staff = true, or one project or requester with a role")
        kind = kinds[0]
        if table.get("role") not in _KINDS[kind] or not isinstance(table[kind], str):
            raise self._wrong(key, f"the role of a {kind} is one of {', '.join(sorted(_KINDS[kind]))}")
        return GroupRole(table["group"], kind, table[kind], table["role"])

    def _text(self, key: str, default: str | None = None) -> str:
        value: str = self._take(key, str, default)
        if default is None and not value.strip():
            raise self._wrong(key, "it is missing")
        return value.strip()

    def _text_list(self, key: str, default: list[str]) -> list[str]:
        value: list[str] = self._take(key, list, default)
        if not all(isinstance(each, str) for each in value):
            raise self._wrong(key, "it is a list of words")
        return value

    def _take(self, key: str, kind: type, default: Any) -> Any:
        value = self.left.pop(key, "" if default is None else default)
        if not isinstance(value, kind):
            raise self._wrong(key, f"it is no {kind.__name__}")
        return value

    def _wrong(self, key: str, why: str) -> ImproperlyConfigured:
        return ImproperlyConfigured(f"{self.place}, {key}: {why}.")
