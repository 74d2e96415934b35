"""What this app adds to others: pages of the desk, notices, actions of the event log."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Min, Sum
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext_noop

from core.extensions import Extension
from core.notices.conditions import Condition, JobKindNotice, Rule, pages_of_project
from core.notices.models import Notice
from core.origin import Owner
from core.projects.models import Project
from core.projects.services import EventActions
from core.webhooks.events import EventType
from crowd.desk.overview import Count, Link, OverviewPart, OverviewSource, Step
from crowd.models import Assignment
from people.models import Guest
from people.visits import AnswerHolder
from releases.models import Release, ReleaseFile
from releases.options import GROUPS, QUERIES
from releases.tables import REFERENCES
from web.api import ApiPart
from web.nav import Group, Place

# What this app says on a project's overview: how many queries the newest release has.


def say(project: Project, entered: int | None) -> OverviewPart:
    """The last step. Before the first release it is there as soon as anything came in."""
    newest = (
        Release.objects.filter(project=project, state=Release.State.READY)
        .order_by("-built_at", "-pk")
        .only("version", "built_at", "manifest")
        .first()
    )
    if newest is None and entered is None:
        return OverviewPart()
    address = _releases(project)
    released = _queries(newest) if newest else 0
    came = max(entered or 0, released)
    note = f"in version {newest.version}" if newest else "no release yet"
    counts = (
        Count("passed", "came through", released, address),
        Count("waiting", f"not in version {newest.version}" if newest else "waiting", came - released),
    )
    link = Link("Make a release", address) if address and not newest and came else None
    return OverviewPart((Step("Released", came, counts, note, link),))


def _queries(release: Release) -> int:
    """Queries in a release that came through the steps before: those that were brought in did not.

    The table of references has a row for each, in whichever format it was built.
    """
    rows = (
        ReleaseFile.objects.filter(release=release, path__contains=f"/{REFERENCES.name}-")
        .values_list("format")
        .annotate(n=Sum("rows"))
    )
    brought = release.manifest.get("parameters", {}).get("brought_in", {})
    others = sum(count for name, count in brought.items() if name in GROUPS and GROUPS[name].of == QUERIES)
    most = max((n or 0 for _, n in rows), default=others)
    return int(most - others)


def _releases(project: Project) -> str:
    try:
        return reverse("releases:list", args=[project.slug])
    except NoReverseMatch:
        return ""


# Rules of this app about what its people should know; see `core.notices.conditions`.

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


class PublishedAnswers(AnswerHolder):
    """Releases that were built after a person's first answer, and so may hold what they did."""

    def published_with(self, guest: Guest) -> list[str]:
        """Their versions, the oldest first."""
        mine = Assignment.objects.filter(
            stage__project=guest.project_id, worker__external_id=guest.worker_id, stored_at__isnull=False
        )
        first = mine.aggregate(first=Min("stored_at"))["first"]
        if first is None:
            return []
        rows = Release.objects.filter(
            project=guest.project_id, state=Release.State.READY, created_at__gte=first
        )
        return list(rows.order_by("pk").values_list("version", flat=True))


#: What webhooks of projects are told of releases.
EVENT_TYPES = (
    EventType(
        "release.built",
        "A release was built",
        Owner.Kind.PROJECT,
        ("release.built",),
        subject="release",
        page="releases:release",
    ),
)


def newest_version(project: Project) -> str:
    """The version of the newest release that is offered; empty before the first."""
    ready = Release.objects.filter(project=project, state=Release.State.READY)
    return ready.order_by("-pk").values_list("version", flat=True).first() or ""


EXTENSION = Extension(
    ApiPart("releases.api"),
    PublishedAnswers(),
    Place(
        gettext_noop("Releases"),
        "releases",
        "releases:list",
        Group.PUBLISH,
        90,
        everywhere="releases:everywhere",
        icon="package",
        count=newest_version,
    ),
    OverviewSource("releases", say, position=30),
    *EVENT_TYPES,
    Rule("releases", built_or_failed, kinds=("release_built", "release_failed")),
    JobKindNotice("releases.check", "A privacy check", pages_of_project("releases:check_job")),
    EventActions(
        {
            "release.planned": "began a release",
            "release.built": "built a release",
            "release.failed": "could not build a release",
            "release.withdrawn": "withdrew a release",
            "release.public": "showed a release to everybody",
            "release.private": "hid a release from the public",
            "release.downloaded": "downloaded a file of a release",
            "scores.imported": "imported human scores",
            "privacy.checked": "looked for personal data",
            "privacy.accepted": "accepted findings of the privacy check",
            "privacy.redacted": "blacked out findings of the privacy check",
            "privacy.reopened": "took back decisions about findings of the privacy check",
        }
    ),
)
