"""Periodic work and jobs of the heritage."""

from datetime import timedelta

from celery import shared_task

from core.jobs.handlers import JobContext, handler
from marketplace.heritage import topics, workerfiles


@shared_task(name=topics.TASK)
def topics_task() -> None:
    """Messages of topics that are due; among the notices, where a slow endpoint holds up no sweep."""
    topics.send_due()


@handler(workerfiles.DO, longest=timedelta(hours=12))
def work_off_file(context: JobContext) -> None:
    """Bonuses or grants of a file that was confirmed."""
    workerfiles.work_off(context)
