"""How a stage is doing."""

from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission, stage_access
from crowd.desk.tables import stage_cards
from crowd.selectors.stage_status import StageStatus, standing
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import Time
from web.api.resources import Resource
from web.cache import page_figures

progress = Resource("Progress", permission=StagePermission)


class AlarmOut(BaseModel):
    """Something urgent."""

    level: str = Field(description="now or soon.")
    sentence: str


class PaceOut(BaseModel):
    """Submissions per hour, and when what is missing would be in at that pace."""

    per_hour: float
    likely: Time
    soonest: Time
    latest: Time | None = Field(description="Null: it cannot be foreseen.")


class PayOut(BaseModel):
    """What an hour of the work really pays."""

    assignments: int
    median_seconds: float | None
    cents_per_hour: int | None
    floor_cents: int
    below_floor: bool
    simulated: bool


class ProgressOut(BaseModel):
    """Counts, pay, alarms and money of a stage."""

    status: str
    hits: dict[str, int] = Field(description="By state.")
    assignments: dict[str, int] = Field(description="By state.")
    places: int
    open_places: int
    expired_places: int
    answered: int
    held: int
    simulated: int
    units_missing: int
    answers_missing: int = Field(description="Answers to units; an assignment has one for each of its units.")
    waiting_operations: int = Field(description="Calls of the marketplace that are planned and not sent yet.")
    rewards_cents: int
    fees_cents: int
    currency: str
    pace: PaceOut | None
    pay: PayOut
    alarms: list[AlarmOut]
    done: bool = Field(description="Closed or not open, and nothing is at work, on offer or on its way.")
    counted_at: Time | None = Field(description="Of large stages; null: now.")


@progress.get("/projects/{project}/stages/{stage}/progress", scopes=[Scope.READ], role=Role.VIEWER)
def get_progress(request: ApiRequest, project: str, stage: str) -> ProgressOut:
    """How far a stage is, what it costs and pays, and what is urgent."""
    row = stage_access(request).stage
    with page_figures():
        now = standing(row)
    counts, pay = now.progress, now.pay
    return ProgressOut(
        status=row.status,
        hits=counts.hits,
        assignments=counts.assignments,
        places=counts.places,
        open_places=counts.open_places,
        expired_places=counts.expired_places,
        answered=counts.answered,
        held=counts.held,
        simulated=counts.simulated,
        units_missing=counts.units_missing,
        answers_missing=counts.answers_missing,
        waiting_operations=now.waiting,
        rewards_cents=now.rewards_cents,
        fees_cents=now.fees_cents,
        currency=row.endpoint.currency,
        pace=PaceOut.model_validate(counts.pace, from_attributes=True) if counts.pace else None,
        pay=PayOut(
            assignments=pay.assignments,
            median_seconds=pay.median_seconds,
            cents_per_hour=pay.cents_per_hour,
            floor_cents=pay.floor_cents,
            below_floor=pay.below,
            simulated=pay.simulated,
        ),
        alarms=[AlarmOut(level=alarm.level, sentence=alarm.sentence) for alarm in now.alarms],
        done=_is_done(row.status, now),
        counted_at=now.counted_at,
    )


class StageProgress(BaseModel):
    """How much of what a stage published is done."""

    stage: str
    kind: str
    status: str
    done: int
    total: int
    held: int
    waiting_operations: int = Field(description="Calls that need a person.")


class ProjectStatus(BaseModel):
    """How the stages of a project are doing; of large ones some seconds ago."""

    project: str
    stages: list[StageProgress]


@progress.get("/projects/{project}/status", scopes=[Scope.READ], role=Role.VIEWER)
def get_status(request: ApiRequest, project: str) -> ProjectStatus:
    """All stages of a project at a glance."""
    at = project_access(request).project
    with page_figures():
        cards = stage_cards(at)
    return ProjectStatus(
        project=at.slug,
        stages=[
            StageProgress(
                stage=card.stage.slug,
                kind=card.stage.kind,
                status=card.stage.status,
                done=card.done,
                total=card.total,
                held=card.held,
                waiting_operations=card.undecided,
            )
            for card in cards
        ],
    )


def _is_done(status: str, now: StageStatus) -> bool:
    counts = now.progress
    at_work = counts.assignments.get("working", 0) + counts.assignments.get("stored", 0)
    on_offer = counts.hits.get("open", 0) + counts.hits.get("planned", 0)
    return not (status == "open" or now.waiting or at_work or on_offer)
