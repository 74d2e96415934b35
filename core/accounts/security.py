"""Security events, one line of JSON each, in the logger `distillery.security`.

    {"at": "2026-11-22T17:04:11Z", "event": "key.made", "actor": "olga", "address": "192.0.2.7", …}

For whoever watches an installation with a program: every line has `at`, `event`, `actor` and `address`, and
the `request_id` that the settings' formatter adds.
"""

import ipaddress
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import Signal
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from core.origin import Via, arriving_by

# Where a request comes from.

#: Characters of the longest IPv6 address in text.
_LONGEST_ADDRESS = 45


def client_address(request: HttpRequest) -> str:
    """The address of the person's machine; see `address_of`."""
    return address_of(request.META)


def address_of(environ: Mapping[str, Any]) -> str:
    """The client's address: behind a TLS proxy the one that the proxy itself wrote down.

    Of several in X-Forwarded-For the right-most is the proxy's; a client can send anything before it. What is
    no address there is not believed.
    """
    direct = str(environ.get("REMOTE_ADDR", ""))[:_LONGEST_ADDRESS]
    if settings.SECURE_PROXY_SSL_HEADER is None:  # no BEHIND_TLS_PROXY
        return direct
    last = str(environ.get("HTTP_X_FORWARDED_FOR", "")).rpartition(",")[2].strip()
    try:
        return str(ipaddress.ip_address(last))
    except ValueError:
        return direct


def neighbourhood(address: str) -> str:
    """What one person can have of addresses: a single IPv4 address, or 64 bits of an IPv6 one."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is None:
        return str(ipaddress.ip_network((ip, 64), strict=False))
    return str(ip)


# Who does what is being done now: a person at a page, a script with its access key, or the system itself.
#
# The borders say so once (the middleware for pages, the protocol's endpoint for calls), and what is written
# down of a decision reads it here; no service has to hand it on.


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, an access key or both, and the address they come from; the system has none of them.

    `access_key` names what they showed: the key of a requester, or a token of the API. Never its secret.
    """

    user: User | None = None
    access_key: str = ""
    address: str = ""

    @property
    def name(self) -> str:
        """The person's name, or the key."""
        return self.user.get_username() if self.user else self.access_key


SYSTEM = Actor()
_actor: ContextVar[Callable[[], Actor]] = ContextVar("actor", default=lambda: SYSTEM)


def actor() -> Actor:
    """Who acts now."""
    return _actor.get()()


@contextmanager
def acting_as(find_actor: Callable[[], Actor], *, via: Via | None = None) -> Iterator[None]:
    """What is done inside is done by this actor, who is looked up when it is asked for, and came this way."""
    token = _actor.set(find_actor)
    try:
        with nullcontext() if via is None else arriving_by(via):
            yield
    finally:
        _actor.reset(token)


class ActingMiddleware:
    """Pages: the signed-in person, from this address. Comes behind Django's own authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request as its person."""

        def find_actor() -> Actor:
            user = request.user if isinstance(request.user, User) else None
            return Actor(user=user, address=address_of(request.META))

        with acting_as(find_actor, via=Via.PAGE):
            return self.get_response(request)


#: A person chose another password, or signed out everywhere: what acts in their name ends. Argument: user.
credentials_ended = Signal()

logger = logging.getLogger("distillery.security")
_LONGEST = 200


def log(event: str, **about: object) -> None:
    """Write an event down, with who acts and from where unless `about` says so."""
    now = actor()
    line: dict[str, Any] = {
        "at": f"{timezone.now():%Y-%m-%dT%H:%M:%SZ}",
        "event": event,
        "actor": now.name,
        "address": now.address,
    }
    line |= {name: str(value)[:_LONGEST] for name, value in about.items()}
    logger.info(json.dumps(line, ensure_ascii=True), extra={"event": line})


def connect() -> None:
    """Write down who signs in and out, and who fails to."""
    user_login_failed.connect(_failed, dispatch_uid="accounts.security.failed")
    user_logged_in.connect(_in, dispatch_uid="accounts.security.in")
    user_logged_out.connect(_out, dispatch_uid="accounts.security.out")


def _failed(credentials: Mapping[str, Any], request: Any = None, **_: Any) -> None:
    address = address_of(request.META) if request is not None else ""
    log("signin.failed", actor=credentials.get("username", ""), address=address)


def _in(user: Any, request: Any = None, **_: Any) -> None:
    address = address_of(request.META) if request is not None else ""
    log("signin.done", actor=user.get_username(), address=address)


def _out(user: Any, **_: Any) -> None:
    log("signout.done", actor=user.get_username() if user else "")
