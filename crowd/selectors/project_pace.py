"""What an hour of a project's work pays, and when its open stages are done; nothing where that misleads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import TypeVar, cast

from django.core.cache import cache
from django.db.models import Count, Min, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.models import Assignment, Endpoint, Stage
from crowd.selectors import wage
from crowd.selectors.work_lists import StageCard
from people.models import StudyLink

_Figure = TypeVar("_Figure")
#: As long as the counts of the sidebar.
_COUNTED_SECONDS = 30
#: What came in so lately tells the pace; fewer answers tell nothing.
LATELY = timedelta(days=3)
_ENOUGH = 5
_LEAST = timedelta(minutes=15)
_MOST_LOOKED_AT = 1_000


@dataclass(frozen=True, slots=True)
class HourlyPay:
    """The median of what an hour paid, of so many assignments; None for the `reason`."""

    cents: int | None
    assignments: int
    currency: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedEnd:
    """When the slowest open stage has all answers at the pace of the last days; None for the `reason`."""

    at: datetime | None
    reason: str = ""


def pay_of(project: Project) -> HourlyPay:
    """What an hour of those who are paid came to; counted again after each event of the project."""
    return _kept("hourly-pay", project, lambda: _count_pay(project))


def _kept(name: str, project: Project, count: Callable[[], _Figure]) -> _Figure:
    """A figure of some seconds ago, unless something happened in the project."""
    key = f"{name}:{project.pk}:{last_event(project, '')}"
    return cast(_Figure, cache.get_or_set(key, count, _COUNTED_SECONDS))


def _count_pay(project: Project) -> HourlyPay:
    paying = (StudyLink.Compensation.PANEL, StudyLink.Compensation.MONEY)
    by_link = Q(worker__endpoint__protocol=Endpoint.Protocol.LINK)
    rows = Assignment.objects.filter(
        stage__project=project, state__in=Assignment.GOOD, stored_at__isnull=False, hit__compensates=None
    )
    if not StudyLink.objects.filter(project=project, compensation__in=paying).exists():
        rows = rows.exclude(by_link)
    newest = (
        rows.annotate(cents=Coalesce("paid_cents", "hit__reward_cents"))
        .filter(cents__gt=0)
        .order_by("-pk")
        .values_list(
            "cents", "telemetry", "arrived_at", "stored_at", "worker__endpoint__currency", "worker__simulated"
        )[:_MOST_LOOKED_AT]
    )
    looked_at = list(newest)
    real = [row for row in looked_at if not row[5]]
    currencies = {row[4] for row in real}
    if not real:
        reason = "only simulated people were paid" if looked_at else "nobody was paid yet"
        return HourlyPay(None, 0, reason=reason)
    if len(currencies) > 1:
        return HourlyPay(None, len(real), reason=f"paid in {' and '.join(sorted(currencies))}")
    if len(real) < wage.ENOUGH:
        return HourlyPay(None, len(real), reason=f"of {wage.ENOUGH} paid assignments or more")
    hourly = median(
        cents * 3600 / max(1.0, wage.active_seconds(telemetry, arrived_at, stored_at or arrived_at))
        for cents, telemetry, arrived_at, stored_at, *_ in real
    )
    return HourlyPay(int(hourly), len(real), currencies.pop())


def end_of(project: Project, cards: Sequence[StageCard], *, stopped: bool) -> ExpectedEnd:
    """When the open stages are done; `stopped`: one of them cannot finish."""
    unfinished = [card for card in cards if card.stage.status == Stage.Status.OPEN and card.done < card.total]
    if not any(card.stage.status == Stage.Status.OPEN for card in cards):
        return ExpectedEnd(None, "no stage is open")
    if stopped:
        return ExpectedEnd(None, "a stage cannot finish: see above")
    if not unfinished:
        return ExpectedEnd(None, "all answers that were asked for are in")
    now, paces = timezone.now(), _paces(project)
    ends = []
    for card in unfinished:
        count, span = paces.get(card.stage.pk, (0, LATELY))
        if count < _ENOUGH:
            answers = "no answer" if not count else "1 answer" if count == 1 else f"{count} answers"
            return ExpectedEnd(None, f"{card.stage.title} got {answers} in three days")
        ends.append(now + span * (card.total - card.done) / count)
    return ExpectedEnd(max(ends))


def _paces(project: Project) -> dict[int, tuple[int, timedelta]]:
    """By stage: how many answers came in lately, and since how long."""
    now = timezone.now()
    lately = Assignment.objects.filter(
        stage__project=project, state__in=Assignment.GOOD, stored_at__gte=now - LATELY
    )
    counts = lately.order_by().values_list("stage").annotate(count=Count("pk"), first=Min("stored_at"))
    rows = _kept("paces", project, lambda: list(counts))
    return {stage: (count, max(now - first, _LEAST)) for stage, count, first in rows}
