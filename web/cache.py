"""Figures that are costly to make, kept until what they were made from has changed.

They are kept by each process of the server for itself, as `figures`. No caller may change what it gets.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import connection, connections
from django.db.models import Model


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
logger = logging.getLogger(__name__)
figures = FigureStore()
_KEPT_SECONDS = 3600
#: What takes this long or less is made again whenever something changed.
CHEAP_SECONDS = 0.1
#: What takes longer is made again at most once in so many times as long.
_WORTH = 20
#: A page waits for nothing that is no older than this: it shows the figures from before.
_STILL_GOOD_SECONDS = 600
#: Rows from which a table is large, as PostgreSQL estimates them, and how long an estimate is good.
LARGE_TABLE = 100_000
_ESTIMATE_SECONDS = 600
_MOMENT_SECONDS = 10
#: How long what could not be made is not tried again.
_AGAIN_SECONDS = 60
#: How long a statement may run while no one waits for it; a page's own may run for a minute.
_LONGEST_SECONDS = 1_800
#: How long a page waits for figures of something large at the first look; None: as long as it
#: takes.
FIRST_WAIT_SECONDS: float | None = 0.25
_LOOK_AGAIN_SECONDS = 0.01
#: One thing after the other is made again: a process has pages to answer besides.
_turn = threading.Lock()


@dataclass(slots=True)
class PageFigures:
    """The figures that a page shows; `oldest` is when the oldest of those were made that changed since."""

    oldest: datetime | None = None

    def note(self, made_at: float) -> None:
        """Take notice of figures of this Unix time that are no longer those of now."""
        if time.time() - made_at > _MOMENT_SECONDS:
            at = datetime.fromtimestamp(made_at, UTC)
            self.oldest = min(self.oldest or at, at)


_on_page: ContextVar[PageFigures | None] = ContextVar("on_page", default=None)


class NotMadeError(Exception):
    """What was to be made aside could not be; the log has the whole story."""


class BeingCountedError(Exception):
    """Figures are being counted in a thread, for so many seconds until now; the page says so."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"Figures have been counted for {seconds:.0f} s and are not known yet.")
        self.seconds = seconds


@contextmanager
def page_figures() -> Iterator[None]:
    """In this block a person waits; what is large and not known soon raises BeingCountedError."""
    token = _on_page.set(PageFigures())
    try:
        yield
    finally:
        _on_page.reset(token)


def oldest_on_page() -> datetime | None:
    """When the oldest figures of this page were made, where newer ones are not known yet."""
    figures_of_page = _on_page.get()
    return figures_of_page.oldest if figures_of_page else None


@dataclass(frozen=True, slots=True)
class _CacheEntry:
    stamp: object
    value: Any
    made_at: float
    took: float


def cached(
    key: str,
    stamp: object,
    make: Callable[[], T],
    *,
    large: bool | Callable[[], bool] = False,
    dated: bool = False,
) -> T:
    """What `make` gives, from before where the stamp is the same or making it again would not pay yet.

    Equal stamps mean equal figures. While people work the stamp changes all the time; then figures that took
    a second are made again every twenty seconds at most, in the background, and quick ones at
    once. Figures of something `large` that are not known are made aside, too, where a page asks for them;
    where telling that takes a query, `large` is a function, which is asked only then. The page says how old
    its figures are, except those that are `dated` where they are shown.
    """
    before: _CacheEntry | None = figures.get(key)
    if before is not None:
        if before.stamp == stamp:
            return cast(T, before.value)
        age = time.time() - before.made_at
        if before.took > CHEAP_SECONDS and age < _STILL_GOOD_SECONDS:
            if age >= _WORTH * before.took:
                _make_aside(key, stamp, make)
            if not dated:
                _note_age(before)
            return cast(T, before.value)
    costly = before is None or before.took > CHEAP_SECONDS
    if costly and FIRST_WAIT_SECONDS is not None and _on_page.get() is not None:
        is_so = large() if callable(large) else large
        if is_so:
            return _made_soon(key, stamp, make, FIRST_WAIT_SECONDS)
    return _compute(key, stamp, make)


def _note_age(before: _CacheEntry) -> None:
    if (figures_of_page := _on_page.get()) is not None:
        figures_of_page.note(before.made_at)


def _made_soon(key: str, stamp: object, make: Callable[[], T], patience: float) -> T:
    """The figures, where a thread has them in a moment; else BeingCountedError, or NotMadeError."""
    begun = time.time()
    error = figures.get(f"{key}:error")
    if error is not None:
        raise NotMadeError(error)
    _make_aside(key, stamp, make)
    while True:
        made: _CacheEntry | None = figures.get(key)
        if made is not None and made.made_at >= begun:
            return cast(T, made.value)
        if time.time() - begun >= patience:
            raise BeingCountedError(time.time() - (figures.get(f"{key}:aside") or begun))
        time.sleep(_LOOK_AGAIN_SECONDS)


