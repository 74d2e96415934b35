"""Where a process keeps figures: the objects themselves, because a table of a hundred thousand people is read
on every look, and Django's cache in memory would pickle it each time. No caller may change what it gets.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Sized
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class _Entry:
    until: float
    value: Any
    rows: int


class FigureStore:
    """Values by name, each for a time.

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
