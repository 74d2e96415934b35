"""The figures that a page shows: how old they are, and ordering all of them before it waits for one."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

T = TypeVar("T")
#: Figures of this age are as good as those of now.
MOMENT_SECONDS = 10


@dataclass(slots=True)
class PageFigures:
    """The figures that a page shows; `oldest` is when the oldest of those were made that changed since.

    `waits`: the page waits a moment for a figure that it ordered, before it says that it is being counted.
    """

    oldest: datetime | None = None
    waits: bool = True

    def note(self, made_at: float) -> None:
        """Take notice of figures of this Unix time that are no longer those of now."""
        if time.time() - made_at > MOMENT_SECONDS:
            at = datetime.fromtimestamp(made_at, UTC)
            self.oldest = min(self.oldest or at, at)


_on_page: ContextVar[PageFigures | None] = ContextVar("on_page", default=None)


class NotMadeError(Exception):
    """What a job was to count could not be counted; the log has the whole story."""


class BeingCountedError(Exception):
    """Figures were ordered so many seconds ago and are not known yet; the page says so.

    `is_unserved`: no worker has taken up the job, and that for longer than it takes one that is free.
    """

    def __init__(self, seconds: float, *, is_unserved: bool = False) -> None:
        super().__init__(f"Figures have been counted for {seconds:.0f} s and are not known yet.")
        self.seconds = seconds
        self.is_unserved = is_unserved


@contextmanager
def page_figures() -> Iterator[None]:
    """In this block a person waits; what is large and not known soon raises BeingCountedError."""
    token = _on_page.set(PageFigures())
    try:
        yield
    finally:
        _on_page.reset(token)


def figures_on_page() -> PageFigures | None:
    """What is known of the figures of the page that is being made; None where none is."""
    return _on_page.get()


def oldest_on_page() -> datetime | None:
    """When the oldest figures of this page were made, where newer ones are not known yet."""
    figures_of_page = _on_page.get()
    return figures_of_page.oldest if figures_of_page else None


def read_together(*reads: Callable[[], Any]) -> list[Any]:
    """What each of these gives. A page orders what is unknown of all of them before it waits for the first.

    Where something was unknown, all are asked once more, in their order.
    """
    page = _on_page.get()
    if page is None or not page.waits:
        return _read_all(reads)
    try:
        with _not_waiting(page):
            return _read_all(reads)
    except (BeingCountedError, NotMadeError):
        return _read_all(reads)


@contextmanager
def _not_waiting(page: PageFigures) -> Iterator[None]:
    before, page.waits = page.waits, False
    try:
        yield
    finally:
        page.waits = before


def _read_all(reads: Iterable[Callable[[], Any]]) -> list[Any]:
    """What each gives; the first that is unknown is raised once all were asked."""
    values: list[Any] = []
    unknown: BeingCountedError | NotMadeError | None = None
    for read in reads:
        try:
            values.append(read())
        except (BeingCountedError, NotMadeError) as error:
            unknown = unknown or error
    if unknown is not None:
        raise unknown
    return values
