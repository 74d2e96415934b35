"""How often something may happen: counted over all hosts where there is a Redis, else in each process.

from core.rates import limits

limits().take("calls:7", rate=200, burst=400)
"""

import time
from functools import cache

from django.conf import settings

from core.rates.limits import Limits, ProcessLimits, RedisLimits


def limits() -> Limits:
    """The counters of this installation."""
    return _limits(settings.RATES_URL)


@cache
def _limits(url: str) -> Limits:
    alone = ProcessLimits(time.monotonic)
    return RedisLimits(url, alone) if url else alone


__all__ = ["Limits", "limits"]
