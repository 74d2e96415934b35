"""What the crowd tells people and programs: rules of notices (`core.notices.conditions`), and webhooks.

Webhooks of projects hear of stages, of answers that arrive, and of how far stages are.
"""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Count, Exists, F, IntegerField, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse

from core.money import format_amount
from core.notices.conditions import Condition
from core.notices.models import Notice
from core.origin import Owner
from core.projects.models import Event, Project
from core.webhooks.events import Step, StepWatch, emit, page_address
from crowd.models import (
    Assignment,
    DispatchEpoch,
    DispatchHalt,
    Endpoint,
    Hit,
    MarketOperation,
    Stage,
    StageSource,
)
from crowd.outbox import epoch
from crowd.selectors.known_people import describe_blockage

# Marketplaces that nothing is sent to, because the database was restored from a backup.

#: So long after a host that knows the database last said so, no host that knows it runs.
_VOUCHED = timedelta(minutes=2)
_LIVING = (Stage.Status.OPEN, Stage.Status.PAUSED)


def halted(now: datetime) -> Iterator[Condition]:
    """Projects with stages at a marketplace that waits for a comparison, or that no host may send to."""
    halts = DispatchHalt.objects.select_related("endpoint").order_by("pk")
    for halt in halts:
        stages = Stage.objects.filter(project=OuterRef("pk"), endpoint=halt.endpoint_id)
        yield from _conditions_of_projects(
            Q(Exists(stages)),
            f"halted:{halt.endpoint_id}",
            f"Nothing is sent to {halt.endpoint.label}: the database was restored from a backup. An "
            f"administrator has to run `{epoch.COMMAND}`.",
        )
    if not halts and epoch.unsure() and _none_vouches(now):
        stages = Stage.objects.filter(project=OuterRef("pk"), status__in=_LIVING)
        yield from _conditions_of_projects(
            Q(Exists(stages)),
            "halted:folder",
            "Nothing is sent to any marketplace: the data folder of the jobs worker does not know this "
            "database. An administrator finds the command in `manage.py doctor`.",
        )


def _none_vouches(now: datetime) -> bool:
    return not DispatchEpoch.objects.filter(vouched_at__gt=now - _VOUCHED).exists()


def _conditions_of_projects(which: Q, key: str, sentence: str) -> Iterator[Condition]:
    for pk, slug in Project.objects.filter(which).order_by("pk").values_list("pk", "slug"):
        address = reverse("desk:project", args=[slug])
        yield Condition(pk, "halted", key, Notice.Level.ALARM, sentence[:300], address)


# Budgets that come to their end while stages are open.

_OPEN = Stage.Status.OPEN


def low_or_reached(now: datetime) -> Iterator[Condition]:
    """Less than a tenth is left of a project or unspent in a stage; or publishing stopped for want of money.

    A stage whose places are all on offer has its money set aside, and that is no trouble; so for a stage it
    is what was spent that counts.
    """
    yield from _projects()
    short = Q(budget_cents__gt=10 * (F("budget_cents") - F("reserved_cents") - F("spent_cents")))
    stages = (
        Stage.objects.filter(short, status=_OPEN, budget_cents__gt=0)
        .select_related("project", "endpoint")
        .annotate(last=last_action())
        .order_by("pk")
    )
    for stage in stages:
        unspent = stage.budget_cents - stage.spent_cents
        if stage.last == "stage.budget_reached":
            yield Condition(
                stage.project_id,
                "budget_reached",
                f"budget_reached:stage:{stage.pk}",
                Notice.Level.ALARM,
                f"{stage.title} asks no one else: its budget of {_money(stage.budget_cents, stage)} or the "
                "project's is used up or reserved. Raise it, or ask fewer people for each unit.",
                at("stage", stage),
            )
        elif unspent * 10 < stage.budget_cents:
            yield Condition(
                stage.project_id,
                "budget_low",
                f"budget_low:stage:{stage.pk}",
                Notice.Level.WARNING,
                f"Less than a tenth of the budget of {stage.title} is unspent: {_money(unspent, stage)} of "
                f"{_money(stage.budget_cents, stage)}.",
                at("stage", stage),
            )


