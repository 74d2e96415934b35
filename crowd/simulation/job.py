"""A crowd that a job lets work, while the installation's own rounds publish, collect and pay."""

from datetime import timedelta

from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext, handler
from crowd.errors import CrowdError
from crowd.models import Stage
from crowd.services.rounds import request_round
from crowd.simulation.accounts import accounts
from crowd.simulation.profiles import crowd_of
from crowd.simulation.run import Crowd, site_of

SIMULATE = "crowd.simulate"
_THREADS = 4


@handler(SIMULATE, longest=timedelta(hours=2))
def simulate(context: JobContext) -> None:
    """Let the crowd work until nothing is left for it; what it did is the job's result."""
    given = context.payload
    stage = Stage.objects.select_related("project", "endpoint").get(pk=given["stage"])
    count, seed = given["workers"], given["seed"]
    try:
        people = accounts(site_of(stage), count)
        crowd = Crowd(
            stage,
            crowd_of(given["mix"], count, seed=seed),
            people,
            seed=seed,
            threads=_THREADS,
            fast=True,
            ticking=False,
        )
        summary = crowd.run(
            progress=lambda now: context.progress(now.summary.outcomes["submitted"], 0, "Working")
        )
    except CrowdError as error:
        raise PermanentError(str(error)) from error
    context.commit(summary.facts)
    request_round(stage.endpoint_id)
