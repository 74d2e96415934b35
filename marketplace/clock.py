"""The marketplace's one clock. Test controls can move it forward; nothing else can."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from marketplace.models import TestClock

#: How far test controls may move it: a hundred years.
MOST_AHEAD_S = 100 * 365 * 24 * 3600


def now() -> datetime:
    """Current time in UTC, moved by the test clock where test controls are on."""
    moment = timezone.now()
    if not settings.MARKETPLACE_TEST_TOKEN:
        return moment
    return moment + timedelta(seconds=advanced_seconds())


def advanced_seconds() -> int:
    """How many seconds the test clock is ahead of the real one."""
    return TestClock.objects.values_list("advanced_seconds", flat=True).filter(pk=1).first() or 0


def advance(seconds: int) -> None:
    """Move the clock forward for every process of this installation."""
    TestClock.objects.get_or_create(pk=1)
    TestClock.objects.filter(pk=1).update(advanced_seconds=F("advanced_seconds") + seconds)


def reset() -> None:
    """Back to real time."""
    TestClock.objects.all().delete()
