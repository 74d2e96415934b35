"""Figures that are costly to make, kept until what they were made from has changed.

    counted(PEOPLE, {"project": project.pk}, stamp=moment(), large=any_large(project))

What is small is counted at once, and kept by the process as `figures`. What is large is counted by a job
(`core.jobs.figures`), once for all processes; each keeps what it has read. No caller may change what it gets.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

from core.jobs.figures import (
    KEPT_SECONDS,
    FigureHead,
    FigureKind,
    digest,
    key_of,
    order,
    read_head,
    read_value,
    read_values,
)
from core.jobs.models import JobState
from web.page_figures import MOMENT_SECONDS, BeingCountedError, NotMadeError, figures_on_page


@dataclass(frozen=True, slots=True)
class _Entry:
    until: float
    value: Any
    rows: int


class FigureStore:
    """Values by name, each for a time, of one process.

    They are the objects themselves, because a table of a hundred thousand people is read on every look, and
    Django's cache in memory would pickle it each time.

    At most `most` of them with `most_rows` rows in all, but always the newest; what was not asked for lately
    is removed first. `most_rows` bounds the memory: a row of a table of people takes about 1 kB.
    """

    def __init__(self, most: int = 2_000, most_rows: int = 500_000) -> None:
        self._most, self._most_rows = most, most_rows
        self._values: OrderedDict[str, _Entry] = OrderedDict()
        self._rows = 0
        self._lock = threading.Lock()

    def get(self, key: str) -> Any | None:
        """The value of this name, None where there is none or its time is over."""
        with self._lock:
            return self._get(key)

    def set(self, key: str, value: Any, seconds: float, *, rows: int = 0) -> None:
        """Keep a value of so many rows for so long."""
        with self._lock:
            self._set(key, _Entry(time.monotonic() + seconds, value, rows))

    def add(self, key: str, value: Any, seconds: float) -> bool:
        """Keep a value unless there is one of this name; whether it was kept."""
        with self._lock:
            if self._get(key) is not None:
                return False
            self._set(key, _Entry(time.monotonic() + seconds, value, 0))
            return True

    def delete(self, key: str) -> None:
        """Forget the value of this name."""
        with self._lock:
            self._remove(key)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._values.clear()
            self._rows = 0

    def _get(self, key: str) -> Any | None:
        entry = self._values.get(key)
        if entry is None:
            return None
        if entry.until <= time.monotonic():
            self._remove(key)
            return None
        self._values.move_to_end(key)
        return entry.value

    def _set(self, key: str, entry: _Entry) -> None:
        now = time.monotonic()
        for old in [name for name, each in self._values.items() if each.until <= now]:
            self._remove(old)
        self._remove(key)
        self._values[key] = entry
        self._rows += entry.rows
        while len(self._values) > 1 and (len(self._values) > self._most or self._rows > self._most_rows):
            self._remove(next(iter(self._values)))

    def _remove(self, key: str) -> None:
        entry = self._values.pop(key, None)
        self._rows -= entry.rows if entry else 0


def count_rows(value: Any) -> int:
    """How many rows a figure has: its length where it is a table, else 1."""
    return len(value) if isinstance(value, Sized) and not isinstance(value, str) else 1


T = TypeVar("T")
figures = FigureStore()
#: What takes this long or less is made again whenever something changed.
CHEAP_SECONDS = 0.1
#: What takes longer is made again at most once in so many times as long.
_WORTH = 20
#: A page waits for nothing that is no older than this: it shows the figures from before.
_STILL_GOOD_SECONDS = 600
#: Rows from which a table is large, as PostgreSQL estimates them, and how long an estimate is good.
LARGE_TABLE = 20_000
_ESTIMATE_SECONDS = 600
#: How long what could not be made is not tried again.
_AGAIN_SECONDS = 60
#: How long a page waits for figures of something large at the first look; None: it counts them itself,
#: as long as it takes.
FIRST_WAIT_SECONDS: float | None = 0.5
_LOOK_AGAIN_SECONDS = 0.03
#: A job that no worker has taken up for so long waits for more than its turn: the page says so.
_UNSERVED_SECONDS = 30


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    stamp: object
    value: Any
    made_at: float
    took: float

    @property
    def age(self) -> float:
        return time.time() - self.made_at

    @property
    def is_worth_counting(self) -> bool:
        """It took so little, or is so old, that counting it again pays."""
        return self.took <= CHEAP_SECONDS or self.age >= _WORTH * self.took


def cached(key: str, stamp: object, make: Callable[[], T], *, dated: bool = False) -> T:
    """What `make` gives, from before where the stamp is the same or making it again would not pay yet.

    For what is small: this process makes it, and the caller waits. Equal stamps mean equal figures. While
    people work the stamp changes all the time; then figures that took a second are made again every twenty
    seconds at most, and quick ones at once. The page says how old its figures are, except those that are
    `dated` where they are shown.
    """
    before: _CacheEntry | None = figures.get(key)
    if before is not None:
        if before.stamp == stamp:
            return cast(T, before.value)
        if not before.is_worth_counting and before.age < _STILL_GOOD_SECONDS:
            return cast(T, _from_before(before, dated=dated))
    begun = time.monotonic()
    value = make()
    entry = _CacheEntry(stamp, value, time.time(), time.monotonic() - begun)
    figures.set(key, entry, KEPT_SECONDS, rows=count_rows(value))
    return value


def _from_before(before: _CacheEntry, *, dated: bool = False) -> Any:
    if not dated and (figures_of_page := figures_on_page()) is not None:
        figures_of_page.note(before.made_at)
    return before.value


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure that is asked for: what it is of, and the state and the stamp of now, both as digests."""

    kind: FigureKind[Any]
    arguments: Callable[[], Mapping[str, Any]]
    key: str
    state: str
    stamp: str

    @property
    def name(self) -> str:
        """What this process keeps it under."""
        return f"{self.key}:{self.state}"

    def read(self, head: FigureHead | None) -> _CacheEntry | None:
        """The newest that this process or the table has of this state, of whatever stamp."""
        cached_entry: _CacheEntry | None = figures.get(self.name)
        if head is None or head.counted_at is None or head.seconds is None or head.state != self.state:
            return cached_entry
        made_at = head.counted_at.timestamp()
        if time.time() - made_at >= KEPT_SECONDS or (
            cached_entry is not None and cached_entry.made_at >= made_at
        ):
            return cached_entry
        stored = read_value(head.pk, head.counted)
        if stored is None:
            return cached_entry
        (value,) = stored
        entry = _CacheEntry(head.stamp, value, made_at, head.seconds)
        figures.set(self.name, entry, KEPT_SECONDS - entry.age, rows=count_rows(value))
        return entry

    def order(self, head: FigureHead | None) -> None:
        """Have a job count it, unless one does or just could not."""
        if head is None or not (head.is_ordered or _failure(head)):
            order(self.kind, self.arguments(), key=self.key, state=self.state, stamp=self.stamp)