def _projects() -> Iterator[Condition]:
    open_stage = Stage.objects.filter(project=OuterRef("pk"), status=_OPEN)
    rows = Project.objects.filter(
        Exists(open_stage),
        budget_cents__gt=10 * (F("budget_cents") - F("reserved_cents") - F("spent_cents")),
    ).order_by("pk")
    for project in rows:
        left = project.budget_cents - project.reserved_cents - project.spent_cents
        yield Condition(
            project.pk,
            "budget_low",
            "budget_low:project",
            Notice.Level.WARNING,
            f"Less than a tenth of the project's budget is left: {_in_project(left)} of "
            f"{_in_project(project.budget_cents)} is neither spent nor reserved.",
            reverse("desk:project", args=[project.slug]),
        )


def _money(cents: int, stage: Stage) -> str:
    return format_amount(cents, stage.endpoint.currency)


def _in_project(cents: int) -> str:
    return format_amount(cents, settings.MARKETPLACE_CURRENCY)


# HITs that expire with places open, and work that time approves before a person looked at it.

#: How long before it happens people hear of it.
AHEAD = timedelta(hours=24)
_GONE = (Assignment.State.ENDED, Assignment.State.QUARANTINED)


def expiring(now: datetime) -> Iterator[Condition]:
    """Open HITs that expire within a day although some of their places were not taken."""
    used_places = (
        Assignment.objects.filter(hit=OuterRef("pk"))
        .exclude(state__in=_GONE)
        .order_by()
        .values("hit")
        .annotate(n=Count("pk"))
        .values("n")
    )
    rows = (
        Hit.objects.filter(
            state=Hit.State.OPEN,
            expires_at__range=(now, now + AHEAD),
            stage__status__in=(Stage.Status.OPEN, Stage.Status.PAUSED),
        )
        .alias(free=F("places") - Coalesce(Subquery(used_places, output_field=IntegerField()), 0))
        .filter(free__gt=0)
        .order_by()
        .values("stage")
        .annotate(hits=Count("pk"), open=Sum("free"))
    )
    counts = {row["stage"]: (row["hits"], row["open"]) for row in rows}
    for stage in named(counts):
        hits, places = counts[stage.pk]
        expire = "1 HIT expires" if hits == 1 else f"{hits:,} HITs expire"
        free = "1 place" if places == 1 else f"{places:,} places"
        yield Condition(
            stage.project_id,
            "expiring",
            f"expiring:{stage.pk}",
            Notice.Level.WARNING,
            f"{expire} within a day with {free} open in {stage.title}. Give them more time, or let "
            "the stage offer them again.",
            f"{at('hits', stage)}?state=open",
        )


def auto_approval(now: datetime) -> Iterator[Condition]:
    """Submitted work that a person should decide about, and that approves itself within a day."""
    rows = (
        Assignment.objects.filter(
            Q(held=True) | Q(stage__approve_at_once=False),
            state=Assignment.State.SUBMITTED,
            auto_approve_at__range=(now, now + AHEAD),
        )
        .order_by()
        .values("stage")
        .annotate(n=Count("pk"), held=Count("pk", filter=Q(held=True)), first=Min("auto_approve_at"))
    )
    counts = {row["stage"]: row for row in rows}
    for stage in named(counts):
        row = counts[stage.pk]
        what = "submission is" if row["n"] == 1 else "submissions are"
        aside = f" ({row['held']:,} of them held)" if row["held"] else ""
        yield Condition(
            stage.project_id,
            "auto_approval",
            f"auto_approval:{stage.pk}",
            Notice.Level.ALARM,
            f"{row['n']:,} {what} approved automatically within a day{aside} in {stage.title}, the first on "
            f"{row['first']:%-d %B at %H:%M} UTC.",
            f"{at('work', stage)}?state={'held' if row['held'] == row['n'] else 'waiting'}",
        )


# Stages where nothing moves: nothing is sent, a person must decide, or the work is done.

