"""The sources of a stage: endpoints from which its people come, each with its part of the work."""

from typing import Annotated, Any, Literal, Self

from django.http import Http404
from pydantic import BaseModel, Field, model_validator

from core.api.models import Scope
from crowd.access import StageAccess
from crowd.api.access import StagePermission, stage_access
from crowd.models import Stage, StageSource
from crowd.rights import usable_endpoints
from crowd.selectors.stage_status import SourceStatus, source_status
from crowd.services import sources as services
from crowd.services.sources import MOST_SOURCES, SourcePlan, mark_of_sources
from crowd.sources import forget_rows, source_rows
from web.api.access import ApiRequest, Role
from web.api.fields import MOST_NUMBER, Body, Cents, OneOf, RateCents, Why
from web.api.problems import ProblemError
from web.api.resources import Resource, RevisedModel, seen_values

sources = Resource("Sources of a stage", permission=StagePermission)
_LIST = "/projects/{project}/stages/{stage}/sources"
_ONE = f"{_LIST}/{{endpoint}}"
_YEAR = 365 * 24 * 3600
Name = Annotated[str, Field(min_length=1, max_length=60, description="Name of an endpoint.")]
ShareOfWork = Annotated[int, Field(ge=1, le=1_000_000)]
MostAnswers = Annotated[int, Field(ge=0, le=MOST_NUMBER)]
MoveAfter = Annotated[int, Field(ge=60, le=_YEAR)]


class SourceIn(Body):
    """A source and its quota: a share, or a number of answers."""

    endpoint: Name
    share: ShareOfWork | None = Field(
        None, description="Its weight among those who share what counts leave: 1 and 1 are half each."
    )
    most_answers: MostAnswers | None = Field(
        None, description="So many answers and no more, all units together, instead of a share."
    )
    reward_cents: RateCents | None = Field(None, description="For each HIT there; null: the stage's reward.")
    move_after_seconds: MoveAfter | None = Field(
        None, description="What was on offer there for so long goes to the others; null: it stays."
    )

    @model_validator(mode="after")
    def _has_one_quota(self) -> Self:
        if (self.share is None) == (self.most_answers is None):
            raise ValueError("give either share or most_answers")
        return self


class SourcesIn(Body):
    """All sources of the stage; its own endpoint is among them. An empty list: its own endpoint alone."""

    sources: list[SourceIn] = Field(
        max_length=MOST_SOURCES,
        examples=[[{"endpoint": "local", "share": 1}, {"endpoint": "panel", "most_answers": 200}]],
    )
    confirm_budget_cents: Cents | None = Field(
        None, description="The stage's budget, where a new source spends real money in a running stage."
    )


class SourceOut(BaseModel):
    """A source, how far its part is, and what it costs."""

    endpoint: str
    label: str
    protocol: str
    status: Annotated[str, OneOf(StageSource.Status)] = Field(
        description="paused: its part waits for it; closed: the others do what it leaves undone."
    )
    real_money: bool
    share: int | None
    most_answers: int | None
    reward_cents: int | None = Field(description="null: the stage's reward.")
    move_after_seconds: int | None
    answers: int = Field(description="That count towards its part.")
    on_offer: int = Field(description="Places.")
    given_to_others: int = Field(description="Places that were taken from its part.")
    at_work: int
    undecided: int
    spent_cents: int = Field(description="Rewards and bonuses.")
    fee_cents: int
    reserved_cents: int
    cents_per_hour: int | None = Field(description="Measured, else expected; null: nothing is known.")
    below_wage_floor: bool


class StageSources(RevisedModel):
    """Where the people of a stage come from; the ETag is for changing it."""

    items: list[SourceOut] = Field(description="Empty: they come from the stage's own endpoint alone.")
    own_endpoint: str
    currency: str


class SourceStatusIn(Body):
    """What becomes of a source."""

    status: Literal["paused", "closed"]
    why: Why = ""


class SourceOpening(Body):
    """Where money is real in a running stage: its budget, as a person confirmed it."""

    why: Why = ""
    confirm_budget_cents: Cents | None = None


_NO_OPENING = SourceOpening()


@sources.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def get_sources(request: ApiRequest, project: str, stage: str) -> StageSources:
    """The sources of a stage, with what became of the part of each."""
    return _describe_all(stage_access(request).stage)


