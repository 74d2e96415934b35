"""Rules of this app about what its people should know; see `core.notices.conditions`."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.urls import reverse

from core.notices.conditions import Condition
from core.notices.models import Notice
from releases.models import Release

#: A release is news for so long.
NEWS_FOR = timedelta(days=7)


def built_or_failed(now: datetime) -> Iterator[Condition]:
    """Releases that were built or failed in the last days, in one query."""
    since = now - NEWS_FOR
    built = Release.objects.filter(state=Release.State.READY, built_at__gte=since)
    failed = Release.objects.filter(state=Release.State.FAILED, created_at__gte=since)
    for release in (built | failed).select_related("project").order_by("pk"):
        ready = release.state == Release.State.READY
        what, level = ("built", Notice.Level.NEWS) if ready else ("failed", Notice.Level.ALARM)
        why = f"Release {release.version} could not be built: {release.error}"
        yield Condition(
            release.project_id,
            f"release_{what}",
            f"release_{what}:{release.pk}",
            level,
            f"Release {release.version} is built." if ready else why[:300],
            reverse("releases:release", args=[release.project.slug, release.version]),
        )
