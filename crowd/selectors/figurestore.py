"""Where a process keeps figures: the objects themselves, for a table of a hundred thousand people is read on
every look, and Django's cache in memory would pickle it each time. Nobody may change what comes out of it.
"""

import threading
import time
from collections import OrderedDict
from typing import Any


class FigureStore:
    """Values by name, each for a time; of too many, those that were not asked for lately go."""

    def __init__(self, most: int = 2_000) -> None:
        self._most = most
        self._values: OrderedDict[str, tuple[float, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> Any | None:
        """The value of this name, None where there is none or its time is over."""
        with self._lock:
            return self._get(key)

    def set(self, key: str, value: Any, seconds: float) -> None:
        """Keep a value so long."""
        with self._lock:
            self._set(key, value, seconds)

    def add(self, key: str, value: Any, seconds: float) -> bool:
        """Keep a value unless there is one of this name; whether it was kept."""
        with self._lock:
            if self._get(key) is not None:
                return False
            self._set(key, value, seconds)
            return True

    def delete(self, key: str) -> None:
        """Forget the value of this name."""
        with self._lock:
            self._values.pop(key, None)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._values.clear()

    def _get(self, key: str) -> Any | None:
        until, value = self._values.get(key, (0.0, None))
        if until <= time.monotonic():
            self._values.pop(key, None)
            return None
        self._values.move_to_end(key)
        return value

    def _set(self, key: str, value: Any, seconds: float) -> None:
        self._values[key] = (time.monotonic() + seconds, value)
        self._values.move_to_end(key)
        while len(self._values) > self._most:
            self._values.popitem(last=False)
