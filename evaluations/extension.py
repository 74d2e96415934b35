"""What this app adds to others: pages of the desk, notices, actions of the event log."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_noop

from annotation.desk.columns import PageOfQuery
from core.extensions import Extension
from core.jobs.models import OPEN_STATES, Job, JobState
from core.notices.conditions import Condition, Rule
from core.notices.models import Notice
from core.origin import Owner
from core.projects.models import Project
from core.projects.services import EventActions
from core.webhooks.events import EventType
from crowd.desk.overview import Attention, OverviewPart, OverviewSource
from evaluations.models import Evaluation
from evaluations.selectors import name_of
from releases.models import Release, ReleaseFile
from releases.tables import SCORES
from web.api import ApiPart
from web.nav import Group, Place

# What this app says on a project's overview: a release that nobody has evaluated, or what was found.


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


# Rules of this app about what its people should know; see `core.notices.conditions`.

#: An evaluation is news for so long.
NEWS_FOR = timedelta(days=7)
#: So long past its lease, or due, a job is silent: the worker died and nobody put it right.
SILENT_AFTER = timedelta(minutes=10)
_LIGHT = ("pk", "number", "title", "state", "why", "best", "best_value", "release__version",
          "release__simulated", "release__project__slug")  # fmt: skip


def over(now: datetime) -> Iterator[Condition]:
    """Evaluations that were finished or failed in the last days, in one query."""
    rows = Evaluation.objects.filter(
        state__in=[Evaluation.State.READY, Evaluation.State.FAILED], finished_at__gte=now - NEWS_FOR
    )
    for each in rows.select_related("release__project").only(*_LIGHT).order_by("pk"):
        ready = each.state == Evaluation.State.READY
        message = _ready(each) if ready else f"{name_of(each)} failed: {each.why}"
        what, level = ("ready", Notice.Level.NEWS) if ready else ("failed", Notice.Level.ALARM)
        yield _condition(each, f"evaluation_{what}", level, message)


def silent(now: datetime) -> Iterator[Condition]:
    """Evaluations whose job nobody goes on with, in one query."""
    late = now - SILENT_AFTER
    waits = Job.objects.filter(pk=OuterRef("job"), state__in=OPEN_STATES).exclude(
        Q(state=JobState.RUNNING, lease_until__lt=late) | Q(state=JobState.QUEUED, run_after__lt=late)
    )
    rows = Evaluation.objects.filter(state__in=Evaluation.OPEN, created_at__lt=late)
    for each in rows.exclude(Exists(waits)).select_related("release__project").only(*_LIGHT).order_by("pk"):
        message = f"{name_of(each)} waits, and no worker goes on with it."
        yield _condition(each, "evaluation_silent", Notice.Level.WARNING, message)


def _ready(each: Evaluation) -> str:
    if each.best_value is None:
        return f"{name_of(each)} is ready."
    figure = f"(Pearson {each.best_value:.3f})"
    if each.release.simulated:
        return f"{name_of(each)} is ready: {each.best} agrees best with simulated scores {figure}."
    return f"{name_of(each)} is ready: {each.best} agrees best with people {figure}."


def _condition(each: Evaluation, kind: str, level: Notice.Level, message: str) -> Condition:
    release = each.release
    address = reverse("evaluations:one", args=[release.project.slug, release.version, each.number])
    return Condition(release.project_id, kind, f"{kind}:{each.pk}", level, message[:300], address)


#: What webhooks of projects are told of evaluations.
EVENT_TYPES = (
    EventType(
        "evaluation.ready",
        "An evaluation is ready",
        Owner.Kind.PROJECT,
        ("evaluation.ready",),
        ids=("evaluation", "release"),
    ),
)


def count_evaluations(project: Project) -> int:
    """All evaluations of its releases."""
    return Evaluation.objects.filter(release__project=project).count()


EXTENSION = Extension(
    ApiPart("evaluations.api"),
    Place(
        gettext_noop("Evaluations"),
        "evaluations",
        "evaluations:list",
        Group.PUBLISH,
        100,
        everywhere="evaluations:everywhere",
        icon="chart-column",
        count=count_evaluations,
    ),
    PageOfQuery("What metrics see in it", "evaluations:query"),
    OverviewSource("evaluations", say, position=40),
    *EVENT_TYPES,
    Rule("evaluations", over, kinds=("evaluation_ready", "evaluation_failed")),
    Rule("evaluations-silent", silent, kinds=("evaluation_silent",)),
    EventActions(
        {
            "evaluation.planned": "began an evaluation",
            "evaluation.ready": "finished an evaluation",
            "evaluation.failed": "could not finish an evaluation",
            "evaluation.cancelled": "cancelled an evaluation",
            "leaderboard.shown": "showed a leaderboard to everybody",
            "leaderboard.hidden": "hid a leaderboard from the public",
            "external.kept": "uploaded scores from elsewhere",
            "external.removed": "removed scores from elsewhere",
        }
    ),
)
