"""Spans of traces, for whoever collects them: a port that does nothing until something is installed into it.

`distillery.monitoring.traces` does that where the settings name a collector.
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
    """Have this open all spans of the process from now on; None: nothing does."""
    global _opener  # noqa: PLW0603  # one port per process
    _opener = opener or _no_span


def is_on() -> bool:
    """Whether anybody collects spans."""
    return _opener is not _no_span


def open_span(name: str, **attributes: Value) -> AbstractContextManager[Note]:
    """What is done inside the block, under this name; the block may add attributes with what it gets."""
    return _opener(name, attributes)
