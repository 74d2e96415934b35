"""The turns in a HIT's life that no row records: its expiry, and becoming Reviewable.

A HIT's state is computed from counts and clock. So whoever holds its lock and changes the counts says here
what follows, once each time: events, and the HIT's review policy. The end of its life is a turn without
anybody's doing; `expiry_watched` marks the HITs for which it still has to be told.
"""

from datetime import datetime

from marketplace.models import HIT
from marketplace.notifications.events import emit
from marketplace.policies import plurality
from marketplace.selectors import is_expired, is_reviewable
from marketplace.services.locking import lock_people


def notice_expiry(hit: HIT, now: datetime) -> None:
    """Tell that a locked HIT's life has ended, if that is due, before anything else changes it.

    Everything that may make the HIT Reviewable begins with this: whom its policy may decide about is locked.
    """
    if hit.hit_review_policy is not None:
        lock_people(hit)
    if not (hit.expiry_watched and is_expired(hit, now)):
        return
    hit.expiry_watched = False
    hit.save(update_fields=["expiry_watched"])
    emit("HITExpired", hit, at=hit.expires_at)
    if hit.open_places:
        notice_reviewable(hit, now, at=hit.expires_at)


def notice_reviewable(hit: HIT, now: datetime, *, at: datetime) -> None:
    """Tell that a locked HIT, which was not Reviewable before, now is, if it is.

    Its review policy comes first, for it may extend the HIT.
    """
    if is_reviewable(hit, now):
        plurality.review(hit, now)
    if is_reviewable(hit, now):
        emit("HITReviewable", hit, at=at)
