"""Services of others that settings name: sign-in providers, the mail server, the account that pays people.

All of it is read and checked before anything starts; what cannot be used stops the start.
"""

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

from core import money

# Providers by which people sign in (OpenID Connect), from a file; `docs/sign-in.md` has all its keys.
#
#     [[provider]]
#     id = "university"
#     name = "University"
#     server = "https://sso.example.org/realms/lab"
#     client_id = "distillery"
#     client_secret_env = "UNIVERSITY_SECRET"

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


# The mail server, from one address or from single settings.

#: Schemes of `EMAIL_URL`: how the connection is encrypted, and the usual port (RFC 5321, 6409, 8314).
_SCHEMES = {"smtp": ("none", 25), "smtp+starttls": ("starttls", 587), "smtps": ("implicit", 465)}
_PORTS = dict(_SCHEMES.values())


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where e-mail is handed over, as whom, and from which address it comes."""

    host: str
    port: int
    user: str
    password: str
    #: "starttls", "implicit" or "none".
    tls: str
    sender: str


def read_mail_server(
    *, url: str, host: str, port: int, user: str, password: str, tls: str, sender: str
) -> MailServer | None:
    """The mail server, or None where no setting names one; half a setting stops the start."""
    if not url and not host:
        return None
    if url and host:
        raise ImproperlyConfigured("Both EMAIL_URL and EMAIL_HOST are set; keep one of them.")
    if not sender:
        raise ImproperlyConfigured(
            "A mail server is set, but not DEFAULT_FROM_EMAIL, the address that e-mails come from."
        )
    if not url:
        return MailServer(host, port or _PORTS[tls], user, password, tls, sender)
    parts = urlsplit(url)
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ImproperlyConfigured(
            "EMAIL_URL must look like smtp+starttls://user:password@mail.example.org:587; "
            f"it begins with one of {', '.join(f'{scheme}://' for scheme in _SCHEMES)}."
        )
    how, usual = _SCHEMES[parts.scheme]
    try:
        stated_port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured("EMAIL_URL has a port that is no number.") from error
    return MailServer(
        parts.hostname,
        stated_port or usual,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
        how,
        sender,
    )


# Paying people.

#: Ways to pay, as `marketplace.models.PayMethod` has them.
PAY_METHODS = ("paypal", "wise", "wise_iban", "wise_us", "sepa", "tremendous", "bank", "none")


class PayoutSender(NamedTuple):
    """Whose account pays by SEPA."""

    name: str
    iban: str
    bic: str


def payout_methods(names: list[str]) -> tuple[str, ...]:
    """The ways that people may choose."""
    for word in names:
        if word not in PAY_METHODS:
            raise ImproperlyConfigured(f"PAYOUT_METHODS: {word!r} is not one of {', '.join(PAY_METHODS)}.")
    return tuple(each for each in PAY_METHODS if each in names)


def payout_minimums(entries: list[str]) -> dict[str, int]:
    """Cents below which a sum waits for the next file, by way."""
    minimums = {}
    for word in entries:
        method, _, amount = word.partition("=")
        if method not in PAY_METHODS:
            raise ImproperlyConfigured(f"PAYOUT_MINIMUMS: {method!r} is not one of {', '.join(PAY_METHODS)}.")
        minimums[method] = _cents("PAYOUT_MINIMUMS", amount)
    return minimums


def payout_sender(*, name: str, iban: str, bic: str) -> PayoutSender:
    """The account that pays; all of it empty where there is none."""
    if not name and not iban and not bic:
        return PayoutSender("", "", "")
    if not name or not iban:
        raise ImproperlyConfigured("PAYOUT_SENDER_NAME and PAYOUT_SENDER_IBAN are set together, or neither.")
    try:
        money.banks_letters(name)
        return PayoutSender(name.strip()[:70], money.iban(iban, sepa=True), money.bic(bic) if bic else "")
    except ValueError as error:
        raise ImproperlyConfigured(f"PAYOUT_SENDER_NAME, _IBAN, _BIC: {error}") from error


def yearly_thresholds(*, warn: str, hold: str) -> tuple[int, int]:
    """Cents a year from which is warned, and over which is held; 0 is never."""
    thresholds = _cents("PAYOUT_YEARLY_WARN", warn or "0"), _cents("PAYOUT_YEARLY_HOLD", hold or "0")
    if thresholds[1] and thresholds[0] > thresholds[1]:
        raise ImproperlyConfigured(
            "PAYOUT_YEARLY_WARN is above PAYOUT_YEARLY_HOLD; warn earlier, or not at all."
        )
    return thresholds


def _cents(name: str, amount: str) -> int:
    try:
        return money.cents(amount.strip())
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error} Write one such as 600.00.") from error
