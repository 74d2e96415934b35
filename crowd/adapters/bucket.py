"""A token bucket: calls to one endpoint wait here for their turn, across the threads of a process."""

import threading
import time


class TokenBucket:
    """Lets `rate` calls per second pass, and up to `burst` at once after a pause; rate 0 lets all pass."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, burst
        self._level, self._at = float(burst), time.monotonic()
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Wait for one's turn; the seconds waited."""
        if not self._rate:
            return 0.0
        with self._lock:
            now = time.monotonic()
            self._level = min(self._burst, self._level + (now - self._at) * self._rate) - 1
            self._at = now
            pause = max(0.0, -self._level / self._rate)
        if pause:
            time.sleep(pause)
        return pause

    def penalise(self, seconds: float) -> None:
        """Hold everybody back for a while: the endpoint said that it was too much."""
        if self._rate:
            with self._lock:
                self._level = min(self._level, -seconds * self._rate)
