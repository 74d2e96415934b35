"""How a stage and each of its sources do: everything that its live page says."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import sqrt

from django.conf import settings
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Coalesce, TruncHour
from django.utils import timezone

from core.money import format_amount
from core.projects.models import Project
from crowd.budget import spent_in
from crowd.kinds import kind_of
from crowd.models import Assignment, Endpoint, Hit, LedgerEntry, Stage, StageSource
from crowd.selectors.known_people import describe_blockage
from crowd.selectors.operations import count_waiting_operations, operations_for_people
from crowd.selectors.wage import Wage, wage
from crowd.services.publication import places_by_source
from crowd.sources import SourcePlaces, places_of, source_rows, stage_at
from web.cache import MOMENT_SECONDS, cached

# What the stages of a project may spend together, beside what the project has.


def allotted_cents(project: Project, *, without: Stage | None = None) -> int:
    """The budgets of a project's stages together, or of all but one."""
    rows = Stage.objects.filter(project=project)
    if without is not None:
        rows = rows.exclude(pk=without.pk)
    return rows.aggregate(cents=Sum("budget_cents"))["cents"] or 0


def over_budget(project: Project, *, stage: Stage | None = None, budget_cents: int = 0) -> str:
    """A caution where all stages exceed the project's budget with this one at this budget; else nothing."""
    others = allotted_cents(project, without=stage)
    together = others + budget_cents
    if together <= project.budget_cents:
        return ""
    sums, budget = (
        format_amount(each, settings.MARKETPLACE_CURRENCY) for each in (together, project.budget_cents)
    )
    return (
        f"The stages' budgets are {sums} together, more than the project's {budget}, which ends the stages "
        "early. Raise the project's budget, or lower theirs."
    )


_HOUR = timedelta(hours=1)
#: Only what came in so lately tells the pace.
_LATELY = 12
#: Below so many submissions nothing is said.
ENOUGH = 5
_Z = 1.96
#: The spread of fewer hours is luck.
_LEAST_HOURS = 3


@dataclass(frozen=True, slots=True)
class Pace:
    """Submissions per hour over the last `hours`, and when what is missing would be in at that pace.

    `soonest` and `latest` are the ends of a 95 % interval of the pace; `latest` is None where it reaches down
    to nothing, so that nobody can tell.
    """

    per_hour: float
    submissions: int
    hours: float
    likely: datetime
    soonest: datetime
    latest: datetime | None


def pace(
    per_hour: Sequence[tuple[datetime, int]], missing: int, per_submission: int, now: datetime
) -> Pace | None:
    """The pace from counts of submissions by the hour that they came in; None where nothing tells.

    `missing` answers come `per_submission` at a time. The pace is the mean over the hours since the first of
    the last twelve in which something came. Its standard error is the larger one of the Poisson
    distribution's and of the spread between the hours: people come in bursts. Nights and weekends to come are
    not foreseen.
    """
    this_hour = now.replace(minute=0, second=0, microsecond=0)
    counts = {hour: count for hour, count in per_hour if hour > this_hour - _LATELY * _HOUR}
    submissions = sum(counts.values())
    if submissions < ENOUGH or missing < 1:
        return None
    first = min(counts)
    hours = max((now - first) / _HOUR, 0.25)
    rate = submissions / hours
    error = max(sqrt(submissions) / hours, _spread(counts, first, this_hour))
    low, high = rate - _Z * error, rate + _Z * error
    work = missing / max(1, per_submission)
    return Pace(
        rate,
        submissions,
        hours,
        now + work / rate * _HOUR,
        now + work / high * _HOUR,
        now + work / low * _HOUR if low > 0 else None,
    )


def _spread(counts: dict[datetime, int], first: datetime, last: datetime) -> float:
    """Standard error of the mean over whole hours; the running one is left out."""
    hourly_counts = [counts.get(first + number * _HOUR, 0) for number in range(int((last - first) / _HOUR))]
    if len(hourly_counts) < _LEAST_HOURS:
        return 0.0
    mean = sum(hourly_counts) / len(hourly_counts)
    return sqrt(
        sum((count - mean) ** 2 for count in hourly_counts) / (len(hourly_counts) - 1) / len(hourly_counts)
    )


