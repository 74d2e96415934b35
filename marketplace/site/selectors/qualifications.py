"""Qualifications as one worker sees them: held, asked for, and offered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.paginator import Page
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest

from marketplace.eligibility import Verdict, verdicts
from marketplace.models import (
    HIT,
    HITType,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Worker,
)
from marketplace.selectors import assignable, hit_types_asking_for
from marketplace.services.qualifications import QualificationStatus
from marketplace.site.pagination import numbered

MAX_SEARCH = 200
MAX_WORDS = 8
#: Groups of HITs that the page of a qualification shows.
MAX_GROUPS = 10
#: Attempts of one worker that it shows.
MAX_ATTEMPTS = 50
#: Long texts that no list shows.
LONG_OF_TYPE = ("test", "answer_key")
LONG_OF_REQUEST = ("test", "answer_key", "answer")
_GRANTED = QualificationGrant.Status.GRANTED
State = QualificationRequest.State


@dataclass(frozen=True, slots=True)
class QualificationView:
    """A qualification type and where the worker stands with it at one moment."""

    standing: QualificationStatus
    now: datetime

    @property
    def kind(self) -> QualificationType:
        """The type itself."""
        return self.standing.qualification_type

    @property
    def state(self) -> str:
        """State of the worker's latest request, "" where there is none."""
        return self.standing.state(self.now)

    @property
    def refusal(self) -> str:
        """Why the worker cannot ask for it now; "" where they can."""
        refused = self.standing.refusal(self.now)
        return refused.message if refused else ""

    @property
    def again_at(self) -> datetime | None:
        """When the worker may ask again, where it is only for that moment that they have to wait."""
        again_at = self.standing.again_at()
        waits = self.state not in (State.STARTED, State.PENDING) and again_at and again_at > self.now
        return (
            again_at if waits and self.refusal and (self.kind.has_test or not self.standing.holds) else None
        )

    @property
    def action(self) -> str:
        """What asking for it would be: continue, test, again, get or ask; "" where it is not possible."""
        if self.standing.refusal(self.now):
            return ""
        if self.state == State.STARTED:
            return "continue"
        if self.kind.has_test:
            return "again" if self.standing.latest else "test"
        return "get" if self.kind.auto_granted else "ask"


def qualifications(
    *, request: HttpRequest, worker: Worker, tab: str, search: str, now: datetime
) -> tuple[list[QualificationView], Page[QualificationType], dict[str, int]]:
    """One page of a tab (held, asked or offered), and how many there are in each."""
    tabs = {"held": _held(worker), "asked": _asked(worker), "offered": _offered(worker, now)}
    found = {name: _searched(rows, search) for name, rows in tabs.items()}
    rows = found[tab].select_related("requester").defer(*LONG_OF_TYPE)
    pages = numbered(rows, request)
    shown = [QualificationView(each, now) for each in standings(worker, list(pages.object_list))]
    counts = {name: pages.paginator.count if name == tab else each.count() for name, each in found.items()}
    return shown, pages, counts


def standings(worker: Worker, kinds: Sequence[QualificationType]) -> list[QualificationStatus]:
    """Where the worker stands with each of these types, in two queries."""
    grants = {
        grant.qualification_type_id: grant
        for grant in QualificationGrant.objects.filter(worker=worker, qualification_type__in=kinds)
    }
    mine = QualificationRequest.objects.filter(worker=worker, qualification_type__in=kinds)
    latest = {
        asked.qualification_type_id: asked
        for asked in mine.defer(*LONG_OF_REQUEST).order_by("started_at", "pk")
    }
    return [QualificationStatus(kind, grants.get(kind.pk), latest.get(kind.pk)) for kind in kinds]


def ways(worker: Worker | None, kinds: Sequence[QualificationType], now: datetime) -> list[QualificationView]:
    """What the worker can do, or has done, about qualifications that they lack."""
    return [QualificationView(each, now) for each in standings(worker, kinds)] if worker and kinds else []


def groups_wanting(
    *, kind: QualificationType, worker: Worker, now: datetime
) -> list[tuple[HITType, Verdict]]:
    """Groups with open HITs that ask for the qualification and that the worker may know of, newest first."""
    open_hits = HIT.objects.filter(assignable(now), hit_type=OuterRef("pk"))
    asking = hit_types_asking_for(kind.qualification_type_id).filter(Exists(open_hits))
    found = list(asking.select_related("requester").order_by("-pk")[: 3 * MAX_GROUPS])
    judged = verdicts(worker=worker, hit_types=found)
    shown = [(each, judged[each.pk]) for each in found if judged[each.pk].discover and _wanted(each, kind)]
    return shown[:MAX_GROUPS]


def _wanted(hit_type: HITType, kind: QualificationType) -> bool:
    """Whether the group wants people who hold the qualification, not those who do not."""
    return any(
        asked["QualificationTypeId"] == kind.qualification_type_id and asked["Comparator"] != "DoesNotExist"
        for asked in hit_type.requirements
    )


def _grants(worker: Worker) -> QuerySet[QualificationGrant]:
    return QualificationGrant.objects.filter(
        worker=worker, status=_GRANTED, qualification_type=OuterRef("pk")
    )


def _requests(worker: Worker) -> QuerySet[QualificationRequest]:
    return QualificationRequest.objects.filter(worker=worker, qualification_type=OuterRef("pk"))


def _held(worker: Worker) -> QuerySet[QualificationType]:
    since = Subquery(_grants(worker).values("granted_at"))
    return _living().filter(Exists(_grants(worker))).annotate(since=since).order_by("-since", "-pk")


def _asked(worker: Worker) -> QuerySet[QualificationType]:
    since = Subquery(_requests(worker).order_by("-started_at").values("started_at")[:1])
    asked = _living().filter(Exists(_requests(worker))).exclude(Exists(_grants(worker)))
    return asked.annotate(since=since).order_by("-since", "-pk")


def _offered(worker: Worker, now: datetime) -> QuerySet[QualificationType]:
    """Active types that the worker neither holds nor asked for: with a test, for everybody, or wanted.

    Others can be asked for as well, but requesters keep lists of people as such types: who did something
    already, who is not to do it. Those would only be in the way here.
    """
    ways = Q(test_duration_s__isnull=False) | Q(auto_granted=True)
    offered = _living().filter(ways | Q(qualification_type_id__in=_wanted_by_open_work(now)))
    return (
        offered.filter(status=QualificationType.Status.ACTIVE)
        .exclude(Exists(QualificationGrant.objects.filter(worker=worker, qualification_type=OuterRef("pk"))))
        .exclude(Exists(_requests(worker)))
        .order_by("-pk")
    )


def _wanted_by_open_work(now: datetime) -> set[str]:
    """Ids of qualifications that open HITs ask for. Groups share few sets of requirements."""
    open_hits = HIT.objects.filter(assignable(now), hit_type=OuterRef("pk"))
    sets = HITType.objects.filter(Exists(open_hits)).exclude(requirements=[])
    return {
        asked["QualificationTypeId"]
        for requirements in sets.order_by().values_list("requirements", flat=True).distinct().iterator()
        for asked in requirements
        if asked["Comparator"] != "DoesNotExist" and asked["ActionsGuarded"] != "DiscoverPreviewAndAccept"
    }


def _living() -> QuerySet[QualificationType]:
    return QualificationType.objects.filter(deleted_at=None)


def _searched(kinds: QuerySet[QualificationType], search: str) -> QuerySet[QualificationType]:
    for word in search.split()[:MAX_WORDS]:
        kinds = kinds.filter(
            Q(name__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    return kinds
