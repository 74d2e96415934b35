"""Money on hold for a HIT: one rule, applied after everything that changes it."""

from datetime import datetime

from marketplace import ledger
from marketplace.ledger import Kind, Movement
from marketplace.models import HIT
from marketplace.selectors import is_expired


def places_to_hold(hit: HIT, now: datetime) -> int:
    """Places that may have to be paid: occupied undecided ones, and open ones while they can be taken."""
    open_places = 0 if hit.disposed_at or is_expired(hit, now) else hit.open_places
    return hit.pending + hit.submitted + open_places


def settle_hold(hit: HIT, now: datetime) -> None:
    """Hold or release what `places_to_hold` asks for; `hit` must be locked, and is saved by the caller.

    Raises Refusal("InsufficientFunds") where more must be held than is available.
    """
    wanted = places_to_hold(hit, now)
    change = wanted - hit.held_places
    kind = Kind.HOLD if change > 0 else Kind.RELEASE
    cents = abs(change) * (hit.reward_cents + hit.fee_cents)
    ledger.post(hit.requester_id, [Movement(kind, cents, hit=hit)], at=now)
    hit.held_places = wanted
