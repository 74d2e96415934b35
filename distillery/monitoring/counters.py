"""Connects what happens to the instruments that count it."""

from collections.abc import Callable
from typing import Any

from django.db import DatabaseError, IntegrityError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from core.jobs.runner import attempt_ended
from crowd.signals import round_ended
from distillery.monitoring.instruments import DATABASE_ERRORS, JOB_SECONDS, ROUND_SECONDS


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
