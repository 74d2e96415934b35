"""How often something may happen: counted over all hosts where there is a Redis, else in each process.

    limits().take("calls:7", rate=200, burst=400)

Token buckets, and counts in windows, by the same rules in a process and in Redis.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from django.conf import settings

logger = logging.getLogger(__name__)
#: Names that a process remembers; those asked for longest ago are forgotten.
MOST_REMEMBERED = 10_000
#: A Redis that takes longer is done without; it is asked again after a while.
REDIS_TIMEOUT_S, AGAIN_S = 0.25, 5.0
_PREFIX = "distillery-rates:"


class Limits(Protocol):
    """Counters by name. A bucket gets `rate` tokens per second and holds `burst` of them at most."""

    def take(self, name: str, *, rate: float, burst: float, owe: bool = False) -> float:
        """Take a token; the seconds after which there is one, 0 where there was.

        With `owe` it is taken in any case, for callers that wait until it is theirs.
        """

    def peek(self, name: str, *, rate: float, burst: float) -> float:
        """The same without taking one."""

    def drain(self, name: str, *, rate: float, burst: float, seconds: float) -> None:
        """Have no token for so many seconds."""

    def count(self, name: str, amount: int, *, within_s: int) -> int:
        """Add to a count that begins again after so many seconds; what it is now."""


class ProcessLimits:
    """Counters of this process alone."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._counts: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def take(self, name: str, *, rate: float, burst: float, owe: bool = False) -> float:
        """Take a token."""
        with self._lock:
            level = self._level(name, rate, burst)
            if owe or level >= 1:
                self._keep(name, level - 1)
            return _wait(level, rate)

    def peek(self, name: str, *, rate: float, burst: float) -> float:
        """Look."""
        with self._lock:
            return _wait(self._level(name, rate, burst), rate)

    def drain(self, name: str, *, rate: float, burst: float, seconds: float) -> None:
        """Empty it."""
        with self._lock:
            self._keep(name, min(self._level(name, rate, burst), 1 - seconds * rate))

    def count(self, name: str, amount: int, *, within_s: int) -> int:
        """Add."""
        with self._lock:
            now = self._clock()
            number, until = self._counts.pop(name, (0, 0.0))
            if now >= until:
                number, until = 0, now + within_s
            self._counts[name] = (number + amount, until)
            while len(self._counts) > MOST_REMEMBERED:
                self._counts.popitem(last=False)
            return number + amount

    def forget_all(self) -> None:
        """Begin again."""
        with self._lock:
            self._buckets.clear()
            self._counts.clear()

    def _level(self, name: str, rate: float, burst: float) -> float:
        now = self._clock()
        level, at = self._buckets.get(name, (burst, now))
        return min(burst, level + (now - at) * rate)

    def _keep(self, name: str, level: float) -> None:
        self._buckets.pop(name, None)
        self._buckets[name] = (level, self._clock())
        while len(self._buckets) > MOST_REMEMBERED:
            self._buckets.popitem(last=False)


def _wait(level: float, rate: float) -> float:
    return max(0.0, (1 - level) / rate)


# The time is Redis's own, so that no two clocks are compared.
_BUCKET = """
local t = redis.call('TIME')
local now = t[1] + t[2] / 1000000
local rate, burst = tonumber(ARGV[2]), tonumber(ARGV[3])
local held = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = math.min(burst, (tonumber(held[1]) or burst) + (now - (tonumber(held[2]) or now)) * rate)
local after = nil
if ARGV[1] == 'drain' then
  after = math.min(level, 1 - tonumber(ARGV[4]) * rate)
elseif ARGV[1] == 'owe' or (ARGV[1] == 'take' and level >= 1) then
  after = level - 1
end
if after then
  redis.call('HSET', KEYS[1], 'level', string.format('%.6f', after), 'at', string.format('%.6f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil((burst - after) / rate * 1000) + 1000)
end
return string.format('%.6f', math.max(0, (1 - level) / rate))
"""
_COUNT = """
local number = redis.call('INCRBY', KEYS[1], ARGV[1])
if number == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return number
"""


class RedisLimits:
    """Counters of all hosts. While Redis does not answer, each process counts for itself."""

    def __init__(self, url: str, alone: ProcessLimits) -> None:
        import redis

        self._alone, self._away_until = alone, 0.0
        self._errors = (redis.RedisError, OSError)
        timeouts = {"socket_timeout": REDIS_TIMEOUT_S, "socket_connect_timeout": REDIS_TIMEOUT_S}
        client = redis.Redis.from_url(url, **timeouts)
        self._bucket, self._count = client.register_script(_BUCKET), client.register_script(_COUNT)

    def take(self, name: str, *, rate: float, burst: float, owe: bool = False) -> float:
        """Take a token."""
        wait = self._ask(self._bucket, name, "owe" if owe else "take", rate, burst)
        return self._alone.take(name, rate=rate, burst=burst, owe=owe) if wait is None else float(wait)

    def peek(self, name: str, *, rate: float, burst: float) -> float:
        """Look."""
        wait = self._ask(self._bucket, name, "peek", rate, burst)
        return self._alone.peek(name, rate=rate, burst=burst) if wait is None else float(wait)

    def drain(self, name: str, *, rate: float, burst: float, seconds: float) -> None:
        """Empty it."""
        if self._ask(self._bucket, name, "drain", rate, burst, seconds) is None:
            self._alone.drain(name, rate=rate, burst=burst, seconds=seconds)

    def count(self, name: str, amount: int, *, within_s: int) -> int:
        """Add."""
        total = self._ask(self._count, name, amount, within_s)
        return self._alone.count(name, amount, within_s=within_s) if total is None else int(total)

    def _ask(self, script: Any, name: str, *arguments: Any) -> Any:  # None where Redis does not answer
        if time.monotonic() < self._away_until:
            return None
        try:
            return script(keys=[_PREFIX + name], args=arguments)
        except self._errors as error:
            self._away_until = time.monotonic() + AGAIN_S
            logger.warning("Redis counts no rates for now, each process does: %s", error)
            return None


def limits() -> Limits:
    """The counters of this installation."""
    return _limits(settings.RATES_URL)


@cache
def _limits(url: str) -> Limits:
    alone = ProcessLimits(time.monotonic)
    return RedisLimits(url, alone) if url else alone
