"""Letting a stage's kind turn new answers into decisions."""

from datetime import timedelta

from django.db.models import Max
from django.utils import timezone

from crowd.kinds import kind_of
from crowd.models import Assignment, Stage
from crowd.services.recounts import reconsider

#: A transaction may write a time and be seen only later; what is younger than this is settled once more.
_COMMIT_DELAY = timedelta(seconds=30)


def settle_news(stage: Stage) -> bool:
    """Call the kind's `settle` if anything was answered or decided since it last saw it all.

    Before that it decides again what rested on work that began or ceased to count.
    """
    begun = timezone.now()
    recounted = reconsider(stage)
    latest = Assignment.objects.filter(stage=stage).aggregate(
        stored=Max("stored_at"), submitted=Max("submitted_at"), decided=Max("decided_at")
    )
    news = [moment for moment in latest.values() if moment is not None]
    unchanged = stage.settled_until is not None and bool(news) and max(news) <= stage.settled_until
    if not news or (unchanged and not recounted):
        return bool(recounted)
    kind_of(stage).settle(stage)
    stage.settled_until = min(begun - _COMMIT_DELAY, max(news))
    Stage.objects.filter(pk=stage.pk).update(settled_until=stage.settled_until)
    return True
