"""Money on hold for a HIT, and what changes it: more places, more time."""

from datetime import datetime, timedelta

from marketplace import ledger
from marketplace.errors import Refusal, invalid_value
from marketplace.ledger import Kind, Movement
from marketplace.models import HIT
from marketplace.notifications import emit_event
from marketplace.selectors import hit_status, is_expired, watches_expiry


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


# More places and more time for a HIT whose row is locked; nothing is saved where it is refused.

#: A HIT created with fewer places than this can never have as many (the fee tier would change).
LARGE_HIT = 10
#: A HIT is on offer for at most so long from now, as on MTurk.
LONGEST_LIFE = timedelta(days=365)


def add_places_locked(hit: HIT, places: int, now: datetime) -> None:
    """More places, with their cost put on hold unless the HIT has expired."""
    total = hit.max_assignments + places
    if hit.max_at_creation < LARGE_HIT <= total:
        raise Refusal(
            "InvalidMaximumAssignmentsIncrease",
            f"A HIT created with fewer than {LARGE_HIT} assignments cannot be extended to that many; "
            f"this one has {hit.max_assignments}. Create another HIT instead.",
        )
    if total > 1_000_000_000:
        raise invalid_value("NumberOfAdditionalAssignments", "a HIT has at most 1,000,000,000 assignments.")
    hit.max_assignments = total
    hit.open_places += places
    hit.reviewing = False
    settle_hold(hit, now)
    hit.save(update_fields=["max_assignments", "open_places", "held_places", "reviewing"])
    emit_event("HITExtended", hit, at=now)


def lengthen_locked(hit: HIT, expires_at: datetime, now: datetime) -> None:
    """Let a HIT live to this moment, if it would end before; the hold for its open places comes back."""
    if expires_at <= hit.expires_at or expires_at <= now:
        return
    hit.expires_at = expires_at
    hit.expiry_watched = watches_expiry(hit)
    if hit_status(hit, now) == "Assignable":
        hit.reviewing = False
    settle_hold(hit, now)
    hit.save(update_fields=["expires_at", "expiry_watched", "held_places", "reviewing"])
