"""What the desk shows of requesters, their HITs, and the calls of their scripts."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum

from marketplace import clock
from marketplace.models import HIT, AccessKey, CallLog, HITType, Requester, RequesterMember
from marketplace.services.accesskeys import valid_at
from marketplace.services.members import with_role_of


@dataclass(frozen=True, slots=True)
class Part:
    """Assignments in one state, and their piece of the bar."""

    key: str
    words: str
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
        for key, words, count in counts:
            width = 1000 * count / self.total if self.total else 0
            parts.append(Part(key=key, words=words, count=count, x=round(x, 1), width=round(width, 1)))
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


def hit_types(user: User) -> QuerySet[HITType]:
    """HIT types with HITs that are not disposed of, the newest first."""
    living = HIT.objects.filter(hit_type=OuterRef("pk"), disposed_at=None)
    found = HITType.objects.filter(Exists(living)).select_related("requester").order_by("-pk")
    return found if user.is_staff else found.filter(is_of(user, "requester__"))


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
