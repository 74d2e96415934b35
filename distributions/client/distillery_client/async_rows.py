"""Rows that come as a stream, and become a list, a DataFrame or a data set."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from distillery_client.errors import BrokenOffError
from distillery_client.frames import frame_of

#: Times that all rows are asked for, where the stream breaks off.
_ATTEMPTS = 3


class AsyncRows:
    """Rows that are asked for again by each loop over them.

    A loop holds one row in memory; `to_list` and `to_pandas` hold all, and ask again where a stream breaks
    off. `columns` are the names and kinds of the columns, where they are known before a row came.
    """

    def __init__(
        self,
        ask: Callable[[], AsyncIterator[dict[str, Any]]],
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self._ask, self.columns = ask, dict(columns or {})

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        return self._ask()

    async def to_list(self) -> list[dict[str, Any]]:
        """All rows in memory."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return [row async for row in self]
            except BrokenOffError:
                continue
        return [row async for row in self]

    async def to_pandas(self) -> Any:
        """A DataFrame, a column per field, also of no rows; times are UTC, whole numbers may be missing.

        ImportError in words where the package `pandas` is not installed.
        """
        return frame_of(await self.to_list(), self.columns)
