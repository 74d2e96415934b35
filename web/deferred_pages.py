"""Rows of a long table, of which one page is shown: only its rows are read whole.

A database that is asked for the rows 99,976 to 100,000 makes all the rows before them as well, with all that
stands in them. Here it is asked for the keys of the page alone, from whichever end is nearer, and then for
those rows.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable
from django.utils import timezone

T = TypeVar("T")


class Keep(Protocol):
    """Asks a model's table by `make`, or gives what it said under this name a while ago."""

    def __call__(self, model: type[Model], key: str, make: Callable[[], T], /) -> T:
        """What the table says."""


def ask(_model: type[Model], _key: str, make: Callable[[], T]) -> T:
    """Ask each time."""
    return make()


def late(rows: QuerySet[Any] | Sequence[Any], keep: Keep = ask) -> Any:
    """Rows for a Paginator; those that are whole rows of a model are read late, as `LateRows`."""
    if isinstance(rows, QuerySet) and rows._iterable_class is ModelIterable:
        query = rows.query
        return rows if query.is_sliced or query.combinator or query.distinct else LateRows(rows, keep)
    if isinstance(rows, QuerySet) and keep is not ask:
        return KeptRows(rows, keep)
    return rows


#: Keys that are asked for at once where they may be kept: so many pages cost one question.
_BLOCK = 100
#: An answer of this age needs no time beside it.
_RECENT = timedelta(seconds=5)


class KeptRows:
    """What Django's Paginator needs: how many there are, and some of them, both as they may be kept."""

    def __init__(self, rows: QuerySet[Any], keep: Keep = ask) -> None:
        self._rows, self._keep = rows, keep
        self._oldest = timezone.now()

    @cached_property
    def _name(self) -> str:
        """What is asked, in one word."""
        try:
            asked = repr(self._rows.query.sql_with_params())
        except EmptyResultSet:
            asked = ""
        return hashlib.sha256(asked.encode()).hexdigest()

    def _ask(self, key: str, make: Callable[[], T]) -> T:
        at, answer = self._keep(self._rows.model, f"{key}:{self._name}", lambda: (timezone.now(), make()))
        self._oldest = min(self._oldest, at)
        return answer

    @cached_property
    def _count(self) -> int:
        return self._ask("count", self._rows.order_by().count)

    @property
    def counted_at(self) -> datetime | None:
        """When the oldest answer was made, where that is more than a few seconds ago: pages show it."""
        return self._oldest if timezone.now() - self._oldest > _RECENT else None

    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def __len__(self) -> int:
        return self._count

    @property
    def ordered(self) -> bool:
        """Whether pages are the same each time they are asked for."""
        return bool(self._rows.ordered)

    def __getitem__(self, wanted: slice) -> list[Any]:
        rows = self._ask(f"rows:{wanted.start}:{wanted.stop}", lambda: list(self._rows[wanted]))
        return [copy(row) for row in rows]


class LateRows(KeptRows):
    """The same for rows of a model, of which only those of the page are read whole, and on each look."""

    def __getitem__(self, wanted: slice) -> list[Any]:
        start, stop = wanted.start or 0, min(self._count, wanted.stop)
        if stop <= start:
            return []
        block = start // _BLOCK * _BLOCK
        end = min(self._count, max(block + _BLOCK, stop))
        if self._keep is ask:
            block, end = start, stop
        several = self._ask(f"keys:{block}:{end}:{self._count}", lambda: self._keys(block, end))
        keys = several[start - block : stop - block]
        found = self._whole(keys)
        if len(found) < len(keys) and self._keep is not ask:
            # Some are no longer among these rows, so the kept keys would leave a gap on the page.
            return self._whole(list(self._rows.values_list("pk", flat=True)[start:stop]))
        return found

    def _whole(self, keys: Sequence[Any]) -> list[Any]:
        found = {row.pk: row for row in self._rows.filter(pk__in=keys).order_by()}
        return [found[key] for key in keys if key in found]

    def _keys(self, start: int, stop: int) -> list[Any]:
        every = self._rows.select_related(None).values_list("pk", flat=True)
        if start <= self._count - stop or not self.ordered:
            return list(every[start:stop])
        keys: Iterable[Any] = every.reverse()[self._count - stop : self._count - start]
        return list(keys)[::-1]
