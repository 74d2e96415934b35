"""Rate limit per requester: a token bucket in each server process."""

import threading
import time

from django.conf import settings

from marketplace.protocol.errors import ProtocolError

_lock = threading.Lock()
_buckets: dict[int, tuple[float, float]] = {}


def throttled(message: str = "Rate exceeded") -> ProtocolError:
    """What a call beyond the rate gets; botocore waits and tries again."""
    return ProtocolError("ThrottlingException", message)


def check(requester_id: int) -> None:
    """Let a call pass or raise ThrottlingException; bursts of twice the rate pass. 0 means no limit."""
    rate = settings.MARKETPLACE_REQUESTS_PER_SECOND
    if not rate:
        return
    now = time.monotonic()
    with _lock:
        level, at = _buckets.get(requester_id, (2.0 * rate, now))
        level = min(2.0 * rate, level + (now - at) * rate)
        _buckets[requester_id] = (level - 1 if level >= 1 else level, now)
    if level < 1:
        raise throttled()
