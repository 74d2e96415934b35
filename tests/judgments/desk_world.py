"""A judging stage full of judgments for tests of the desk, written straight into the database."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.models import Query, QuerySource
from core.jobs import runner
from core.jobs.models import Job
from core.projects.models import Project
from core.projects.services import create_project, set_role
from crowd.models import Assignment, Hit, Stage, Worker
from judgments.models import AttentionCheck, Candidate, CheckAnswer, Judgment, System
from judgments.services import filter_runs
from tests.taskpage.world import make_stage as make_task_stage

_numbers = itertools.count(1)
HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}"
Row = tuple[str, str, int]


def run_filter_jobs() -> None:
    """Do what waits of these jobs, as a worker would, in the order in which they were asked for."""
    waiting = Job.objects.filter(kind__in=[filter_runs.APPLY, filter_runs.TOP_UP], state="queued")
    for job in waiting.order_by("pk"):
        runner.run(job_id=job.pk)


@dataclass
class Place:
    """A stage with its systems, candidates and judges by name."""

    stage: Stage
    source: QuerySource
    systems: dict[str, System] = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    checks: dict[str, AttentionCheck] = field(default_factory=dict)

    @property
    def project(self) -> Project:
        """Of the stage."""
        return self.stage.project


def make_place(project: Project | None = None, **values: Any) -> Place:
    """A closed judging stage without judgments; ten judges per candidate at ten cents."""
    slug = f"judging-{next(_numbers)}"
    project = project or create_project(slug=f"project-{slug}", title="Answers", budget_cents=1_000_000)
    given = {
        "project": project, "kind": "judging", "title": "Judging", "config": {}, "redundancy": 3,
        "status": Stage.Status.PAUSED, "budget_cents": 100_000, **values,
    }  # fmt: skip
    stage = make_task_stage(slug, **given)
    if "endpoint" not in values:
        stage.endpoint.real_money = False
        stage.endpoint.save()
    source = QuerySource.objects.create(
        project=project, name="log", format="tsv", state="ready", created_at=timezone.now()
    )
    return Place(stage, source)


def people(place: Place) -> None:
    """An owner, a manager and a viewer of the project, and a stranger."""
    for name in ("owner", "manager", "viewer"):
        user, _ = User.objects.get_or_create(username=name)
        set_role(project=place.project, user=user, role=name)
    User.objects.get_or_create(username="stranger")


def as_(name: str) -> Client:
    """A browser of somebody; "anonymous" is nobody."""
    client = Client()
    if name != "anonymous":
        client.force_login(User.objects.get(username=name))
    return client


def system_of(place: Place, name: str) -> System:
    """The system of this name."""
    if name not in place.systems:
        place.systems[name], _ = System.objects.get_or_create(
            project=place.project, name=name, defaults={"created_at": timezone.now()}
        )
    return place.systems[name]


def query_of(place: Place, key: str, **fields: Any) -> Query:
    """The query of this key."""
    if key not in place.queries:
        given = {"text": f"what is {key}", "digest": f"{next(_numbers):064x}", **fields}
        place.queries[key] = Query.objects.create(
            project=place.project, source=place.source, key=key, **given
        )
    return place.queries[key]


def candidate_of(place: Place, name: str) -> Candidate:
    """The candidate "query/system", or of the system "a" where the name has no slash."""
    if name not in place.candidates:
        query, _, system = name.partition("/")
        place.candidates[name] = Candidate.objects.create(
            query=query_of(place, query),
            system=system_of(place, system or "a"),
            text=f"answer to {query}",
            created_at=timezone.now(),
        )
    return place.candidates[name]


def worker_of(place: Place, name: str) -> Worker:
    """The worker of this id."""
    if name not in place.workers:
        place.workers[name], _ = Worker.objects.get_or_create(
            endpoint=place.stage.endpoint, external_id=name, defaults={"first_seen_at": timezone.now()}
        )
    return place.workers[name]


def make_work(place: Place, worker: str, *, seconds: float = 30, **fields: Any) -> Assignment:
    """An assignment of somebody at a HIT of its own."""
    number, now = next(_numbers), timezone.now()
    hit = Hit.objects.create(
        stage=place.stage, ordinal=number, places=1, reward_cents=10, fee_cents=2,
        external_id=f"3HIT{number}", state=Hit.State.CLOSED,
    )  # fmt: skip
    given = {
        "state": Assignment.State.APPROVED,
        "arrived_at": now - timedelta(seconds=seconds),
        "stored_at": now,
        "submitted_at": now,
        "telemetry": {"active_ms": int(seconds * 1000)},
        **fields,
    }
    return Assignment.objects.create(
        stage=place.stage, hit=hit, worker=worker_of(place, worker), external_id=f"3W{number}", **given
    )


def judge(place: Place, rows: Iterable[Row], **fields: Any) -> list[Judgment]:
    """Judgments (candidate, worker, score), each with an assignment of its own, in this order."""
    return [
        Judgment.objects.create(
            stage=place.stage,
            assignment=make_work(place, worker, **fields),
            worker=worker_of(place, worker),
            candidate=candidate_of(place, candidate),
            score=score,
            at=timezone.now(),
        )
        for candidate, worker, score in rows
    ]


def check(place: Place, worker: str, outcomes: Sequence[bool], accepted: Sequence[int] = (1, 2)) -> None:
    """Answers of somebody to attention checks, passed or failed."""
    for number, passed in enumerate(outcomes):
        key = f"foreign-{number}"
        if key not in place.checks:
            place.checks[key] = AttentionCheck.objects.create(
                stage=place.stage, key=key, source=AttentionCheck.Source.FOREIGN,
                query=query_of(place, "check"), text="an answer to something else", accepted=list(accepted),
            )  # fmt: skip
        CheckAnswer.objects.create(
            check_item=place.checks[key],
            assignment=make_work(place, worker),
            worker=worker_of(place, worker),
            score=accepted[0] if passed else max(accepted) + 1,
            passed=passed,
            at=timezone.now(),
        )