def counted(
    kind: FigureKind[T],
    arguments: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
    *,
    stamp: object,
    state: object = "",
    large: bool | Callable[[], bool] = True,
    dated: bool = False,
    now: Callable[[], T] | None = None,
    identity: object = None,
) -> T:
    """The figure of these arguments, from before where the stamp is the same or counting would not pay yet.

    Something `large` is counted by a job where a page asks. Where none asks, and what is quick, is counted at
    once, by `now` where the caller has a shorter way. `large` is a function where telling it takes a query.
    `state` is what a person did that they shall see at once: of another state a figure is of no use.
    `identity` tells the figure from others in place of arguments that cost something to make.
    """
    figure = _find_figure(kind, arguments, state, stamp, identity)
    make = now or (lambda: kind.count(**figure.arguments()))
    cached_entry: _CacheEntry | None = figures.get(figure.name)
    if cached_entry is not None and cached_entry.stamp == figure.stamp:
        return cast(T, cached_entry.value)
    at_once = partial(cached, figure.name, figure.stamp, make, dated=dated)
    is_costly = cached_entry is None or cached_entry.took > CHEAP_SECONDS
    if FIRST_WAIT_SECONDS is None or not is_costly or not (large() if callable(large) else large):
        return at_once()
    head = read_head(figure.key)
    before = figure.read(head)
    if before is not None:
        if before.stamp == figure.stamp:
            return cast(T, before.value)
        if before.took > CHEAP_SECONDS and before.age < _STILL_GOOD_SECONDS:
            if before.is_worth_counting:
                figure.order(head)
            return cast(T, _from_before(before, dated=dated))
    # Of another state it is of no use, but tells how long counting takes.
    was_quick = head is not None and head.seconds is not None and head.seconds <= CHEAP_SECONDS
    if was_quick or (page := figures_on_page()) is None:
        return at_once()
    patience = FIRST_WAIT_SECONDS if page.waits else 0.0
    return cast(T, _wait(figure, head, before, patience, dated=dated))