def cached_rows(model: type[Model], key: str, make: Callable[[], T]) -> T:
    """What `make` asks of a table: of a large one, some seconds old where asking takes long."""
    return table_figures((model,), key, make, dated=True)


def table_figures(
    models: Sequence[type[Model]], key: str, make: Callable[[], T], *, dated: bool = False
) -> T:
    """What `make` gives of these tables: of now where all are small, cached where one of them is large."""
    if not any(map(_is_large_table, models)):
        return make()
    return cached(key, time.time(), make, large=True, dated=dated)


def table_figures_or_none(model: type[Model], key: str, make: Callable[[], T], *, stamp: object) -> T | None:
    """The same, but of a large table no page waits: None while it is counted, or where that failed."""
    if not _is_large_table(model):
        return make()
    try:
        return cached_or_none(key, stamp, make)
    except NotMadeError:
        return None


def cached_of_table(model: type[Model], key: str, stamp: object, make: Callable[[], T]) -> T:
    """What `make` gives, cached also of a small table, whose first figures a page waits for."""
    return cached(key, stamp, make, large=lambda: _is_large_table(model))


def _is_large_table(model: type[Model]) -> bool:
    """Whether the table of a model has so many rows, as PostgreSQL estimates."""
    rows: dict[str, int] | None = figures.get("rows-estimated")
    if rows is None:
        rows = _estimate_rows()
        figures.set("rows-estimated", rows, _ESTIMATE_SECONDS)
    return rows.get(model._meta.db_table, 0) >= LARGE_TABLE


def _estimate_rows() -> dict[str, int]:
    """Rows of each table, by PostgreSQL's own statistics; other databases hold nothing so large."""
    if connection.vendor != "postgresql":
        return {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname, reltuples::bigint FROM pg_class WHERE relkind = 'r'")
        return dict(cursor.fetchall())


def cached_or_none(key: str, stamp: object, make: Callable[[], T]) -> T | None:
    """The same, but a page does not wait for the first one either: None while it is being made.

    Raises NotMadeError where that failed a moment ago; after `_AGAIN_SECONDS` it is tried again.
    """
    before: _CacheEntry | None = figures.get(key)
    if before is not None and before.stamp == stamp:
        return cast(T, before.value)
    error = figures.get(f"{key}:error")
    _make_aside(key, stamp, make)
    if before is not None and time.time() - before.made_at < _STILL_GOOD_SECONDS:
        _note_age(before)
        return cast(T, before.value)
    if error is not None:
        raise NotMadeError(error)
    return None


def cached_before(key: str) -> Any | None:
    """What was made before under this key, of whatever moment; None where nothing was."""
    before: _CacheEntry | None = figures.get(key)
    return before.value if before else None


def _compute(key: str, stamp: object, make: Callable[[], T]) -> T:
    begun = time.monotonic()
    value = make()
    found = _CacheEntry(stamp, value, time.time(), time.monotonic() - begun)
    figures.set(key, found, _KEPT_SECONDS, rows=count_rows(value))
    return value


def _make_aside(key: str, stamp: object, make: Callable[[], Any]) -> None:
    """Make it again in a thread of this process, unless one is at it or just failed."""
    if figures.get(f"{key}:error") is None and figures.add(f"{key}:aside", time.time(), _LONGEST_SECONDS):
        threading.Thread(target=_aside, args=(key, stamp, make), daemon=True).start()


def _aside(key: str, stamp: object, make: Callable[[], Any]) -> None:
    try:
        with _turn:
            _lift_limit()
            _compute(key, stamp, make)
    except Exception as error:  # the border of the thread: the next look at the page says that it failed
        logger.exception("Figures %s", key)
        figures.set(f"{key}:error", f"{type(error).__name__}: {error}"[:300], _AGAIN_SECONDS)
    finally:
        connections.close_all()
        figures.delete(f"{key}:aside")


def _lift_limit() -> None:
    """Let this thread's statements run for longer than a page's; behind a pooler the role's limit holds."""
    if connection.vendor == "postgresql" and not settings.DATABASE_DIRECT_URL:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('statement_timeout', %s, false)", [f"{_LONGEST_SECONDS}s"])


def moment() -> int:
    """A stamp that changes every few seconds, for what is large and changes all the time."""
    return int(time.time() / _MOMENT_SECONDS)
