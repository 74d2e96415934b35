"""What pages of the worker site and the desk show, read in a fixed number of queries each.

Groups of HITs as one worker (or a visitor) may see them; qualifications that a worker holds, asked for and
could have; and for the desk requesters, their HITs, and the calls of their scripts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.paginator import Page
from django.db.models import Avg, Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.expressions import OrderBy
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils.formats import number_format

from marketplace import clock
from marketplace.accounts.accesskeys import valid_at
from marketplace.lifecycle.selectors import assignable
from marketplace.members import with_role_of
from marketplace.models import (
    HIT,
    AccessKey,
    CallLog,
    HITType,
    Holding,
    QualificationGrant,
    QualificationRequest,
    QualificationType,
    Rating,
    Requester,
    RequesterMember,
    Worker,
)
from marketplace.qualifications.eligibility import Verdict, hit_types_asking_for, verdicts
from marketplace.qualifications.grants import QualificationStatus
from marketplace.site.lookup import numbered

# Ratings of HIT groups as others may see them: a mean, once enough people have rated.

#: Ratings below which a mean would tell who thinks what.
SHOWN_FROM = 3


@dataclass(frozen=True, slots=True)
class Opinion:
    """What those who worked on a group think of it."""

    mean: float
    count: int

    @property
    def mean_text(self) -> str:
        """The mean as it is written: one digit after the point."""
        return number_format(self.mean, 1)


def load_opinions(hit_types: Iterable[HITType]) -> dict[int, Opinion]:
    """Opinions by primary key of the HIT type, in one query; groups with few ratings have none."""
    rows = (
        Rating.objects.filter(hit_type__in=list(hit_types))
        .order_by()
        .values("hit_type")
        .annotate(mean=Avg("stars"), count=Count("pk"))
        .filter(count__gte=SHOWN_FROM)
    )
    return {row["hit_type"]: Opinion(row["mean"], row["count"]) for row in rows}


def group_opinion(hit_type: HITType) -> Opinion | None:
    """Opinion of one group."""
    return load_opinions([hit_type]).get(hit_type.pk)


def means() -> QuerySet[Any, Any]:
    """Mean of the HIT type of the outer query, for ordering; null where there are few ratings."""
    rows = Rating.objects.filter(hit_type=OuterRef("pk")).order_by().values("hit_type")
    rated = rows.annotate(count=Count("pk"), mean=Avg("stars")).filter(count__gte=SHOWN_FROM)
    return rated.values("mean")


# Groups of HITs.

#: Orders of the list of groups, by their name in the URL.
SORTS: dict[str, tuple[str | OrderBy, ...]] = {
    "newest": ("-newest", "-pk"),
    "reward": ("-reward_cents", "-newest", "-pk"),
    "time": ("duration_s", "-reward_cents", "-pk"),
    "available": ("-open_hits", "-newest", "-pk"),
    "rating": (F("rated").desc(nulls_last=True), "-newest", "-pk"),
}
DEFAULT_SORT = "newest"
MAX_SEARCH = 200
MAX_WORDS = 8


@dataclass(frozen=True, slots=True)
class Group:
    """A HIT group as one worker sees it."""

    hit_type: HITType
    available: int
    newest: datetime
    verdict: Verdict
    opinion: Opinion | None


def listed_groups(
    *, request: HttpRequest, worker: Worker | None, search: str, sort: str, now: datetime
) -> tuple[list[Group], Page[HITType]]:
    """One page of the groups that `worker` (None: a visitor) may discover and has work left in."""
    open_types = _without_hidden(_searched(_open_types(worker, now), search), worker)
    newest = _open_hits(now).filter(hit_type=OuterRef("pk")).order_by("-pk").values("created_at")[:1]
    rows = open_types.annotate(newest=Subquery(newest)).select_related("requester")
    if sort == "available":
        count = _open_hits(now).filter(hit_type=OuterRef("pk")).order_by().values("hit_type")
        rows = rows.annotate(open_hits=Subquery(count.annotate(n=Count("pk")).values("n")))
    if sort == "rating":
        rows = rows.annotate(rated=Subquery(means()))
    group_page = numbered(rows.order_by(*SORTS[sort]), request)
    hit_types = list(group_page.object_list)
    counts = _available(hit_types, worker, now)
    verdict_of = verdicts(worker=worker, hit_types=hit_types)
    opinions = load_opinions(hit_types)
    views = [
        Group(
            hit_type=each,
            available=counts[each.pk],
            newest=each.newest,
            verdict=verdict_of[each.pk],
            opinion=opinions.get(each.pk),
        )
        for each in hit_types
    ]
    return views, group_page


def available(*, hit_type: HITType, worker: Worker | None, now: datetime) -> int:
    """HITs of the group that `worker` can still take."""
    return _available([hit_type], worker, now)[hit_type.pk]


def _open_hits(now: datetime) -> QuerySet[HIT]:
    return HIT.objects.filter(assignable(now))


def _open_types(worker: Worker | None, now: datetime) -> QuerySet[HITType]:
    hits = _open_hits(now).filter(hit_type=OuterRef("pk"))
    if worker is not None:
        hits = hits.exclude(pk__in=_list_occupying(worker).values("hit_id"))
    types = HITType.objects.filter(Exists(hits))
    if worker is not None and worker.guest_of_id is not None:
        return types.filter(requester=worker.guest_of_id)
    return types


def _list_occupying(worker: Worker) -> QuerySet[Holding]:
    return Holding.objects.filter(worker=worker, state__in=Holding.OCCUPYING)


def _searched(hit_types: QuerySet[HITType], search: str) -> QuerySet[HITType]:
    for word in search.split()[:MAX_WORDS]:
        hit_types = hit_types.filter(
            Q(title__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    return hit_types


def _without_hidden(hit_types: QuerySet[HITType], worker: Worker | None) -> QuerySet[HITType]:
    """Leave out what the worker may not discover.

    Groups share few sets of requirements, so one group of each set is judged, however many there are.
    """
    by_rules = hit_types.annotate(rules=Cast("requirements", TextField()))
    guarded = by_rules.filter(rules__contains="DiscoverPreviewAndAccept").order_by()
    examples = dict(guarded.values("rules").annotate(example=Min("pk")).values_list("example", "rules"))
    if not examples:
        return hit_types
    verdict_of = verdicts(worker=worker, hit_types=HITType.objects.filter(pk__in=examples))
    hidden = [examples[pk] for pk, verdict in verdict_of.items() if not verdict.discover]
    return by_rules.exclude(rules__in=hidden) if hidden else hit_types


def _available(hit_types: list[HITType], worker: Worker | None, now: datetime) -> dict[int, int]:
    def count(hits: QuerySet[HIT]) -> dict[int, int]:
        counts = hits.filter(hit_type__in=hit_types).order_by().values("hit_type").annotate(n=Count("pk"))
        return dict(counts.values_list("hit_type", "n"))

    offered = count(_open_hits(now))
    occupied = (
        count(_open_hits(now).filter(pk__in=_list_occupying(worker).values("hit_id"))) if worker else {}
    )
    return {each.pk: offered.get(each.pk, 0) - occupied.get(each.pk, 0) for each in hit_types}


# Qualifications as one worker sees them: held, asked for, and offered.

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
    """A qualification type and what it is to the worker at one moment."""

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
    tabs = {
        "held": _list_held_types(worker),
        "asked": _list_requested_types(worker),
        "offered": _offered(worker, now),
    }
    matches = {name: _searched_types(rows, search) for name, rows in tabs.items()}
    rows = matches[tab].select_related("requester").defer(*LONG_OF_TYPE)
    pages = numbered(rows, request)
    views = [QualificationView(each, now) for each in standings(worker, list(pages.object_list))]
    counts = {name: pages.paginator.count if name == tab else each.count() for name, each in matches.items()}
    return views, pages, counts


def standings(worker: Worker, kinds: Sequence[QualificationType]) -> list[QualificationStatus]:
    """What each of these types is to the worker, in two queries."""
    grants = {
        grant.qualification_type_id: grant
        for grant in QualificationGrant.objects.filter(worker=worker, qualification_type__in=kinds)
    }
    mine = QualificationRequest.objects.filter(worker=worker, qualification_type__in=kinds)
    latest = {
        request.qualification_type_id: request
        for request in mine.defer(*LONG_OF_REQUEST).order_by("started_at", "pk")
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
    # Some are hidden from this worker or want people without it, so more are read than are shown.
    hit_types = list(asking.select_related("requester").order_by("-pk")[: 3 * MAX_GROUPS])
    verdict_of = verdicts(worker=worker, hit_types=hit_types)
    visible = [
        (each, verdict_of[each.pk])
        for each in hit_types
        if verdict_of[each.pk].discover and _requires_type(each, kind)
    ]
    return visible[:MAX_GROUPS]


def _requires_type(hit_type: HITType, kind: QualificationType) -> bool:
    """Whether the group wants people who hold the qualification, not those who do not."""
    return any(
        requirement["QualificationTypeId"] == kind.qualification_type_id
        and requirement["Comparator"] != "DoesNotExist"
        for requirement in hit_type.requirements
    )


def _grants(worker: Worker) -> QuerySet[QualificationGrant]:
    return QualificationGrant.objects.filter(
        worker=worker, status=_GRANTED, qualification_type=OuterRef("pk")
    )


def _requests(worker: Worker) -> QuerySet[QualificationRequest]:
    return QualificationRequest.objects.filter(worker=worker, qualification_type=OuterRef("pk"))


def _list_held_types(worker: Worker) -> QuerySet[QualificationType]:
    since = Subquery(_grants(worker).values("granted_at"))
    return _living().filter(Exists(_grants(worker))).annotate(since=since).order_by("-since", "-pk")


def _list_requested_types(worker: Worker) -> QuerySet[QualificationType]:
    since = Subquery(_requests(worker).order_by("-started_at").values("started_at")[:1])
    requested = _living().filter(Exists(_requests(worker))).exclude(Exists(_grants(worker)))
    return requested.annotate(since=since).order_by("-since", "-pk")


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
        requirement["QualificationTypeId"]
        for requirements in sets.order_by().values_list("requirements", flat=True).distinct().iterator()
        for requirement in requirements
        if requirement["Comparator"] != "DoesNotExist"
        and requirement["ActionsGuarded"] != "DiscoverPreviewAndAccept"
    }


def _living() -> QuerySet[QualificationType]:
    return QualificationType.objects.filter(deleted_at=None)


def _searched_types(kinds: QuerySet[QualificationType], search: str) -> QuerySet[QualificationType]:
    for word in search.split()[:MAX_WORDS]:
        kinds = kinds.filter(
            Q(name__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    return kinds


# What the desk shows of requesters, their HITs, and the calls of their scripts.


@dataclass(frozen=True, slots=True)
class Part:
    """Assignments in one state, and their piece of the bar."""

    key: str
    label: str
    count: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the HITs of one type are, in assignments."""

    hit_type: HITType
    hits: int
    total: int
    open: int
    pending: int
    submitted: int
    approved: int
    rejected: int

    @property
    def parts(self) -> list[Part]:
        """Every assignment once, in the order of the bar, whose length is 1,000."""
        counts = [
            ("approved", "approved", self.approved),
            ("submitted", "to review", self.submitted),
            ("pending", "in progress", self.pending),
            ("rejected", "rejected", self.rejected),
            ("open", "open", self.open),
        ]
        parts, x = [], 0.0
        for key, label, count in counts:
            width = 1000 * count / self.total if self.total else 0
            parts.append(Part(key=key, label=label, count=count, x=round(x, 1), width=round(width, 1)))
            x += width
        return parts

    @property
    def done(self) -> int:
        """Assignments that were answered."""
        return self.approved + self.submitted + self.rejected