#: An open stage with open HITs is stuck when nobody sent anything for so long.
QUIET = timedelta(hours=12)
#: A stage is finished when nothing happened after its last HIT closed for so long.
SETTLED = timedelta(minutes=10)
#: So many of a stage's assignments are looked at first.
_NEWEST = 2_000
_ON_OFFER = (Hit.State.PLANNED, Hit.State.OPEN)


def stuck(now: datetime) -> Iterator[Condition]:
    """Open stages with HITs on offer where nobody sent anything for half a day."""
    since = now - QUIET
    offered = Hit.objects.filter(stage=OuterRef("pk"), state=Hit.State.OPEN, published_at__lt=since)
    undated = Hit.objects.filter(stage=OuterRef("pk"), state=Hit.State.OPEN, published_at=None)
    rows = (
        Stage.objects.filter(Exists(offered) | Exists(undated), status=Stage.Status.OPEN, opened_at__lt=since)
        .select_related("project")
        .order_by("pk")
    )
    for stage in _without_work_since(rows, since):
        hours = int(QUIET.total_seconds()) // 3600
        yield Condition(
            stage.project_id,
            "stuck",
            f"stuck:{stage.pk}",
            Notice.Level.WARNING,
            f"Nothing was submitted to {stage.title} for {hours} hours, although it has "
            "HITs on offer. Check whether the pay is enough and whether workers qualify for them.",
            at("stage", stage),
        )


def blocked(now: datetime) -> Iterator[Condition]:
    """Open stages on study links of which no one who is left may do anything."""
    links = StageSource.objects.filter(stage=OuterRef("pk"), endpoint__protocol=Endpoint.Protocol.LINK)
    rows = Stage.objects.filter(
        Q(endpoint__protocol=Endpoint.Protocol.LINK) | Exists(links), status=Stage.Status.OPEN
    )
    for stage in rows.select_related("project", "endpoint").order_by("pk"):
        if sentence := describe_blockage(stage):
            yield Condition(
                stage.project_id,
                "blocked",
                f"blocked:{stage.pk}",
                Notice.Level.WARNING,
                f"{stage.title}: {sentence}"[:300],
                at("stage", stage),
            )


def _without_work_since(stages: QuerySet[Stage], since: datetime) -> list[Stage]:
    """Those of the stages to which nobody sent anything since then.

    Of a million assignments only the newest are looked at, unless those before them may be as new: work comes
    within the stage's time after it was taken.
    """
    mine = Assignment.objects.filter(stage=OuterRef("pk")).order_by("-pk")
    # One query further in: there the stage is the outer query's outer row.
    of_stage = Assignment.objects.filter(stage=OuterRef(OuterRef("pk"))).order_by("-pk")
    newest = Assignment.objects.filter(pk__in=of_stage.values("pk")[:_NEWEST])
    rows = stages.annotate(before=Subquery(mine.values("arrived_at")[_NEWEST : _NEWEST + 1]))
    quiet = list(rows.exclude(Exists(newest.filter(stored_at__gte=since))))
    unsure = {
        stage.pk
        for stage in quiet
        if stage.before is not None and stage.before >= since - timedelta(seconds=stage.work_seconds)
    }
    if unsure:
        sent = Assignment.objects.filter(stage__in=unsure, stored_at__gte=since)
        unsure &= set(sent.order_by().values_list("stage", flat=True).distinct())
    return [stage for stage in quiet if stage.pk not in unsure]


def undecided(now: datetime) -> Iterator[Condition]:
    """Calls to a marketplace that nobody answered, and that a person must decide about."""
    rows = (
        MarketOperation.objects.filter(
            needs_person=True, state=MarketOperation.State.UNKNOWN, stage__isnull=False
        )
        .order_by()
        .values("stage")
        .annotate(n=Count("pk"))
    )
    counts = {row["stage"]: row["n"] for row in rows}
    for stage in named(counts):
        count = counts[stage.pk]
        needs = "operation needs" if count == 1 else "operations need"
        yield Condition(
            stage.project_id,
            "undecided",
            f"undecided:{stage.pk}",
            Notice.Level.ALARM,
            f"{count:,} {needs} your decision in {stage.title}: the marketplace did not answer.",
            at("decisions", stage),
        )