#: States in which a worker does not have a place any more.
_GONE = (Assignment.State.ENDED, Assignment.State.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of a stage.

    `expired_places` expired before a worker took them, `waiting_decisions` are units that have their answers
    and about which the next round decides.
    """

    hits: dict[str, int] = field(default_factory=dict)
    assignments: dict[str, int] = field(default_factory=dict)
    places: int = 0
    open_places: int = 0
    expired_places: int = 0
    held: int = 0
    simulated: int = 0
    units_missing: int = 0
    answers_missing: int = 0
    waiting_decisions: int = 0
    per_hour: list[tuple[datetime, int]] = field(default_factory=list)
    pace: Pace | None = None

    @property
    def answered(self) -> int:
        """Assignments whose answer is stored and not rejected."""
        return sum(self.assignments.get(state, 0) for state in Assignment.GOOD)


def stage_progress(stage: Stage) -> Progress:
    """Counts by state, submissions per hour of three days, and when it may be done, in few queries."""
    now = timezone.now()
    hits = dict(Hit.objects.filter(stage=stage).values_list("state").annotate(n=Count("pk")))
    totals = Hit.objects.filter(stage=stage).aggregate(
        all=Sum("places"),
        open=Sum("places", filter=Q(state__in=[Hit.State.PLANNED, Hit.State.OPEN])),
        closed=Sum("places", filter=Q(state=Hit.State.CLOSED)),
    )
    mine = Assignment.objects.filter(stage=stage)
    states = dict(mine.values_list("state").annotate(n=Count("pk")))
    marks = mine.aggregate(
        held=Count("pk", filter=Q(held=True)),
        simulated=Count("pk", filter=Q(worker__simulated=True)),
        in_open=Count(
            "pk",
            filter=Q(hit__state__in=[Hit.State.PLANNED, Hit.State.OPEN]) & ~Q(state__in=_GONE),
        ),
        in_closed=Count("pk", filter=Q(hit__state=Hit.State.CLOSED) & ~Q(state__in=_GONE)),
    )
    per_hour = list(
        mine.filter(stored_at__gte=now - timedelta(days=3))
        .annotate(hour=TruncHour("stored_at"))
        .values_list("hour")
        .annotate(n=Count("pk"))
        .order_by("hour")
    )
    kind, units, missing = kind_of(stage), 0, 0
    for item in kind.pending(stage):  # a million of them are no list
        units, missing = units + 1, missing + item.missing
    return Progress(
        hits=hits,
        assignments=states,
        places=totals["all"] or 0,
        open_places=max(0, (totals["open"] or 0) - marks["in_open"]),
        expired_places=max(0, (totals["closed"] or 0) - marks["in_closed"]),
        held=marks["held"],
        simulated=marks["simulated"],
        units_missing=units,
        answers_missing=missing,
        waiting_decisions=kind.count_waiting_decisions(stage),
        per_hour=per_hour,
        pace=pace(per_hour, missing, stage.units_per_hit, now) if stage.status == Stage.Status.OPEN else None,
    )


#: Held work is alarmed so long before time approves it.
BEFORE_AUTO_APPROVAL = (timedelta(hours=24), timedelta(hours=48))
_EXPIRING_WITHIN = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Alarm:
    """A sentence, how urgent it is ("now" or "soon"), and the part of the stage's page that it is about."""

    level: str
    sentence: str
    about: str


def alarms(stage: Stage) -> list[Alarm]:
    """What is urgent about a stage, the most urgent first."""
    now = timezone.now()
    alarm_list: list[Alarm] = []
    if unknown := operations_for_people(stage).count():
        sentence = _count(unknown, "operation needs", "operations need")
        alarm_list.append(
            Alarm("now", f"{sentence} your decision: the marketplace did not answer.", "operations")
        )
    held_assignments = Assignment.objects.filter(stage=stage, held=True, state=Assignment.State.SUBMITTED)
    for within, level in zip(BEFORE_AUTO_APPROVAL, ("now", "soon"), strict=True):
        if count := held_assignments.filter(auto_approve_at__lte=now + within).count():
            hours = int(within.total_seconds() // 3600)
            sentence = _count(count, "held assignment is", "held assignments are")
            alarm_list.append(
                Alarm(level, f"{sentence} approved automatically within {hours} hours.", "review")
            )
            break
    if count := Assignment.objects.filter(
        stage=stage, state=Assignment.State.QUARANTINED, decided_at=None, submitted_at__isnull=False
    ).count():
        sentence = _count(count, "submission in quarantine waits", "submissions in quarantine wait")
        alarm_list.append(Alarm("soon", f"{sentence} for a look.", "review"))
    pay = wage(stage)
    if pay.below and pay.enough:
        alarm_list.append(Alarm("soon", "The work pays less per hour than the project's floor.", "cost"))
    if blockage := describe_blockage(stage):
        alarm_list.append(Alarm("now", blockage, "people"))
    left = stage.budget_cents - stage.reserved_cents - stage.spent_cents
    if stage.status == Stage.Status.OPEN and left * 10 < stage.budget_cents:
        alarm_list.append(Alarm("soon", "Less than a tenth of the stage's budget is left.", "cost"))
    if count := Hit.objects.filter(
        stage=stage, state=Hit.State.OPEN, expires_at__range=(now, now + _EXPIRING_WITHIN)
    ).count():
        alarm_list.append(
            Alarm("soon", f"{_count(count, 'HIT expires', 'HITs expire')} within a day.", "hits")
        )
    return alarm_list


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


@dataclass(frozen=True, slots=True)
class StageStatus:
    """Counts, pay, alarms and what was spent; `counted_at` is None where all of it is of this moment."""

    progress: Progress
    pay: Wage
    alarms: list[Alarm]
    waiting: int
    rewards_cents: int
    fees_cents: int
    counted_at: datetime | None = None


def standing(stage: Stage) -> StageStatus:
    """The status of a stage; where counting it takes long, as it was a while ago."""
    key = ("stage-status", stage.pk, stage.status, stage.budget_cents, stage.redundancy)
    counted_at, status = cached(key, lambda: (timezone.now(), _build_status(stage)), dated=True)
    is_of_now = timezone.now() - counted_at < timedelta(seconds=MOMENT_SECONDS)
    return status if is_of_now else replace(status, counted_at=counted_at)


def _build_status(stage: Stage) -> StageStatus:
    spent = spent_in(LedgerEntry.objects.filter(stage=stage))
    progress, urgent = stage_progress(stage), alarms(stage)
    if any(alarm.about == "people" for alarm in urgent):
        progress = replace(progress, pace=None)  # it would promise an end
    return StageStatus(
        progress=progress,
        pay=wage(stage),
        alarms=urgent,
        waiting=count_waiting_operations(stage),
        rewards_cents=spent.cents,
        fees_cents=spent.fee_cents,
    )


_Kind = LedgerEntry.Kind


@dataclass(frozen=True, slots=True)
class SourceMoney:
    """What a source has cost and what is set aside for it, in cents."""

    spent_cents: int = 0
    fee_cents: int = 0
    reserved_cents: int = 0

    @property
    def total_cents(self) -> int:
        """Spent with fees."""
        return self.spent_cents + self.fee_cents


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A source with what became of its part; `states` counts its assignments."""

    row: StageSource
    source_stage: Stage
    places: SourcePlaces
    money: SourceMoney
    pay: Wage
    states: dict[str, int] = field(default_factory=dict)

    @property
    def endpoint(self) -> Endpoint:
        """Where its people are."""
        return self.row.endpoint

    @property
    def is_panel(self) -> bool:
        """Whether it has a study at a panel."""
        return self.row.endpoint.is_panel

    @property
    def undecided(self) -> int:
        """Submitted work that waits for a decision."""
        return self.states.get(Assignment.State.SUBMITTED, 0)

    @property
    def at_work(self) -> int:
        """Begun, and not sent yet."""
        return self.states.get(Assignment.State.WORKING, 0)

    @property
    def share_of_answers(self) -> float | None:
        """Its answers of those that were asked of it so far; None before any."""
        requested = self.places.answers + self.places.on_offer
        return self.places.answers / requested if requested else None


def source_status(stage: Stage) -> Sequence[SourceStatus]:
    """All sources of a stage that has several, in their order; a fixed number of queries for each."""
    rows = source_rows(stage)
    if not rows:
        return ()
    places, money = places_by_source(stage), money_by_endpoint(stage)
    counts = Assignment.objects.filter(stage=stage).order_by().values_list("worker__endpoint", "state")
    states: dict[int, dict[str, int]] = {}
    for endpoint, state, count in counts.annotate(n=Count("pk")):
        states.setdefault(endpoint, {})[state] = count
    return [
        SourceStatus(
            row=row,
            source_stage=stage_at(stage, row.endpoint),
            places=places_of(row, places),
            money=money.get(row.endpoint_id, SourceMoney()),
            pay=wage(stage_at(stage, row.endpoint)),
            states=states.get(row.endpoint_id, {}),
        )
        for row in rows
    ]


def money_by_endpoint(stage: Stage) -> dict[int, SourceMoney]:
    """The stage's ledger by endpoint: of the operation, else of the worker, else of the HIT."""
    where = Coalesce(
        "operation__endpoint", "assignment__worker__endpoint", "hit__source__endpoint", F("stage__endpoint")
    )
    rows = (
        LedgerEntry.objects.filter(stage=stage).annotate(where=where).order_by().values_list("where", "kind")
    )
    sums: dict[int, dict[str, tuple[int, int]]] = {}
    for endpoint, kind, cents, fees in rows.annotate(cents_sum=Sum("cents"), fees_sum=Sum("fee_cents")):
        sums.setdefault(endpoint, {})[kind] = (cents, fees)
    money = {}
    for endpoint, by_kind in sums.items():
        spent, fee = by_kind.get(_Kind.SPEND, (0, 0))
        less, less_fee = by_kind.get(_Kind.REFUND, (0, 0))
        reserved = sum(by_kind.get(_Kind.RESERVE, (0, 0))) - sum(by_kind.get(_Kind.RELEASE, (0, 0)))
        money[endpoint] = SourceMoney(spent - less, fee - less_fee, reserved - spent - fee)
    return money
