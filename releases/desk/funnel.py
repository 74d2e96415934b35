"""What this app says on a project's overview: how many queries the newest release has."""

from django.db.models import Sum
from django.urls import NoReverseMatch, reverse

from core.projects.models import Project
from crowd.desk.overview import Count, Link, OverviewPart, Step
from releases.groups import GROUPS, QUERIES
from releases.models import Release, ReleaseFile
from releases.tables import REFERENCES


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
