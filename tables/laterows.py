"""Rows of a long table, of which one page is shown: only its rows are read whole.

A database that is asked for the rows 99,976 to 100,000 makes all the rows before them as well, with all that
stands in them. Here it is asked for the keys of the page alone, from whichever end is nearer, and then for
those rows.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.db.models.query import ModelIterable


def late(rows: QuerySet[Any] | Sequence[Any]) -> Any:
    """Rows for a Paginator; those that are whole rows of a model are read late, as `LateRows`."""
    if isinstance(rows, QuerySet) and rows._iterable_class is ModelIterable:
        query = rows.query
        return rows if query.is_sliced or query.combinator or query.distinct else LateRows(rows)
    return rows


class LateRows:
    """What Django's Paginator needs: how many there are, and some of them in the order of the rows."""

    def __init__(self, rows: QuerySet[Any]) -> None:
        self._rows = rows

    @cached_property
    def _count(self) -> int:
        return self._rows.order_by().count()

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
        start, stop = wanted.start or 0, min(self._count, wanted.stop)
        if stop <= start:
            return []
        keys = self._keys(start, stop)
        found = {row.pk: row for row in self._rows.filter(pk__in=keys).order_by()}
        return [found[key] for key in keys if key in found]

    def _keys(self, start: int, stop: int) -> list[Any]:
        every = self._rows.select_related(None).values_list("pk", flat=True)
        if start <= self._count - stop or not self.ordered:
            return list(every[start:stop])
        keys: Iterable[Any] = every.reverse()[self._count - stop : self._count - start]
        return list(keys)[::-1]
