"""Whose something is, and by which way it is done: at a page, through the API, in a job, by a command.

The borders say so once, and what is written down of an event reads it here:

    with arriving_by(Via.API):
        ...

Where no border spoke, it is a command: web server and worker always do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.db.models import TextChoices


class Via(TextChoices):
    """Ways in. Rows from before they were noted have none."""

    PAGE = "page", "a page"
    API = "api", "the API"
    CALL = "call", "a call of the marketplace's protocol"
    JOB = "job", "a background job"
    TIMER = "timer", "the timer"
    COMMAND = "command", "a command"


_via: ContextVar[Via] = ContextVar("via", default=Via.COMMAND)


def current_via() -> Via:
    """By which way what is being done now came."""
    return _via.get()


def begin_arrival(via: Via) -> None:
    """What this thread does from now on came this way."""
    _via.set(via)


@contextmanager
def arriving_by(via: Via) -> Iterator[None]:
    """What is done inside came this way."""
    token = _via.set(via)
    try:
        yield
    finally:
        _via.reset(token)


@dataclass(frozen=True, slots=True)
class Owner:
    """A project, or a requester of the marketplace, for what both have: webhooks and an audit log."""

    class Kind(TextChoices):
        """Whose."""

        PROJECT = "project"
        REQUESTER = "requester"

    kind: str
    pk: int