def finished(now: datetime) -> Iterator[Condition]:
    """Open stages that published, with nothing on offer and nothing undecided, and with budget left."""
    hits = Hit.objects.filter(stage=OuterRef("pk"))
    going = Assignment.objects.filter(
        Q(state__in=(Assignment.State.STORED, Assignment.State.SUBMITTED)) | Q(decided_at__gt=now - SETTLED),
        stage=OuterRef("pk"),
    )
    rows = (
        Stage.objects.filter(
            Exists(hits.filter(state=Hit.State.CLOSED)), status=Stage.Status.OPEN, planner=None
        )
        .exclude(Exists(hits.filter(state__in=_ON_OFFER)))
        .exclude(Exists(going))
        .annotate(last=last_action())
        .select_related("project")
        .order_by("pk")
    )
    stages = {stage.pk: stage for stage in rows if stage.last != "stage.budget_reached"}
    ends = dict(
        Assignment.objects.filter(stage__in=stages, state=Assignment.State.APPROVED)
        .order_by()
        .values_list("stage")
        .annotate(Max("decided_at"))
    )
    for pk, stage in stages.items():
        if pk not in ends:
            continue
        yield Condition(
            stage.project_id,
            "finished",
            f"finished:{pk}",
            Notice.Level.NEWS,
            f"{stage.title} has all the work it asked for. Look at it, then close the stage.",
            at("stage", stage),
        )


def named(keys: Iterable[int]) -> list[Stage]:
    """These stages with their projects, in one query; none where there is no key."""
    stage_ids = list(keys)
    if not stage_ids:
        return []
    return list(Stage.objects.filter(pk__in=stage_ids).select_related("project", "endpoint").order_by("pk"))


def at(page: str, stage: Stage) -> str:
    """Path of a page of a stage."""
    return reverse(f"desk:{page}", args=[stage.project.slug, stage.slug])


def last_action() -> Subquery:
    """What the event log says last of each stage of a query; publishing notes there that money ended it."""
    events = Event.objects.filter(project=OuterRef("project"), subject=OuterRef("slug")).order_by("-pk")
    return Subquery(events.values("action")[:1])


_PROJECT = Owner.Kind.PROJECT
_STAGE = "desk:stage"
#: Parts of a stage that are told of.
_STEPS = 10


def tell_arrival(assignment: Assignment, at: datetime) -> None:
    """Write messages about work that was just stored, in its transaction. The worker is not named."""
    stage = assignment.stage

    def data() -> dict[str, object]:
        return {"project": stage.project.slug, "stage": stage.slug, "assignment": assignment.pk}

    emit(Owner(_PROJECT, stage.project_id), "answer.arrived", data, at=at)


def progress_steps(projects: Collection[int], now: datetime) -> Iterator[Step]:
    """Open stages of these projects and how many tenths of their places are answered."""
    counted = (
        Assignment.objects.filter(state__in=Assignment.GOOD, stage=OuterRef("pk")).order_by().values("stage")
    )
    offered = Hit.objects.filter(stage=OuterRef("pk")).order_by().values("stage")
    rows = (
        Stage.objects.filter(project__in=projects, status__in=(Stage.Status.OPEN, Stage.Status.PAUSED))
        .select_related("project")
        .annotate(
            answered=Coalesce(Subquery(counted.annotate(n=Count("pk")).values("n")), 0),
            places=Coalesce(Subquery(offered.annotate(n=Sum("places")).values("n")), 0),
        )
        .order_by("pk")
    )
    for stage in rows:
        tenths = min(_STEPS, stage.answered * _STEPS // stage.places) if stage.places else 0
        if tenths:
            yield Step(
                stage.project_id,
                f"stage.progress:{stage.pk}",
                tenths,
                {
                    "project": stage.project.slug,
                    "stage": stage.slug,
                    "percent": tenths * (100 // _STEPS),
                    "answered": stage.answered,
                    "places": stage.places,
                    "address": page_address(reverse(_STAGE, args=[stage.project.slug, stage.slug])),
                },
            )


WATCH = StepWatch("stage.progress", _PROJECT, progress_steps)
