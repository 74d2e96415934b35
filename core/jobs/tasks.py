"""The messages: run one job, and the tick that puts right what died."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from core.jobs import errors, runner, services


@shared_task(name="jobs.run")
def run(job_id: int) -> None:
    """A job is due, probably."""
    runner.run(job_id=job_id)


@shared_task(name="jobs.reconcile")
def reconcile() -> None:
    """Every few seconds: this worker lives; look after the ones that do not."""
    services.worker_seen(name=services.worker_name())
    services.reconcile()


@worker_shutting_down.connect
def stop_jobs(**_: Any) -> None:
    """Have running jobs give themselves back instead of keeping the worker from stopping."""
    errors.stopping.set()
