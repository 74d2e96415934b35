"""By what a person may be known in two places: digests of ids, e-mail addresses and accounts for payments.

An app that knows such a thing of workers registers a provider in its extension:

    EXTENSION = Extension(MarkProvider(marks_of_accounts), …)

Only digests are handed on, keyed with SECRET_KEY, so none can be tried out without it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.extensions import parts_of
from people.models import Guest, RosterRow
from people.tokens import EMAIL, keyed_digest
from people.visits import OWN, ROSTER

_ID = "people.external-id"


class MarkKind(StrEnum):
    """What two workers may have in common."""

    EXTERNAL_ID = "id"
    EMAIL = "email"
    PAYEE = "payee"


#: A kind and a digest.
Mark = tuple[MarkKind, str]
Marks = Mapping[str, set[Mark]]


@dataclass(frozen=True, slots=True)
class MarkProvider:
    """What an app knows of workers by their ids; ids that are none of its own are passed over."""

    marks_of: Callable[[Collection[str]], Marks]


def mark_of_id(external_id: str) -> Mark:
    """The mark of a person's id at a panel."""
    return MarkKind.EXTERNAL_ID, keyed_digest(_ID, external_id.strip())


def mark_of_email(address: str) -> Mark:
    """The mark of an e-mail address."""
    return MarkKind.EMAIL, keyed_digest(EMAIL, address.strip().casefold())


def marks_of(worker_ids: Collection[str]) -> dict[str, set[Mark]]:
    """All that any app knows of these workers; who is unknown has none."""
    marks_by_worker: dict[str, set[Mark]] = defaultdict(set)
    for provider in parts_of(MarkProvider):
        for worker_id, marks in provider.marks_of(worker_ids).items():
            marks_by_worker[worker_id] |= marks
    return marks_by_worker


def marks_of_guests(worker_ids: Collection[str]) -> Marks:
    """Ids that panels gave to guests of links, and addresses that a class's list or an account has."""
    marks_by_worker: dict[str, set[Mark]] = defaultdict(set)
    guests = {
        guest.pk: guest
        for guest in Guest.objects.filter(worker_id__in=worker_ids)
        .select_related("user")
        .only("worker_id", "identity_kind", "identity", "email_digest", "user__email")
    }
    for guest in guests.values():
        if guest.identity_kind not in (OWN, ROSTER):
            marks_by_worker[guest.worker_id].add(mark_of_id(guest.identity))
        if guest.email_digest:
            marks_by_worker[guest.worker_id].add((MarkKind.EMAIL, guest.email_digest))
        if guest.user is not None and guest.user.email:
            marks_by_worker[guest.worker_id].add(mark_of_email(guest.user.email))
    roster_rows = RosterRow.objects.filter(guest__in=guests).exclude(email_digest="")
    for pk, digest in roster_rows.values_list("guest", "email_digest"):
        marks_by_worker[guests[pk].worker_id].add((MarkKind.EMAIL, digest))
    return marks_by_worker
