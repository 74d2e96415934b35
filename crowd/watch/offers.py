"""HITs that expire with places open, and work that time approves before a person looked at it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Count, F, IntegerField, Min, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from core.notices.conditions import Condition
from core.notices.models import Notice
from crowd.models import Assignment, Hit, Stage
from crowd.watch.stages import at, named

#: How long before it happens people hear of it.
AHEAD = timedelta(hours=24)
_GONE = (Assignment.State.ENDED, Assignment.State.QUARANTINED)


def expiring(now: datetime) -> Iterator[Condition]:
    """Open HITs that expire within a day although some of their places were not taken."""
    taken = (
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
        .alias(free=F("places") - Coalesce(Subquery(taken, output_field=IntegerField()), 0))
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
        what = "submission approves itself" if row["n"] == 1 else "submissions approve themselves"
        held = f" ({row['held']:,} of them held)" if row["held"] else ""
        yield Condition(
            stage.project_id,
            "auto_approval",
            f"auto_approval:{stage.pk}",
            Notice.Level.ALARM,
            f"{row['n']:,} {what} within a day{held} in {stage.title}, the first on "
            f"{row['first']:%-d %B at %H:%M} UTC.",
            f"{at('work', stage)}?state={'held' if row['held'] == row['n'] else 'waiting'}",
        )
