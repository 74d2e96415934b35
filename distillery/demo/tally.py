"""The demonstration in numbers for `summary.json`: its stages, the books of sources; money in cents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from annotation.models import Answer, AnswerFlag, Query
from core.projects.models import Project
from crowd.models import Assignment, Hit, HitUnit, LedgerEntry, Stage
from distillery.demo.answers import summarise
from distillery.demo.publication import ReleaseSummary

State = Assignment.State


@dataclass(frozen=True)
class StageSummary:
    """What a stage asked for and what came of it. `wall_seconds` is how long its crowd and its owner took."""

    stage: str
    kind: str
    status: str
    units: int
    assignments: int
    approved: int
    rejected: int
    paid_cents: int
    fee_cents: int
    reserved_cents: int
    wall_seconds: float


@dataclass(frozen=True)
class MiddleSummary:
    """What goes on only when somebody acts."""

    project: str
    queries: dict[str, int]
    ties: int
    flagged: int
    answers_to_review: int
    work_to_decide: int
    open_hits: int


def tally(stages: Iterable[Stage], seconds: Mapping[int, float]) -> list[StageSummary]:
    """The stages, in their order. `seconds` by a stage's primary key; those who were not timed have 0."""
    return [_one(stage, seconds.get(stage.pk, 0.0)) for stage in stages]


def _one(stage: Stage, seconds: float) -> StageSummary:
    stage.refresh_from_db()
    asked = HitUnit.objects.filter(hit__stage=stage).exclude(role=HitUnit.Role.CHECK)
    work = Assignment.objects.filter(stage=stage).aggregate(
        submitted=Count("pk", filter=Q(state__in=[*Assignment.GOOD, State.REJECTED])),
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
    )
    spent = LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND)
    money = spent.aggregate(rewards=Sum("cents", default=0), fees=Sum("fee_cents", default=0))
    return StageSummary(
        stage=f"{stage.project.slug}/{stage.slug}",
        kind=stage.kind,
        status=stage.status,
        units=asked.values("unit").distinct().count(),
        assignments=work["submitted"],
        approved=work["approved"],
        rejected=work["rejected"],
        paid_cents=money["rewards"],
        fee_cents=money["fees"],
        reserved_cents=stage.reserved_cents,
        wall_seconds=round(seconds, 2),
    )


def waiting_in(project: Project) -> MiddleSummary:
    """What waits, counted."""
    undecided = Answer.objects.filter(query__project=project, state=Answer.State.UNDECIDED)
    waiting = Assignment.objects.filter(stage__project=project, state=Assignment.State.SUBMITTED)
    queries = summarise(project, 0).queries
    return MiddleSummary(
        project=project.slug,
        queries=queries,
        ties=queries.get(Query.Status.TIED, 0),
        flagged=AnswerFlag.objects.filter(answer__in=undecided).values("answer").distinct().count(),
        answers_to_review=undecided.count(),
        work_to_decide=waiting.count(),
        open_hits=Hit.objects.filter(stage__project=project, state=Hit.State.OPEN).count(),
    )


# The books of a study over several sources: our ledger beside what each other side says; money in cents.


@dataclass(frozen=True)
class SourceBooks:
    """What one source was asked for, paid and charged: by our ledger, and by the other side; in cents.

    A study link has no other side that plans or charges; what was paid follows there from the list of its
    people, for as many tasks as each has finished.
    """

    source: str
    people: int
    answers: int
    planned_cents: int
    their_planned_cents: int | None
    paid_cents: int
    their_paid_cents: int
    fee_cents: int
    their_fee_cents: int | None

    @property
    def agree(self) -> bool:
        """Both sides say the same, to the cent."""
        pairs = (
            (self.planned_cents, self.their_planned_cents),
            (self.paid_cents, self.their_paid_cents),
            (self.fee_cents, self.their_fee_cents),
        )
        return all(theirs in (None, ours) for ours, theirs in pairs)


@dataclass(frozen=True)
class SourcesSummary:
    """The study over three sources, with the address of its link, which stays open."""

    project: str
    stages: list[str]
    answers: int
    judgments: int
    books: list[SourceBooks]
    agree: bool
    release: ReleaseSummary
    link: str
    link_page: str
    wall_seconds: float

    @property
    def paid_here(self) -> tuple[int, int]:
        """Rewards and fees of this marketplace."""
        here = self.books[0]
        return here.paid_cents, here.fee_cents
