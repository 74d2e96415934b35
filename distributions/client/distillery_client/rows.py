"""Rows that come as a stream, and become a list, a DataFrame or a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Rows:
    """Rows that are asked for anew by each loop over them."""

    def __init__(self, ask: Callable[[], Iterator[dict[str, Any]]]) -> None:
        self._ask = ask

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._ask()

    def to_list(self) -> list[dict[str, Any]]:
        """All rows in memory."""
        return list(self)

    def to_pandas(self) -> Any:
        """A DataFrame, a column per field; needs `distillery-client[pandas]`."""
        import pandas

        return pandas.DataFrame.from_records(self.to_list())
