"""A token bucket: calls to one account of a marketplace wait here for their turn, on all hosts."""

import time

from core.rates import limits


class TokenBucket:
    """Lets `rate` calls per second pass, and up to `burst` at once after a pause; rate 0 lets all pass."""

    def __init__(self, name: str, rate: float, burst: int) -> None:
        self._name, self._rate, self._burst = name, rate, burst

    def wait(self) -> float:
        """Wait for one's turn; the seconds waited."""
        if not self._rate:
            return 0.0
        pause = limits().take(self._name, rate=self._rate, burst=self._burst, owe=True)
        if pause:
            time.sleep(pause)
        return pause

    def penalise(self, seconds: float) -> None:
        """Hold everybody back for a while: the endpoint said that it was too much."""
        if self._rate:
            limits().drain(self._name, rate=self._rate, burst=self._burst, seconds=seconds)
