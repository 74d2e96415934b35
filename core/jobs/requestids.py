"""The id of the request that is being worked on: from a page or call into its job and on to a marketplace.

A border takes or makes it (the middleware, the runner of a job, a message of the timer); lines of the log,
queued jobs and calls of marketplaces carry it on.
"""

import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: The header in which it arrives from a proxy, leaves with an answer, and goes along with our own calls.
HEADER = "X-Request-Id"
_VALID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of what is being worked on; empty outside any request."""
    return _current.get()


def accepted_request_id(given: str) -> str:
    """The id that a proxy gave, where it is one; else a new one."""
    return given if _VALID.fullmatch(given) else uuid.uuid4().hex


def begin_request(request_id: str) -> None:
    """What this thread does from now on belongs to this request."""
    _current.set(request_id)


@contextmanager
def request_id_of(request_id: str) -> Iterator[None]:
    """What is done inside belongs to this request."""
    token = _current.set(request_id)
    try:
        yield
    finally:
        _current.reset(token)
