"""Simulated workers, who do a stage's HITs for play money; what they do is marked for ever."""

from uuid import uuid4

from pydantic import Field

from core.api.models import Scope
from core.jobs.services import enqueue
from crowd.api.access import StagePermission, stage_access
from crowd.errors import StageStateError
from crowd.models import Stage
from crowd.simulation.answers import MIXES, PROFILES
from crowd.simulation.run import SIMULATE
from web.api.access import ApiRequest, Role
from web.api.bodies import JobRef
from web.api.fields import Body
from web.api.problems import ProblemError
from web.api.resources import Resource

simulations = Resource("Simulated workers", permission=StagePermission)
MOST_WORKERS = 500


class SimulationIn(Body):
    """Who works."""

    workers: int = Field(20, ge=1, le=MOST_WORKERS, description="How many people.")
    mix: str = Field("clean", max_length=40, description=f"{', '.join(MIXES)}, or a profile.")
    seed: int = Field(1, ge=0, le=2**53, description="The same people, the same answers.")


@simulations.post(
    "/projects/{project}/stages/{stage}/simulations", scopes=[Scope.COLLECT], role=Role.MANAGER, status=202
)
def simulate_workers(request: ApiRequest, project: str, stage: str, body: SimulationIn) -> JobRef:
    """Let simulated workers do what the stage offers, by a job that ends when nothing is left for them."""
    at = stage_access(request).stage
    if at.endpoint.real_money:
        words = "The stage pays real money; simulated workers work for play money only."
        raise ProblemError(409, "real_money", words)
    if body.mix not in (*MIXES, *PROFILES):
        words = f"There is no mix or profile {body.mix!r}; there are {', '.join((*MIXES, *PROFILES))}."
        raise ProblemError(422, "invalid", f"mix: {words}", errors={"mix": [words]})
    if at.status == Stage.Status.DRAFT:
        raise StageStateError("The stage is a draft and offers nothing yet. Open it first.")
    payload = {"stage": at.pk, "project": at.project_id, **body.model_dump()}
    return JobRef(job=enqueue(kind=SIMULATE, payload=payload, effect=f"simulate:{at.pk}:{uuid4().hex}").pk)
