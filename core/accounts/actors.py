"""Who does what is being done now: a person at a page, a script with its access key, or the system itself.

The borders say so once (the middleware for pages, the protocol's endpoint for calls), and what is written
down of a decision reads it here; no service has to hand it on.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponseBase

from core.accounts.addresses import address_of


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, or an access key, and the address they come from; the system has none of them."""

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
def acting_as(found: Callable[[], Actor]) -> Iterator[None]:
    """What is done inside is done by this actor, who is looked up when somebody asks."""
    token = _actor.set(found)
    try:
        yield
    finally:
        _actor.reset(token)


class ActingMiddleware:
    """Pages: the signed-in person, from this address. Comes behind Django's own authentication."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request as its person."""

        def found() -> Actor:
            user = request.user if isinstance(request.user, User) else None
            return Actor(user=user, address=address_of(request.META))

        with acting_as(found):
            return self.get_response(request)
