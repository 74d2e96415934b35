"""The assignment on the working page. No page is opened more often, so its SQL is composed once."""

from core.database.composedqueries import ComposedQuery
from marketplace.models import Holding

#: What the page shows; other fields are loaded when asked for.
FIELDS = (
    "requester_id",
    "assignment_id",
    "state",
    "accepted_at",
    "deadline",
    "worker__worker_id",
    "worker__accept_next",
    "hit__hit_id",
    "hit__question",
    "hit__reward_cents",
    "hit__hit_type__type_id",
    "hit__hit_type__group_id",
    "hit__hit_type__title",
    "hit__hit_type__requester__name",
)
_HELD = ComposedQuery(
    Holding,
    ["assignment_id", "hit__hit_id", "worker__user"],
    lambda assignment_id, hit_id, user: (
        Holding.objects.select_related("worker", "hit__hit_type__requester")
        .only(*FIELDS)
        .filter(assignment_id=assignment_id, hit__hit_id=hit_id, worker__user=user)
        .order_by("-pk")[:1]
    ),
)


def held(*, user_pk: int, hit_id: str, assignment_id: str) -> Holding | None:
    """The latest hold of this person on this assignment, with worker, HIT, HIT type and requester."""
    return _HELD.first(assignment_id, hit_id, user_pk)
