"""What this app says on a project's overview: a release that nobody has evaluated, or what was found."""

from django.urls import reverse

from core.projects.models import Project
from crowd.desk.overview import Attention, OverviewPart
from evaluations.models import Evaluation
from releases.models import Release, ReleaseFile
from releases.tables import SCORES


def say(project: Project, entered: int | None) -> OverviewPart:
    """One sentence about the newest release with human scores, in at most three statements."""
    newest = (
        Release.objects.filter(project=project, state=Release.State.READY)
        .only("pk", "version")
        .order_by("-pk")
        .first()
    )
    if newest is None or not _has_scores(newest):
        return OverviewPart()
    states = set(Evaluation.objects.filter(release=newest).values_list("state", flat=True))
    if not states:
        address = f"{reverse('evaluations:new', args=[project.slug])}?release={newest.version}"
        return _soon(f"Release {newest.version} has human scores and no evaluation yet.", address)
    if states == {Evaluation.State.FAILED}:
        address = reverse("evaluations:list", args=[project.slug])
        return _soon(f"The evaluation of release {newest.version} failed.", address)
    return OverviewPart()


def _soon(sentence: str, address: str) -> OverviewPart:
    return OverviewPart(attention=(Attention("soon", sentence, address),))


def _has_scores(release: Release) -> bool:
    files = ReleaseFile.objects.filter(release=release, path__contains=f"/{SCORES.name}-", rows__gt=0)
    return files.exists()
