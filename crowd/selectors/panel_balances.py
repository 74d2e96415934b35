"""What the account of a panel can spend, as it last said."""

from dataclasses import dataclass
from datetime import datetime

from crowd.models import Endpoint


@dataclass(frozen=True, slots=True)
class KnownBalance:
    """A balance and when it was told; `held_cents` where the panel says how much is locked."""

    available_cents: int
    held_cents: int | None
    at: datetime


def latest(endpoint: Endpoint) -> KnownBalance | None:
    """The balance that was read last; None where none was."""
    if endpoint.balance_at is None or endpoint.balance_cents is None:
        return None
    return KnownBalance(endpoint.balance_cents, endpoint.balance_held_cents, endpoint.balance_at)
