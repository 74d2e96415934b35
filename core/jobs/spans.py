"""Spans of traces: a port that does nothing until an opener is installed.

`distillery.traces` installs one where the settings name a collector.
"""

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

# The id of the request that is being worked on: from a page or call into its job and on to a marketplace.
#
# A border takes or makes it (the middleware, the runner of a job, a message of the timer); lines of the log,
# queued jobs and calls of marketplaces carry it on.

#: The header in which it arrives from a proxy, leaves with an answer, and goes along with our own calls.
HEADER = "X-Request-Id"
_VALID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current_request_id() -> str:
    """The id of what is being worked on; empty outside any request."""
    return _current.get()


def accepted_request_id(request_id: str) -> str:
    """The id that a proxy gave, where it is one; else a new one."""
    return request_id if _VALID.fullmatch(request_id) else uuid.uuid4().hex


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


Value = str | int | float | bool
#: Adds something to a span that is open.
Note = Callable[[str, Value], None]
Opener = Callable[[str, Mapping[str, Value]], AbstractContextManager[Note]]


@contextmanager
def _no_span(name: str, attributes: Mapping[str, Value]) -> Iterator[Note]:
    yield lambda name, value: None


_opener: Opener = _no_span


def install(opener: Opener | None) -> None:
    """Open all spans of the process with this from now on; None opens none."""
    global _opener  # noqa: PLW0603  # one port per process
    _opener = opener or _no_span


def is_on() -> bool:
    """Whether spans are collected."""
    return _opener is not _no_span


def open_span(name: str, **attributes: Value) -> AbstractContextManager[Note]:
    """A span with this name around a block, which may add attributes through the `Note` it gets."""
    return _opener(name, attributes)
