"""Rows in pages by key, for those who write while they read.

An open cursor keeps SQLite's view of the database as it was; a write on the same connection is refused at
once ("database is locked") when another process has written since.
"""

from collections.abc import Iterator
from typing import TypeVar

from django.db.models import Model, QuerySet

Row = TypeVar("Row", bound=Model)


def by_key(rows: "QuerySet[Row]", *, size: int = 500) -> Iterator[Row]:
    """All rows in the order of their keys; between two pages no cursor is open."""
    last = None
    while True:
        page = list((rows if last is None else rows.filter(pk__gt=last)).order_by("pk")[:size])
        yield from page
        if len(page) < size:
            return
        last = page[-1].pk
