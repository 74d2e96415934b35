"""Rows, some at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Item = TypeVar("Item")


def some_of(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` rows; the last one is shorter."""
    source = iter(rows)
    while taken := list(islice(source, size)):
        yield taken
