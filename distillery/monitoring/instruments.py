"""What processes count by themselves: answers over HTTP, attempts at jobs, calls of marketplaces, errors.

Web and job processes of a host write into files of one folder, which the page `/metrics` of any web process
adds up.
"""

from collections.abc import Callable
from typing import Any

from django.db import DatabaseError, IntegrityError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from prometheus_client import CollectorRegistry, Counter, Histogram

from core.jobs.runner import attempt_ended
from crowd.signals import round_ended
from distillery.monitoring.folder import FOLDER

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
