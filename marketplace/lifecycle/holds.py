"""A HIT under its lock: the order of the locks, the money on hold for it, more places and more time.

Row locks are always taken in the order HIT, requester, worker, so that no two transactions wait in a ring.
They are "no key" locks: rows elsewhere that refer to a locked row can be committed meanwhile.

On SQLite every transaction begins IMMEDIATE and is alone with the database; the locks are no-ops there.
"""

from datetime import datetime, timedelta

from marketplace.errors import Refusal, invalid_value
from marketplace.lifecycle.notifications import emit_event
from marketplace.lifecycle.selectors import hit_status, is_expired, watches_expiry
from marketplace.models import HIT, Holding, Requester, Worker
from marketplace.money import ledger
from marketplace.money.ledger import Kind, Movement


def lock_hit(pk: int) -> HIT:
    """The HIT as it is now, locked until the transaction ends, with type and requester loaded."""
    hits = HIT.objects.select_related("hit_type", "requester")
    return hits.select_for_update(of=("self",), no_key=True).get(pk=pk)


def lock_people(hit: HIT) -> None:
    """Lock whom decisions about all work of a locked HIT concern: requester, then workers in one order."""
    Requester.objects.select_for_update(no_key=True).get(pk=hit.requester_id)
    undecided = Holding.objects.filter(hit=hit, state__in=(Holding.State.ACCEPTED, Holding.State.SUBMITTED))
    workers = Worker.objects.filter(pk__in=undecided.values("worker"))
    list(workers.select_for_update(no_key=True).order_by("pk").values_list("pk"))


# Money on hold for a HIT: the reward and fee of every place that may still have to be paid.


def places_to_hold(hit: HIT, now: datetime) -> int:
    """Places that may have to be paid: occupied undecided ones, and open ones while they can be taken."""
    open_places = 0 if hit.disposed_at or is_expired(hit, now) else hit.open_places
    return hit.pending + hit.submitted + open_places


def settle_hold(hit: HIT, now: datetime) -> None:
    """Hold or release what `places_to_hold` asks for; `hit` must be locked, and is saved by the caller.

    Raises Refusal("InsufficientFunds") where more must be held than is available.
    """
    places = places_to_hold(hit, now)
    change = places - hit.held_places
    kind = Kind.HOLD if change > 0 else Kind.RELEASE
    cents = abs(change) * (hit.reward_cents + hit.fee_cents)
    ledger.post(hit.requester_id, [Movement(kind, cents, hit=hit)], at=now)
    hit.held_places = places


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
    # Reviewing is said of a HIT whose work is all in; now more is to come.
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
