"""Facts about HITs that are computed, never stored."""

from datetime import datetime, timedelta

from django.db.models import F, Q

from marketplace.lifecycle.events import follows_hits
from marketplace.lifecycle.notifications import OF_EXPIRY, wants_event
from marketplace.models import HIT

#: A HIT that nobody touched is disposed of so long after it expired.
DISPOSE_AFTER = timedelta(days=120)


def is_expired(hit: HIT, now: datetime) -> bool:
    """Expired HITs take no new workers; work in progress may still be submitted."""
    return now >= hit.expires_at


def hit_status(hit: HIT, now: datetime) -> str:
    """HITStatus as the protocol defines it, from the counts and the clock."""
    if hit.disposed_at:
        return "Disposed"
    if not is_expired(hit, now) and hit.open_places:
        return "Assignable"
    if hit.pending:
        return "Unassignable"
    return "Reviewing" if hit.reviewing else "Reviewable"


def is_reviewable(hit: HIT, now: datetime) -> bool:
    """All work that can come is in: Reviewable or Reviewing."""
    return hit_status(hit, now) in ("Reviewable", "Reviewing")


def is_followed(hit: HIT) -> bool:
    """Somebody is told what happens to the HIT, or a policy acts on it; its type must be loaded."""
    return (
        hit.hit_type.notification is not None
        or hit.assignment_review_policy is not None
        or hit.hit_review_policy is not None
        or follows_hits(hit.requester_id)
    )


def watches_expiry(hit: HIT) -> bool:
    """Something follows when the HIT's life ends; its type must be loaded."""
    return (
        hit.hit_review_policy is not None
        or wants_event(hit.hit_type, *OF_EXPIRY)
        or follows_hits(hit.requester_id)
    )


def reviewable(now: datetime) -> Q:
    """Condition of HITs that are Reviewable or Reviewing at this moment."""
    return Q(disposed_at=None, pending=0) & (Q(expires_at__lte=now) | Q(open_places=0))


def to_dispose(now: datetime) -> Q:
    """Condition of HITs whose time is over, whether or not somebody has written that down yet."""
    return Q(disposed_at=None, expires_at__lte=now - DISPOSE_AFTER, pending=0, submitted=0)


def assignable(now: datetime) -> Q:
    """Condition of HITs that a worker can accept at this moment."""
    return Q(disposed_at=None, open_places__gt=0, expires_at__gt=now)


def unreleased_after_expiry() -> Q:
    """Condition of HITs that hold money for places nobody occupies."""
    return Q(held_places__gt=F("pending") + F("submitted"))


def touched_by_expiry() -> Q:
    """Condition of HITs to which something happens at expiry; that of the index `hit_expiry_to_settle`."""
    return unreleased_after_expiry() | Q(expiry_watched=True)
