"""What somebody should look at soon."""

from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from crowd.models import Assignment, Hit, Stage
from crowd.selectors.operations import needs_person
from crowd.selectors.wage import wage

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
    found: list[Alarm] = []
    if unknown := needs_person(stage).count():
        words = _count(unknown, "operation needs", "operations need")
        found.append(Alarm("now", f"{words} your decision: the marketplace did not answer.", "operations"))
    held = Assignment.objects.filter(stage=stage, held=True, state=Assignment.State.SUBMITTED)
    for within, level in zip(BEFORE_AUTO_APPROVAL, ("now", "soon"), strict=True):
        if count := held.filter(auto_approve_at__lte=now + within).count():
            hours = int(within.total_seconds() // 3600)
            words = _count(count, "held assignment approves itself", "held assignments approve themselves")
            found.append(Alarm(level, f"{words} within {hours} hours.", "review"))
            break
    if count := Assignment.objects.filter(
        stage=stage, state=Assignment.State.QUARANTINED, decided_at=None, submitted_at__isnull=False
    ).count():
        words = _count(count, "submission in quarantine waits", "submissions in quarantine wait")
        found.append(Alarm("soon", f"{words} for a look.", "review"))
    pay = wage(stage)
    if pay.below and pay.enough:
        found.append(Alarm("soon", "The work pays less per hour than the project's floor.", "cost"))
    left = stage.budget_cents - stage.reserved_cents - stage.spent_cents
    if stage.status == Stage.Status.OPEN and left * 10 < stage.budget_cents:
        found.append(Alarm("soon", "Less than a tenth of the stage's budget is left.", "cost"))
    if count := Hit.objects.filter(
        stage=stage, state=Hit.State.OPEN, expires_at__range=(now, now + _EXPIRING_WITHIN)
    ).count():
        found.append(Alarm("soon", f"{_count(count, 'HIT expires', 'HITs expire')} within a day.", "hits"))
    return found


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
