"""The room's heartbeat: dispatch, collect, reconcile, top up."""

from celery import shared_task

from crowd.services.tick import tick


@shared_task(name="crowd.tick")
def tick_task() -> None:
    """One round over all endpoints and stages; rounds do not overlap."""
    tick()
