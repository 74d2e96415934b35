"""The app's heartbeat: a round of every endpoint with something going on, each by itself."""

from celery import shared_task

from crowd.models import Endpoint
from crowd.services.endpoints import TASK, send_round
from crowd.services.tick import Round, endpoints_with_work, leased_endpoints, run_round
from crowd.simulation import run  # noqa: F401  # the job of simulated workers


@shared_task(name="crowd.tick")
def tick_task() -> None:
    """Ask for a round of each endpoint where none goes on."""
    waiting = endpoints_with_work().exclude(pk__in=leased_endpoints().values("pk"))
    for pk in waiting.values_list("pk", flat=True):
        send_round(pk)


@shared_task(name=TASK)
def round_task(endpoint_id: int) -> None:
    """One round of an endpoint, unless one goes on or it has gone."""
    endpoint = Endpoint.objects.filter(pk=endpoint_id).first()
    if endpoint is not None:
        run_round(endpoint, Round())
