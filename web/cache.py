"""Figures of pages that take long to count: kept for a while, and the page says how old they are.

    cached(("people", project.pk), partial(count_people, project))

What is counted quickly is counted at each look. What took longer is kept by Django's cache, twenty times as
long as it took and ten minutes at most; under an unchanged stamp for an hour. No figure depends on who asks;
what a person did and shall see at once is a part of its key.
"""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from django.core.cache import cache

T = TypeVar("T")
#: What takes this long or less is counted again whenever it is asked for.
CHEAP_SECONDS = 0.1
#: What takes longer is counted again after so many times as long, but after this time in any case.
_TIMES_AS_LONG, _LONGEST_SECONDS = 20, 600
#: How long a figure is good whose stamp has not changed.
_KEPT_SECONDS = 3600
#: Figures of this age are as good as those of now.
MOMENT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class _CachedFigure:
    value: Any
    stamp: object
    made_at: float
    took: float

    def is_good(self, stamp: object) -> bool:
        """Nothing has changed, or counting it again would not pay yet."""
        return (stamp is not None and stamp == self.stamp) or self.is_recent

    @property
    def is_recent(self) -> bool:
        age = time.time() - self.made_at
        return self.took > CHEAP_SECONDS and age < min(_TIMES_AS_LONG * self.took, _LONGEST_SECONDS)


def cached(
    key: tuple[object, ...], count: Callable[[], T], *, stamp: object = None, dated: bool = False
) -> T:
    """A kept figure where its `stamp` is the same or counting again would not pay yet; else a new one.

    Equal stamps mean equal figures; None means that nothing tells whether it has changed. The page says how
    old its figures are, except those that are `dated` where they are shown.
    """
    name = _name_of(key)
    figure: _CachedFigure | None = cache.get(name)
    if figure is not None and figure.is_good(stamp):
        if stamp is None or stamp != figure.stamp:
            _date_page(figure, dated=dated)
        return cast(T, figure.value)
    begun, at = time.monotonic(), time.time()
    value = count()
    figure = _CachedFigure(value, stamp, at, time.monotonic() - begun)
    if stamp is not None or figure.took > CHEAP_SECONDS:
        cache.set(name, figure, _KEPT_SECONDS if stamp is not None else _LONGEST_SECONDS)
    return value


def cached_before(key: tuple[object, ...]) -> Any | None:
    """The figure of this key that is cached, of whatever moment; None where none is."""
    figure: _CachedFigure | None = cache.get(_name_of(key))
    return figure.value if figure is not None else None


def _name_of(key: tuple[object, ...]) -> str:
    """What Django's caches take: short, and without spaces."""
    return f"figure:{hashlib.sha256(repr(key).encode()).hexdigest()}"


@dataclass(slots=True)
class _PageFigures:
    """When the oldest figures of a page were counted; None where all are of now."""

    oldest: datetime | None = None


_on_page: ContextVar[_PageFigures | None] = ContextVar("on_page", default=None)


@contextmanager
def page_figures() -> Iterator[None]:
    """Figures that are read in this block are those of one page, or of one file."""
    token = _on_page.set(_PageFigures())
    try:
        yield
    finally:
        _on_page.reset(token)


def oldest_on_page() -> datetime | None:
    """When the oldest figures of this page were counted; None where all are of now."""
    page = _on_page.get()
    return page.oldest if page else None


def _date_page(figure: _CachedFigure, *, dated: bool) -> None:
    page = _on_page.get()
    if page is not None and not dated and time.time() - figure.made_at > MOMENT_SECONDS:
        counted_at = datetime.fromtimestamp(figure.made_at, UTC)
        page.oldest = min(page.oldest or counted_at, counted_at)
