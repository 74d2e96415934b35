"""Figures for Prometheus: what processes count by themselves, and the state of the installation.

Counted are answers over HTTP, attempts at jobs, calls of marketplaces, and errors. Web and job processes of a
host write into files of one folder, which the page `/metrics` of any web process adds up.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, IntegrityError
from django.db import Error as DatabaseTrouble
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from core.jobs.models import OPEN_STATES, Job, JobState, WorkerHeartbeat
from core.jobs.runner import attempt_ended
from crowd.models import EndpointRound, MarketOperation, Stage
from crowd.services.endpoints import round_ended
from crowd.services.tick import endpoints_with_work

#: One file per process and kind; `manage.py up` removes those of processes that have ended.
FOLDER = Path(settings.DATA_DIR) / "monitoring"
# Before the instruments below: each opens its file in it as soon as it is made.
FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)

#: Counts of this process; what is asked for from outside comes from the folder.
_OWN = CollectorRegistry()
HTTP_SECONDS = Histogram(
    "distillery_http_request_seconds",
    "Time from the arrival of a request to the head of its answer.",
    ["method", "view", "status"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
    registry=_OWN,
)
JOB_SECONDS = Histogram(
    "distillery_job_seconds",
    "Time of one attempt at a job.",
    ["kind", "outcome"],
    buckets=(0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200),
    registry=_OWN,
)
ROUND_SECONDS = Histogram(
    "distillery_round_seconds",
    "Time of one round with a marketplace.",
    ["endpoint", "outcome"],
    buckets=(0.05, 0.1, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 1800),
    registry=_OWN,
)
PING_SECONDS = Histogram(
    "distillery_ping_seconds",
    "Time of one call of PING_URL, by what became of it.",
    ["outcome"],
    buckets=(0.1, 0.5, 1, 2.5, 5, 10),
    registry=_OWN,
)
DATABASE_ERRORS = Counter(
    "distillery_database_errors_total",
    "Statements that the database did not carry out, by the class of the error.",
    ["error"],
    registry=_OWN,
)

# Signals of the database, jobs and rounds that the instruments above count.


def connect() -> None:
    """Count errors of the database and attempts at jobs in this process."""
    connection_created.connect(_watch, dispatch_uid="distillery.monitoring")
    attempt_ended.connect(_count_attempt, dispatch_uid="distillery.monitoring")
    round_ended.connect(_count_round, dispatch_uid="distillery.monitoring")


def _watch(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if _count_errors not in connection.execute_wrappers:
        connection.execute_wrappers.append(_count_errors)


def _count_errors(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    try:
        return execute(sql, params, many, context)
    except IntegrityError:  # the answer to a question, most times: is it there already?
        raise
    except DatabaseError as error:
        DATABASE_ERRORS.labels(type(error).__name__).inc()
        raise


def _count_round(endpoint: str, outcome: str, seconds: float, **_: Any) -> None:
    ROUND_SECONDS.labels(endpoint, outcome).observe(seconds)


def _count_attempt(kind: str, outcome: str, seconds: float, **_: Any) -> None:
    JOB_SECONDS.labels(kind, outcome).observe(seconds)


_OPEN_OPERATIONS = ~Q(state__in=MarketOperation.FINAL)


class InstallationCollector(Collector):
    """The state of the installation when it is asked for; each figure is one query over open work alone."""

    def collect(self) -> Iterator[Metric]:
        """All families; without a database only that it is not there."""
        up = GaugeMetricFamily("distillery_database_up", "1 where the database answered this very page.")
        try:
            families = [*_jobs(), *_operations(), *_rounds(), *_stages(), *_workers()]
        except DatabaseTrouble:
            families = []
        up.add_metric([], 1 if families else 0)
        yield from [up, *families]


def _jobs() -> Iterator[Metric]:
    depth = GaugeMetricFamily("distillery_jobs", "Jobs that wait or run.", labels=["kind", "state"])
    for kind, state, count in _grouped(Job.objects.filter(state__in=OPEN_STATES), "kind", "state"):
        depth.add_metric([kind, state], count)
    yield depth
    due = Job.objects.filter(state=JobState.QUEUED, run_after__lte=Now()).aggregate(at=Min("run_after"))["at"]
    age = GaugeMetricFamily(
        "distillery_jobs_oldest_seconds", "How long the job waits that is due longest; 0 where none is."
    )
    age.add_metric([], _seconds_since(due))
    yield age


def _operations() -> Iterator[Metric]:
    open_operations = MarketOperation.objects.filter(_OPEN_OPERATIONS)
    count = GaugeMetricFamily(
        "distillery_operations",
        "Calls to marketplaces that are planned, on their way, or of unknown outcome.",
        labels=["endpoint", "kind", "state"],
    )
    for endpoint, kind, state, number in _grouped(open_operations, "endpoint__name", "kind", "state"):
        count.add_metric([endpoint, kind, state], number)
    yield count
    oldest = GaugeMetricFamily(
        "distillery_operations_oldest_seconds",
        "How long the call waits that is due longest, by endpoint.",
        labels=["endpoint"],
    )
    due = open_operations.filter(not_before__lte=timezone.now(), needs_person=False, result_lost=False)
    for endpoint, at in due.values_list("endpoint__name").annotate(at=Min("planned_at")).order_by():
        oldest.add_metric([endpoint], _seconds_since(at))
    yield oldest
    person = GaugeMetricFamily(
        "distillery_operations_need_person",
        "Calls of unknown outcome that a person has to decide about.",
        labels=["endpoint"],
    )
    for endpoint, number in _grouped(open_operations.filter(needs_person=True), "endpoint__name"):
        person.add_metric([endpoint], number)
    yield person


def _rounds() -> Iterator[Metric]:
    """The last round with each marketplace; since when none was well, where there is something to do."""
    seconds = GaugeMetricFamily(
        "distillery_round_last_seconds", "How long the last round took.", labels=["endpoint", "outcome"]
    )
    silence = GaugeMetricFamily(
        "distillery_round_success_age_seconds",
        "Time since a round ended in which the marketplace answered in order, or since the first one began.",
        labels=["endpoint"],
    )
    rows = EndpointRound.objects.order_by("endpoint__name")
    for name, outcome, took in rows.values_list("endpoint__name", "outcome", "seconds"):
        if took is not None:
            seconds.add_metric([name, outcome], took)
    busy = rows.filter(endpoint__in=endpoints_with_work())
    for name, at in busy.values_list("endpoint__name", Coalesce("succeeded_at", "down_since", "began_at")):
        silence.add_metric([name], _seconds_since(at))
    yield from (seconds, silence)


def _stages() -> Iterator[Metric]:
    labels = ["project", "stage", "currency"]
    reserved = GaugeMetricFamily("distillery_stage_reserved_cents", "Reserved for open work.", labels=labels)
    spent = GaugeMetricFamily("distillery_stage_spent_cents", "Spent, with fees.", labels=labels)
    budget = GaugeMetricFamily("distillery_stage_budget_cents", "May be spent at most.", labels=labels)
    rows = Stage.objects.exclude(status=Stage.Status.DRAFT).order_by("pk")
    for *names, reserved_cents, gone, most in rows.values_list(
        "project__slug", "slug", "endpoint__currency", "reserved_cents", "spent_cents", "budget_cents"
    ):
        reserved.add_metric(names, reserved_cents)
        spent.add_metric(names, gone)
        budget.add_metric(names, most)
    yield from (reserved, spent, budget)


def _workers() -> Iterator[Metric]:
    seen = WorkerHeartbeat.objects.aggregate(at=Max("seen_at"))["at"]
    age = GaugeMetricFamily(
        "distillery_jobs_worker_silent_seconds",
        "Time since a jobs worker last answered the timer; -1 where none ever did.",
    )
    age.add_metric([], -1 if seen is None else _seconds_since(seen))
    yield age


def _grouped(rows: QuerySet[Any], *names: str) -> Iterator[tuple[Any, ...]]:
    yield from rows.order_by(*names).values_list(*names).annotate(count=Count("pk"))


def _seconds_since(at: datetime | None) -> float:
    return 0.0 if at is None else max(0.0, (timezone.now() - at).total_seconds())


CONTENT_TYPE = CONTENT_TYPE_LATEST


def exposition() -> bytes:
    """What the processes of this host counted since they began, and the state of the installation."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(FOLDER))  # type: ignore[no-untyped-call]
    registry.register(InstallationCollector())
    return generate_latest(registry)
