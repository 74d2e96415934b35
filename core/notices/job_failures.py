"""Jobs that failed, or that no worker goes on with: apps say of which kinds people should know.

Each kind is a part of an app's extension:

    JobKindNotice("annotation.import", "An import of queries", pages_of_project("annotation:import_job"))
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q
from django.urls import reverse

from core.extensions import parts_of
from core.jobs.models import Job, JobState
from core.notices.conditions import Condition, Rule
from core.notices.models import Notice
from core.projects.models import Project

#: A failed job is no news any more after so long.
FAILED_FOR = timedelta(days=3)
#: So long past its lease, or due, a job is silent: the worker died and nobody put it right.
SILENT_AFTER = timedelta(minutes=10)
_MOST = 500


@dataclass(frozen=True, slots=True)
class Place:
    """The project of a job, by its key, and the path of the page that shows the job."""

    project: int
    address: str


@dataclass(frozen=True, slots=True)
class JobKindNotice:
    """A kind of jobs in words, and where its jobs belong by their keys; others are left out."""

    kind: str
    words: str
    places: Callable[[Sequence[Job]], dict[int, Place]]


def pages_of_project(url_name: str) -> Callable[[Sequence[Job]], dict[int, Place]]:
    """Places of jobs whose payload names a `project`, at an address of its slug and the job's key."""

    def places(jobs: Sequence[Job]) -> dict[int, Place]:
        keys = {job.pk: job.payload["project"] for job in jobs if isinstance(job.payload.get("project"), int)}
        slugs = dict(Project.objects.filter(pk__in=set(keys.values())).values_list("pk", "slug"))
        return {
            job: Place(project, reverse(url_name, args=[slugs[project], job]))
            for job, project in keys.items()
            if project in slugs
        }

    return places


def troubled_jobs(now: datetime) -> Iterator[Condition]:
    """Jobs of the known kinds that failed lately or are silent, in one query and one per kind."""
    late = now - SILENT_AFTER
    kinds = parts_of(JobKindNotice)
    rows = list(
        Job.objects.filter(kind__in=[known.kind for known in kinds])
        .filter(
            Q(state=JobState.FAILED, finished_at__gte=now - FAILED_FOR)
            | Q(state=JobState.RUNNING, lease_until__lt=late)
            | Q(state=JobState.QUEUED, run_after__lt=late)
        )
        .order_by("-pk")[:_MOST]
    )
    for known in kinds:
        jobs = [job for job in rows if job.kind == known.kind]
        places = known.places(jobs) if jobs else {}
        for job in jobs:
            if job.pk in places:
                yield _condition(job, known, places[job.pk])


def _condition(job: Job, known: JobKindNotice, place: Place) -> Condition:
    failed = job.state == JobState.FAILED
    level = Notice.Level.ALARM if failed else Notice.Level.WARNING
    why = f": {job.error}" if job.error else "."
    words = f"{known.words} failed{why}" if failed else f"{known.words} waits, and no worker goes on with it."
    kind = "job_failed" if failed else "job_silent"
    return Condition(place.project, kind, f"{kind}:{job.pk}", level, words[:300], place.address)


RULE = Rule("jobs", troubled_jobs, kinds=("job_failed", "job_silent"))
