"""Spans of traces: a port that does nothing until an opener is installed.

`distillery.monitoring.traces` installs one where the settings name a collector.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

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