@sources.put(_LIST, scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, spends=True, revised=True)
def set_sources(request: ApiRequest, project: str, stage: str, body: SourcesIn) -> StageSources:
    """Set all sources and their quotas. New HITs are divided in this way, also while the stage runs.

    A source that has published stays in the list; close it to end it.
    """
    access = stage_access(request)
    plans = _plans(access.stage, body)
    is_open = access.stage.status == Stage.Status.OPEN
    if is_open and not access.owns and any(plan.endpoint.real_money for plan in plans):
        raise ProblemError(
            403, "role_missing", "Only an owner of the project can change sources that spend real money."
        )
    services.set_sources(
        stage=access.stage,
        plans=plans,
        actor=access.user,
        typed_cents=body.confirm_budget_cents,
        seen=seen_values(request),
    )
    return _describe_all(access.stage)


@sources.post(f"{_ONE}/open", scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, spends=True, atomic=False)
def open_source(
    request: ApiRequest, project: str, stage: str, endpoint: str, body: SourceOpening = _NO_OPENING
) -> StageSources:
    """Let a paused or closed source take work again."""
    access, row = _source(request, endpoint)
    services.open_source(
        stage=access.stage,
        row=row,
        actor=access.user,
        typed_cents=body.confirm_budget_cents,
        why=body.why,
    )
    return _describe_all(access.stage)


@sources.put(f"{_ONE}/status", scopes=[Scope.COLLECT], role=Role.MANAGER, atomic=False)
def set_source_status(
    request: ApiRequest, project: str, stage: str, endpoint: str, body: SourceStatusIn
) -> StageSources:
    """Pause or close a source.

    paused: nothing more is published there for now, what is on offer stays, and its part waits for it.
    closed: its HITs expire, and the other sources do its unfinished part; work that was begun is paid.
    """
    access, row = _source(request, endpoint)
    change: dict[str, Any] = {"stage": access.stage, "row": row, "actor": access.user, "why": body.why}
    if body.status == "closed":
        services.close_source(**change)
    elif row.status != StageSource.Status.PAUSED:
        services.pause_source(**change)
    return _describe_all(access.stage)


def _source(request: ApiRequest, endpoint: str) -> tuple[StageAccess, StageSource]:
    access = stage_access(request)
    names = {access.stage.endpoint.name, *(row.endpoint.name for row in source_rows(access.stage))}
    if endpoint not in names:
        raise Http404(
            f"The stage has no source {endpoint[:60]!r}; its sources are: {', '.join(sorted(names))}."
        )
    return access, services.row_of(access.stage, endpoint)


def _plans(stage: Stage, body: SourcesIn) -> list[SourcePlan]:
    usable = usable_endpoints([stage.project], used_by=stage)
    endpoints = {row.name: row for row in usable.filter(name__in=[each.endpoint for each in body.sources])}
    for number, each in enumerate(body.sources):
        if each.endpoint not in endpoints:
            sentence = f"There is no endpoint {each.endpoint!r} that this project may use."
            raise ProblemError(
                422, "no_such_endpoint", sentence, errors={f"sources.{number}.endpoint": [sentence]}
            )
    if [each.endpoint for each in body.sources] == [stage.endpoint.name]:
        return []
    return [
        SourcePlan(endpoints[each.endpoint], **each.model_dump(exclude={"endpoint"})) for each in body.sources
    ]


def _describe_all(stage: Stage) -> StageSources:
    forget_rows(stage)
    answer = StageSources(
        items=[_describe(each) for each in source_status(stage)],
        own_endpoint=stage.endpoint.name,
        currency=stage.endpoint.currency,
    )
    return answer.with_mark(mark_of_sources(stage))


def _describe(each: SourceStatus) -> SourceOut:
    row, pay = each.row, each.pay
    return SourceOut(
        endpoint=row.endpoint.name,
        label=row.endpoint.label,
        protocol=row.endpoint.protocol,
        status=row.status,
        real_money=row.endpoint.real_money,
        share=row.share,
        most_answers=row.most_answers,
        reward_cents=row.reward_cents,
        move_after_seconds=row.move_after_seconds,
        answers=each.places.answers,
        on_offer=each.places.on_offer,
        given_to_others=each.places.taken_away,
        at_work=each.at_work,
        undecided=each.undecided,
        spent_cents=each.money.spent_cents,
        fee_cents=each.money.fee_cents,
        reserved_cents=each.money.reserved_cents,
        cents_per_hour=pay.cents_per_hour,
        below_wage_floor=pay.below,
    )
