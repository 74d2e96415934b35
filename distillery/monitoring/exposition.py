"""All figures in the text format of Prometheus."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import Error as DatabaseTrouble
from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from core.jobs.models import OPEN_STATES, Job, JobState, WorkerHeartbeat
from crowd.models import EndpointRound, MarketOperation, Stage
from crowd.services.tick import endpoints_with_work
from distillery.monitoring.folder import FOLDER

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
    for *names, held, gone, most in rows.values_list(
        "project__slug", "slug", "endpoint__currency", "reserved_cents", "spent_cents", "budget_cents"
    ):
        reserved.add_metric(names, held)
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
