"""What an hour of a project's work pays, and when its open stages are done; nothing where that misleads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import cast

from django.core.cache import cache
from django.db.models import Exists, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from core.projects.models import Project
from crowd.models import Assignment, Endpoint, Stage
from crowd.selectors import wage
from crowd.selectors.work_lists import StageCard
from people.models import StudyLink

#: As long as the counts of the sidebar.
_COUNTED_SECONDS = 30
#: Fewer answers of the last days tell no pace.
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


def pay_of(project: Project, cards: Sequence[StageCard]) -> HourlyPay:
    """What an hour of those who are paid came to; counted again after each answer that came in."""
    states = hash(tuple((card.stage.pk, card.done) for card in cards))
    key = f"hourly-pay:{project.pk}:{states}"
    return cast(HourlyPay, cache.get_or_set(key, lambda: _count_pay(project), _COUNTED_SECONDS))


def _count_pay(project: Project) -> HourlyPay:
    paying = (StudyLink.Compensation.PANEL, StudyLink.Compensation.MONEY)
    by_link = Q(worker__endpoint__protocol=Endpoint.Protocol.LINK)
    rows = Assignment.objects.filter(
        stage__project=project, state__in=Assignment.GOOD, stored_at__isnull=False, hit__compensates=None
    )
    links = StudyLink.objects.filter(project=project, compensation__in=paying)
    newest = (
        rows.filter(~by_link | Exists(links))
        .annotate(cents=Coalesce("paid_cents", "hit__reward_cents"))
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


def end_of(cards: Sequence[StageCard], *, stopped: bool) -> ExpectedEnd:
    """When the open stages are done; `stopped`: one of them cannot finish."""
    open_cards = [card for card in cards if card.stage.status == Stage.Status.OPEN]
    unfinished = [card for card in open_cards if card.done < card.total]
    if not open_cards:
        return ExpectedEnd(None, "no stage is open")
    if stopped:
        return ExpectedEnd(None, "a stage cannot finish: see above")
    if not unfinished:
        return ExpectedEnd(None, "all answers that were asked for are in")
    now, ends = timezone.now(), []
    for card in unfinished:
        if card.since is None or card.lately < _ENOUGH:
            answers = {0: "no answer", 1: "1 answer"}.get(card.lately, f"{card.lately} answers")
            return ExpectedEnd(None, f"{card.stage.title} got {answers} in three days")
        ends.append(now + max(now - card.since, _LEAST) * (card.total - card.done) / card.lately)
    return ExpectedEnd(max(ends))
