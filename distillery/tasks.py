"""Periodic work of the installation itself."""

from celery import shared_task

from distillery.deadmanswitch import ping
from distillery.retention import prune


@shared_task(name="distillery.prune")
def prune_old_rows() -> None:
    """Every hour: what is old goes, in short transactions."""
    prune()


@shared_task(name="distillery.ping")
def ping_elsewhere() -> None:
    """Every minute: call PING_URL, which shows that timer, broker, worker and database work."""
    ping()
