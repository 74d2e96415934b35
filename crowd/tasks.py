"""The app's heartbeat: a round of every endpoint with something going on, each by itself."""

from celery import current_app, shared_task

from crowd.models import Endpoint
from crowd.services.tick import Round, endpoints_with_work, leased_endpoints, run_round
from crowd.simulation import job  # noqa: F401  # the job of simulated workers

#: A message that waited so long for a thread is not needed: the timer sent others.
_ROUND_EXPIRES_S = 15


@shared_task(name="crowd.tick")
def tick_task() -> None:
    """Ask for a round of each endpoint where none goes on."""
    waiting = endpoints_with_work().exclude(pk__in=leased_endpoints().values("pk"))
    for pk in waiting.values_list("pk", flat=True):
        current_app.send_task("crowd.round", args=[pk], expires=_ROUND_EXPIRES_S)


@shared_task(name="crowd.round")
def round_task(endpoint_id: int) -> None:
    """One round of an endpoint, unless one goes on or it has gone."""
    endpoint = Endpoint.objects.filter(pk=endpoint_id).first()
    if endpoint is not None:
        run_round(endpoint, Round())