def _wait(
    figure: _Figure, head: FigureHead | None, before: _CacheEntry | None, patience: float, *, dated: bool
) -> Any:
    """The figure, where a worker has it in a moment; else BeingCountedError, or NotMadeError."""
    end = time.monotonic() + patience
    figure.order(head)
    while True:
        head = read_head(figure.key)
        current = figure.read(head)
        if current is not None and current is not before:
            return current.value
        if head is not None and (failure := _failure(head)):
            raise NotMadeError(failure)
        if time.monotonic() >= end:
            break
        time.sleep(_LOOK_AGAIN_SECONDS)
    seconds = max(0.0, time.time() - head.ordered_at.timestamp()) if head else 0.0
    is_unserved = head is not None and head.is_waiting and seconds >= _UNSERVED_SECONDS
    if is_unserved and before is not None:
        return _from_before(before, dated=dated)
    raise BeingCountedError(seconds, is_unserved=is_unserved)


@contextmanager
def order_dependent(
    kind: FigureKind[Any], arguments: Mapping[str, Any], *, state: Callable[[], object]
) -> Iterator[None]:
    """A figure is ordered as well where another one, which its stamp is made of, is unknown in this block."""
    try:
        yield
    except BeingCountedError:
        figure = _find_figure(kind, arguments, state(), "", None)
        head = read_head(figure.key)
        if figure.read(head) is None:
            figure.order(head)
        raise


def _failure(head: FigureHead) -> str:
    """Why it could not be counted a moment ago; empty where that did not happen, or is tried by now."""
    if head.is_ordered:
        return head.error if head.is_waiting else ""
    if head.job_state == JobState.DONE or head.failed_at is None:
        return ""
    if time.time() - head.failed_at.timestamp() >= _AGAIN_SECONDS:
        return ""
    return head.error or "Counting was cancelled"


def _find_figure(
    kind: FigureKind[Any],
    arguments: Mapping[str, Any] | Callable[[], Mapping[str, Any]],
    state: object,
    stamp: object,
    identity: object,
) -> _Figure:
    read_arguments = arguments if callable(arguments) else lambda: arguments
    key = key_of(kind, read_arguments() if identity is None else identity)
    return _Figure(kind, read_arguments, key, digest(state), digest(stamp))


def counted_or_none(
    kind: FigureKind[T], arguments: Mapping[str, Any], *, stamp: object, state: object = ""
) -> T | None:
    """The same of something large, but a page does not wait: None while it is being counted.

    Raises NotMadeError where that failed a moment ago; after a while it is tried again.
    """
    figure = _find_figure(kind, arguments, state, stamp, None)
    cached_entry: _CacheEntry | None = figures.get(figure.name)
    if cached_entry is not None and cached_entry.stamp == figure.stamp:
        return cast(T, cached_entry.value)
    head = read_head(figure.key)
    before = figure.read(head)
    if before is not None and before.stamp == figure.stamp:
        return cast(T, before.value)
    figure.order(head)
    if before is not None and before.age < _STILL_GOOD_SECONDS:
        return cast(T, _from_before(before))
    if head is not None and (failure := _failure(head)):
        raise NotMadeError(failure)
    return None


def counted_before(kind: FigureKind[T], arguments: Sequence[Mapping[str, Any]]) -> list[T | None]:
    """For each of these arguments what was counted before, of whatever moment; in one question at most."""
    names = [_find_figure(kind, each, "", "", None) for each in arguments]
    entries: list[_CacheEntry | None] = [figures.get(each.name) for each in names]
    lacking = [each.key for each, entry in zip(names, entries, strict=True) if entry is None]
    stored = read_values(lacking) if lacking and FIRST_WAIT_SECONDS is not None else {}
    return [
        cast("T | None", entry.value if entry else stored.get(each.key))
        for each, entry in zip(names, entries, strict=True)
    ]


def moment() -> int:
    """A stamp that changes every few seconds, for what is large and changes all the time."""
    return int(time.time() / MOMENT_SECONDS)
