"""Periodic work of the installation itself."""

from celery import shared_task

from distillery.retention import prune


@shared_task(name="distillery.prune")
def prune_old_rows() -> None:
    """Every hour: what is old goes, in short transactions."""
    prune()
