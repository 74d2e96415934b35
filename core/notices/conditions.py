"""What somebody should know of, as rules: they are looked at together, and notices come and go with them.

Apps bring their rules as parts of their extensions, so that this app need not know them:

    Rule("stuck", stuck_stages, kinds=("stuck",))
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.urls import reverse

from core.errors import logged_failure
from core.extensions import parts_of
from core.jobs.models import Job, JobState
from core.notices.models import Notice
from core.notices.services import DISABLED, end_notices, raise_for
from core.origin import Owner
from core.projects.models import Project
from core.webhooks.models import Webhook

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is so now: the words of its notice, and the key under which it is told once.

    Without a project it is about the whole installation.
    """

    project: int | None
    kind: str
    key: str
    level: str
    sentence: str
    address: str = ""


Find = Callable[[datetime], Iterable[Condition]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Finds everything of these kinds in all projects, in a number of queries that does not grow."""

    name: str
    find: Find
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoticeCounts:
    """How many notices a look raised and ended."""

    raised: int = 0
    ended: int = 0


_RULE_FAILED = "The rule %s of notices"


def look(now: datetime) -> NoticeCounts:
    """Ask all rules, raise what is new, put right the words of what goes on, end what is over.

    A rule that fails is written to the log, and its notices stay as they were.
    """
    conditions_by_key: dict[tuple[int | None, str], Condition] = {}
    kinds: set[str] = set()
    for rule in parts_of(Rule):
        conditions: list[Condition] | None = None
        with logged_failure(logger, _RULE_FAILED, rule.name), transaction.atomic():
            conditions = list(rule.find(now))
        if conditions is None:
            continue
        kinds.update(rule.kinds)
        conditions_by_key |= {(each.project, each.key): each for each in conditions}
    standing = {(row.project_id, row.key): row for row in Notice.objects.filter(over_at=None, kind__in=kinds)}
    new = [each for name, each in conditions_by_key.items() if name not in standing]
    for each in new:
        raise_for(
            each.project,
            kind=each.kind,
            key=each.key,
            level=each.level,
            sentence=each.sentence,
            address=each.address,
            now=now,
        )
    _put_right([(standing[name], each) for name, each in conditions_by_key.items() if name in standing])
    over = [row.pk for name, row in standing.items() if name not in conditions_by_key]
    return NoticeCounts(len(new), end_notices(Notice.objects.filter(pk__in=over), now=now) if over else 0)


def _put_right(pairs: list[tuple[Notice, Condition]]) -> None:
    changed = []
    for row, now_so in pairs:
        content = (now_so.level, now_so.sentence[:300], now_so.address)
        if (row.level, row.sentence, row.address) != content:
            row.level, row.sentence, row.address = content
            changed.append(row)
    if changed:
        Notice.objects.bulk_update(changed, ["level", "sentence", "address"], batch_size=500)


def everything_now(now: datetime) -> list[Condition]:
    """What all rules find at this moment, in all projects; a rule that fails is written to the log."""
    conditions: list[Condition] = []
    for rule in parts_of(Rule):
        with logged_failure(logger, _RULE_FAILED, rule.name):
            conditions += rule.find(now)
    return conditions


# Jobs that failed, or that no worker goes on with: apps say of which kinds people should know.
#
# Each kind is a part of an app's extension:
#
#     JobKindNotice("annotation.import", "An import of queries", pages_of_project("annotation:import_job"))

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
    label: str
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
        Job.objects.filter(kind__in=[kind.kind for kind in kinds])
        .filter(
            Q(state=JobState.FAILED, finished_at__gte=now - FAILED_FOR)
            | Q(state=JobState.RUNNING, lease_until__lt=late)
            | Q(state=JobState.QUEUED, run_after__lt=late)
        )
        .order_by("-pk")[:_MOST]
    )
    for kind in kinds:
        jobs = [job for job in rows if job.kind == kind.kind]
        places = kind.places(jobs) if jobs else {}
        for job in jobs:
            if job.pk in places:
                yield _condition(job, kind, places[job.pk])


def _condition(job: Job, notice_kind: JobKindNotice, place: Place) -> Condition:
    failed = job.state == JobState.FAILED
    level = Notice.Level.ALARM if failed else Notice.Level.WARNING
    why = f": {job.error}" if job.error else "."
    sentence = (
        f"{notice_kind.label} failed{why}"
        if failed
        else f"{notice_kind.label} waits, and no worker goes on with it."
    )
    kind = "job_failed" if failed else "job_silent"
    return Condition(place.project, kind, f"{kind}:{job.pk}", level, sentence[:300], place.address)


RULE = Rule("jobs", troubled_jobs, kinds=("job_failed", "job_silent"))


# Webhooks that were disabled.


def disabled_webhooks(now: datetime) -> Iterator[Condition]:
    """Webhooks of projects that were disabled, because nothing was delivered for days."""
    rows = list(
        Webhook.objects.filter(
            owner_kind=Owner.Kind.PROJECT, state=Webhook.State.DISABLED, removed_at=None
        ).order_by("pk")
    )
    if not rows:
        return
    projects = Project.objects.filter(pk__in={row.owner_id for row in rows})
    slugs = dict(projects.values_list("pk", "slug"))
    for row in rows:
        if row.owner_id not in slugs:
            continue
        yield Condition(
            row.owner_id,
            DISABLED,
            f"webhook:{row.pk}",
            Notice.Level.WARNING,
            f"The webhook {row.name} was disabled: {row.why_disabled}"[:300],
            reverse("desk:webhook", args=[slugs[row.owner_id], row.pk]),
        )


WEBHOOK_RULE = Rule("webhooks", disabled_webhooks, kinds=(DISABLED,))
