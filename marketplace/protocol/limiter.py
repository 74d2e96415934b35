"""Rate limits in each server process: of calls per requester, of wrong signatures per key and address."""

import threading
import time

from django.conf import settings

from marketplace.protocol.errors import ProtocolError

_lock = threading.Lock()
_buckets: dict[int, tuple[float, float]] = {}
#: So many wrong signatures at once from one address for one key; then one every so many seconds.
MOST_GUESSES = 20
SECONDS_FOR_A_GUESS = 3.0
_MOST_REMEMBERED = 10_000
_guesses: dict[tuple[str, str], tuple[float, float]] = {}


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


def check_guesses(key: str, address: str) -> None:
    """Refuse a call from an address that signed wrongly with this key too often; others are not slowed."""
    with _lock:
        if _wrong(key, address) > MOST_GUESSES - 1:
            raise throttled("Too many wrong signatures from your address; wait a minute.")


def note_guess(key: str, address: str) -> None:
    """Remember a wrong signature."""
    with _lock:
        count = _wrong(key, address)
        if len(_guesses) >= _MOST_REMEMBERED:
            _guesses.pop(next(iter(_guesses)))
        _guesses[key, address] = (count + 1, time.monotonic())


def _wrong(key: str, address: str) -> float:
    count, at = _guesses.get((key, address), (0.0, 0.0))
    return max(0.0, count - (time.monotonic() - at) / SECONDS_FOR_A_GUESS)
