"""Rate limits: of calls per requester, of wrong signatures per key and address."""

from django.conf import settings

from core.rates import limits
from marketplace.protocol.errors import ProtocolError

#: So many wrong signatures at once from one address for one key; then one every so many seconds.
MOST_GUESSES = 20
SECONDS_FOR_A_GUESS = 3.0


def throttled(message: str = "Rate exceeded") -> ProtocolError:
    """What a call beyond the rate gets; botocore waits and tries again."""
    return ProtocolError("ThrottlingException", message)


def check(requester_id: int) -> None:
    """Let a call pass or raise ThrottlingException; bursts of twice the rate pass. 0 means no limit."""
    rate = settings.MARKETPLACE_REQUESTS_PER_SECOND
    if rate and limits().take(f"calls:{requester_id}", rate=rate, burst=2 * rate):
        raise throttled()


def check_guesses(key: str, address: str) -> None:
    """Refuse a call from an address that signed wrongly with this key too often; others are not slowed."""
    if limits().peek(_guesses(key, address), rate=1 / SECONDS_FOR_A_GUESS, burst=MOST_GUESSES):
        raise throttled("Too many wrong signatures from your address; wait a minute.")


def note_guess(key: str, address: str) -> None:
    """Remember a wrong signature."""
    limits().take(_guesses(key, address), rate=1 / SECONDS_FOR_A_GUESS, burst=MOST_GUESSES)


def _guesses(key: str, address: str) -> str:
    return f"guesses:{key}:{address}"