def requesters(user: User) -> QuerySet[Requester]:
    """Requesters this person may look at: all of them for staff, else where they are owner or member.

    `member_role` is theirs as a member; empty for the owner, and for staff who are none.
    """
    everyone = with_role_of(user, Requester.objects.order_by("-created_at", "-pk"))
    return everyone if user.is_staff else everyone.filter(is_of(user))


def is_of(user: User, path: str = "") -> Q:
    """The rows whose requester, at the end of `path`, this person owns or is a member of."""
    of_members = RequesterMember.objects.filter(requester=OuterRef(f"{path}pk"), user=user)
    return Q(**{f"{path}owner": user}) | Q(Exists(of_members))


def with_key(requesters: QuerySet[Requester]) -> QuerySet[Requester]:
    """The same, each with the newest of its valid keys as `access_key`."""
    keys = AccessKey.objects.filter(valid_at(clock.now()), requester=OuterRef("pk")).order_by("-pk")
    return requesters.annotate(access_key=Subquery(keys.values("access_key")[:1]))


def living_hit_types(user: User) -> QuerySet[HITType]:
    """HIT types with HITs that are not disposed of, the newest first."""
    living = HIT.objects.filter(hit_type=OuterRef("pk"), disposed_at=None)
    hit_types = HITType.objects.filter(Exists(living)).select_related("requester").order_by("-pk")
    return hit_types if user.is_staff else hit_types.filter(is_of(user, "requester__"))


def progress(types: list[HITType]) -> list[Progress]:
    """Progress of these types, in one query."""
    rows = (
        HIT.objects.filter(hit_type__in=types, disposed_at=None)
        .order_by()
        .values("hit_type")
        .annotate(
            hits=Count("pk"),
            all_places=Sum("max_assignments"),
            all_open=Sum("open_places"),
            all_pending=Sum("pending"),
            all_submitted=Sum("submitted"),
            all_approved=Sum("approved"),
            all_rejected=Sum("rejected"),
        )
    )
    sums = {row["hit_type"]: row for row in rows}
    return [
        Progress(
            hit_type=each,
            hits=row["hits"],
            total=row["all_places"],
            open=row["all_open"],
            pending=row["all_pending"],
            submitted=row["all_submitted"],
            approved=row["all_approved"],
            rejected=row["all_rejected"],
        )
        for each in types
        if (row := sums.get(each.pk))
    ]


def calls(user: User) -> QuerySet[CallLog]:
    """Calls of the protocol endpoint that this person may look at."""
    logged = CallLog.objects.select_related("requester").defer("parameters")
    return logged if user.is_staff else logged.filter(is_of(user, "requester__"))
