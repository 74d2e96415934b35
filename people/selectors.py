"""What is read of links: their list, the counts of the live page, the people of one link, a class's list."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from core.crypto import unseal
from core.origin import Owner
from people.models import Outcome, RosterRow, StudyLink, Visit
from people.owners import columns_of, target_of
from people.tokens import EMAIL
from people.visits import NOTABLE_PER_ADDRESS

#: Who has not been heard of for so long has left.
QUIET = timedelta(minutes=45)


def links_of(owner: Owner) -> "QuerySet[StudyLink]":
    """The links of an owner, the newest first, with `opened`, `agreed`, `people` and `done`."""
    return (
        StudyLink.objects.filter(**columns_of(owner))
        .annotate(
            opened=Count("visits"),
            agreed=Count("visits", filter=Q(visits__consented_at__isnull=False)),
            people=Count("visits__guest", filter=Q(visits__consented_at__isnull=False), distinct=True),
            done=Count("visits", filter=Q(visits__outcome=Outcome.COMPLETED)),
        )
        .order_by("-pk")
    )


def links_to(kind: str, pk: int) -> list[StudyLink]:
    """The links that lead to one thing, the newest first."""
    return list(StudyLink.objects.filter(target_kind=kind, target_id=pk).order_by("-pk")[:50])


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Visits of a link by where they are now. Each is in one of `places`, so they add up to `opened`."""

    opened: int
    people: int
    places: list[tuple[str, int]]
    crowded: int

    @property
    def total(self) -> int:
        """What the places add up to."""
        return sum(number for _, number in self.places)


def count_visits(link: StudyLink, now: datetime | None = None) -> LinkCounts:
    """Where the visits of a link are, `crowded` of them from addresses that several people share."""
    rows = Visit.objects.filter(link=link)
    quiet = (now or timezone.now()) - QUIET
    counts: Counter[str] = Counter()
    for consented, begun, seen, outcome in rows.values_list(
        "consented_at", "first_task_at", "seen_at", "outcome"
    ):
        counts[_place(consented, begun, outcome, is_quiet=seen < quiet)] += 1
    agreed = rows.filter(consented_at__isnull=False)
    shared = (
        agreed.exclude(address_digest="")
        .values("address_digest")
        .annotate(people=Count("guest", distinct=True))
        .filter(people__gte=NOTABLE_PER_ADDRESS)
    )
    return LinkCounts(
        opened=sum(counts.values()),
        people=agreed.values("guest").distinct().count(),
        places=[(name, counts[name]) for name in _PLACES],
        crowded=sum(row["people"] for row in shared),
    )


_READING, _LEFT_READING = "Reading the consent page", "Left at the consent page"
_AGREED, _LEFT_AGREED = "Agreed, no task opened yet", "Left before the first task"
_WORKING, _LEFT_WORKING = "Working", "Left while working"
_PLACES = (_READING, _LEFT_READING, _AGREED, _LEFT_AGREED, _WORKING, _LEFT_WORKING, *Outcome.labels)


def _place(consented: Any, begun: Any, outcome: str, *, is_quiet: bool) -> str:
    if outcome:
        return str(Outcome(outcome).label)
    if consented is None:
        return _LEFT_READING if is_quiet else _READING
    if begun is None:
        return _LEFT_AGREED if is_quiet else _AGREED
    return _LEFT_WORKING if is_quiet else _WORKING


VISIT_COLUMNS = (
    "worker", "identity_kind", "identity", "session", "consent_text_version", "consent_text_language",
    "consented_at", "opened_at", "first_task_at", "ended_at", "outcome", "code", "tasks_finished",
    "signature_checked", "people_at_same_address", "withdrawn_at",
)  # fmt: skip


def visit_facts(link: StudyLink) -> list[dict[str, object]]:
    """The same rows as the CSV of the link has, by the names of its columns."""
    return [dict(zip(VISIT_COLUMNS, row, strict=True)) for row in visit_rows(link)]


def visit_rows(link: StudyLink) -> list[list[object]]:
    """One row for each visit, for the CSV of the link; of the network address only how many share it."""
    visits = list(
        Visit.objects.filter(link=link).select_related("guest", "consent_text").order_by("opened_at", "pk")
    )
    finished = target_of(link).finished(link, [each.guest.worker_id for each in visits if each.guest])
    sharing: dict[str, set[int]] = {}
    for each in visits:
        if each.guest_id and each.address_digest:
            sharing.setdefault(each.address_digest, set()).add(each.guest_id)
    return [
        [
            each.guest.worker_id if each.guest else "",
            each.external_kind,
            each.external_id,
            each.session,
            each.consent_text.version if each.consent_text else "",
            each.consent_text.language if each.consent_text else "",
            *(_time(at) for at in (each.consented_at, each.opened_at, each.first_task_at, each.ended_at)),
            each.outcome,
            each.code,
            finished.get(each.guest.worker_id, 0) if each.guest else 0,
            "yes" if each.proven else "no",
            len(sharing.get(each.address_digest, ())),
            _time(each.guest.withdrawn_at) if each.guest else "",
        ]
        for each in visits
    ]


def _time(at: datetime | None) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


@dataclass(frozen=True, slots=True)
class RosterLine:
    """A person of a class's list, and how far they are."""

    row: RosterRow
    email: str
    done: int

    @property
    def credit(self) -> bool:
        """Whether they finished anything."""
        return self.done > 0


def roster_of(link: StudyLink) -> list[RosterLine]:
    """The class's list by name."""
    rows = RosterRow.objects.filter(link=link).select_related("guest").order_by("name", "pk")
    return roster_lines(link, list(rows))


def roster_lines(link: StudyLink, rows: Sequence[RosterRow]) -> list[RosterLine]:
    """Rows of a list with how far their people are, in one question for all of them."""
    finished = target_of(link).finished(link, [row.guest.worker_id for row in rows if row.guest])
    return [
        RosterLine(
            row,
            unseal(row.email_sealed, purpose=EMAIL) or "",
            finished.get(row.guest.worker_id, 0) if row.guest else 0,
        )
        for row in rows
    ]
