"""Stages: drafts and their terms, what opening costs, a stage's life, and how it is doing."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from django.db.models import Prefetch, QuerySet
from ninja import Query
from pydantic import BaseModel, Field, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from core.api.models import Scope
from core.projects.models import Project
from core.revisions import ShownColumns
from crowd.api.access import StagePermission, stage_access
from crowd.errors import StageStateError
from crowd.kinds import StageKind, kind_named, kind_of, kinds, made_listing
from crowd.models import Stage, StageSource
from crowd.rights import usable_endpoints
from crowd.selectors.known_people import list_cautions
from crowd.selectors.stage_status import StageStatus, standing
from crowd.selectors.work_lists import stage_cards
from crowd.services import stages as services
from crowd.services.instructions import list_missing_texts
from crowd.services.publication import Quote, quote
from crowd.sources import spends_real_money
from crowd.study.documents import COLUMNS
from crowd.study.reader import complete_config, task_texts
from crowd.study.schema import RuleFields, TaskFields
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import MOST_NUMBER, Body, Cents, OneOf, Slug, Time, Why
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource, RevisedModel, seen_columns

stages = Resource("Stages", permission=StagePermission)
Status = Stage.Status
_LIST, _ONE = "/projects/{project}/stages", "/projects/{project}/stages/{stage}"
_DAY = 24 * 3600
_BIGINT = 9_223_372_036_854_775_807

Reward = Annotated[int, Field(ge=0, le=1_000_000, description="For each HIT; fees come on top.")]
Redundancy = Annotated[int, Field(ge=1, le=10_000, description="Different people who answer each unit.")]
UnitsPerHit = Annotated[int, Field(ge=1, le=1000)]
ChecksPerHit = Annotated[int, Field(ge=0, le=100, description="Attention checks mixed into each HIT.")]
MostHits = Annotated[int, Field(ge=1, le=MOST_NUMBER, description="HITs that one person may do.")]
Expected = Annotated[int, Field(ge=6, le=36_000, description="Your guess of what one HIT takes.")]
WorkTime = Annotated[int, Field(ge=30, le=365 * _DAY, description="From accepting a HIT to submitting it.")]
OpenTime = Annotated[int, Field(ge=30, le=365 * _DAY, description="How long a HIT can be accepted.")]
ApprovalTime = Annotated[int, Field(ge=0, le=30 * _DAY, description="Undecided work is approved then.")]
Seed = Annotated[int, Field(ge=-_BIGINT, le=_BIGINT - 1_000_000)]
Approval = Literal["at-once", "by-hand"]
Rules = Annotated[list[RuleFields], Field(max_length=8, description="Who may work; all must hold.")]
Apart = Annotated[list[Slug], Field(max_length=20, description="Stages whose workers do nothing here.")]
Title = Annotated[str, Field(min_length=1, max_length=200)]


def _options_of(kind: StageKind) -> CoreSchema:
    return kind.config.__pydantic_core_schema__


class ConfigByKind:
    """Marks options of a kind of stage; the schema has the model of each kind."""

    def __get_pydantic_json_schema__(
        self, _core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        models = handler(core_schema.union_schema([_options_of(kind) for kind in kinds()]))
        return {**models, "description": "Options of its kind."}


Config = Annotated[dict[str, Any], ConfigByKind()]


class StageIn(Body):
    """A draft. Without `task`, its kind makes the texts of the marketplace's list.

    `kind` says which model `config` has.
    """

    slug: Slug
    title: Title
    kind: str = Field(min_length=1, max_length=40, description="Kind of work.")
    endpoint: str = Field(min_length=1, max_length=60, description="Name of a marketplace.")
    reward_cents: Reward
    redundancy: Redundancy
    units_per_hit: UnitsPerHit = 1
    checks_per_hit: ChecksPerHit = 0
    max_hits_per_worker: MostHits | None = None
    expected_seconds: Expected | None = None
    work_seconds: WorkTime = 3600
    open_seconds: OpenTime = 7 * _DAY
    auto_approve_seconds: ApprovalTime = 3 * _DAY
    budget_cents: Cents = Field(0, description="Most that it may spend; set by owners.")
    seed: Seed = 1
    eligibility: Rules = Field(default_factory=list)
    apart_from: Apart = Field(default_factory=list)
    approve: Approval = "at-once"
    hold_failed_checks: bool = False
    task: TaskFields | None = None
    config: Config = Field(default_factory=dict)

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Its fields, with the model of `config` for each kind."""
        schema = handler.resolve_ref_schema(handler(core))
        schema["properties"]["kind"]["enum"] = [kind.name for kind in kinds()]
        schema["oneOf"] = [
            {
                "title": kind.label,
                "properties": {
                    "kind": {"const": kind.name},
                    "config": handler(core_schema.union_schema([_options_of(kind)])),
                },
            }
            for kind in kinds()
        ]
        return schema


class StageChanges(Body):
    """Fields to change; what is left out stays. Terms under which people work already cannot change."""

    title: Title | None = None
    endpoint: str | None = Field(None, min_length=1, max_length=60)
    reward_cents: Reward | None = None
    redundancy: Redundancy | None = None
    units_per_hit: UnitsPerHit | None = None
    checks_per_hit: ChecksPerHit | None = None
    max_hits_per_worker: MostHits | None = None
    expected_seconds: Expected | None = None
    work_seconds: WorkTime | None = None
    open_seconds: OpenTime | None = None
    auto_approve_seconds: ApprovalTime | None = None
    budget_cents: Cents | None = Field(None, description="Set by owners.")
    seed: Seed | None = None
    eligibility: Rules | None = None
    apart_from: Apart | None = None
    approve: Approval | None = None
    hold_failed_checks: bool | None = None
    task: TaskFields | None = None
    config: Config | None = None


#: Fields for which null says "none", not "as it is".
_MAY_BE_NONE = frozenset({"max_hits_per_worker", "expected_seconds"})


class StageOut(RevisedModel):
    """One kind of work asked of people, with its terms and money."""

    slug: str
    title: str
    kind: str
    status: Annotated[str, OneOf(Status)]
    endpoint: str
    real_money: bool
    currency: str
    reward_cents: int
    redundancy: int
    units_per_hit: int
    checks_per_hit: int
    max_hits_per_worker: int | None
    expected_seconds: int | None
    work_seconds: int
    open_seconds: int
    auto_approve_seconds: int
    budget_cents: int
    reserved_cents: int
    spent_cents: int
    seed: int
    eligibility: list[dict[str, Any]]
    apart_from: list[str]
    approve: Approval
    hold_failed_checks: bool
    task_title: str
    task_description: str
    task_keywords: str
    config: dict[str, Any]
    instructions_version: int = Field(
        description="Of description and instructions, which may change any time."
    )
    created_at: Time
    opened_at: Time | None


class StatusIn(Body):
    """What becomes of a stage; opening it is `open_stage`."""

    status: Literal["paused", "closed"]
    why: Why = ""


class QuoteOut(BaseModel):
    """What publishing everything that is missing would cost."""

    units: int
    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int
    screen_out_cents: int = Field(description="Set aside for paid screen-outs of a panel, with their fee.")
    total_cents: int
    top_up_cents: int = Field(description="What experience says that replacements will add.")
    budget_left_cents: int
    currency: str
    affordable: bool
    work_seconds: int | None = Field(description="People's time, all together, by your guess.")
    left_out: dict[str, int] = Field(description="Units that are not asked about, by reason.")
    cautions: list[str]
    problems: list[str] = Field(description="What keeps it from opening, beside money.")
    confirm_budget_cents: int | None = Field(
        description="What `open` must be told where money is real; null: nothing."
    )


class OpeningTerms(Body):
    """Where money is real: the stage's budget, as a person confirmed it."""

    confirm_budget_cents: Cents | None = None


#: What a request without a body says.
_NO_OPENING = OpeningTerms()


def describe(stage: Stage) -> StageOut:
    """A stage, as JSON."""
    return StageOut(
        **{name: getattr(stage, name) for name in StageOut.model_fields if name in _SAME},
        endpoint=stage.endpoint.name,
        real_money=spends_real_money(stage),
        currency=stage.endpoint.currency,
        approve="at-once" if stage.approve_at_once else "by-hand",
        config=complete_config(stage.kind, stage.config),
    ).marked(stage, COLUMNS)


_SAME = frozenset(StageOut.model_fields) & {field.name for field in Stage._meta.concrete_fields} - {
    "endpoint",
    "config",
}


def stage_rows(access: ProjectAccess) -> QuerySet[Stage]:
    """The stages of a project."""
    sources = StageSource.objects.select_related("endpoint").order_by("position")
    rows = Stage.objects.filter(project=access.project).select_related("endpoint", "project")
    return rows.prefetch_related(Prefetch("sources", sources))


@stages.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_stages(request: ApiRequest, project: str, paging: Query[PageRequest]) -> Page[StageOut]:
    """The stages of a project, in the order in which they were made."""
    access = project_access(request)
    page = page_of(stage_rows(access), paging, within=access.project.pk)
    return Page(items=[describe(row) for row in page.items], next=page.next)


@stages.post(_LIST, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def create_stage(request: ApiRequest, project: str, body: StageIn) -> StageOut:
    """Make a draft; nothing is published before it is opened."""
    access = project_access(request)
    if body.budget_cents:
        _refuse_budget(access)
    columns = _columns(body.model_dump(exclude={"task", "slug"}, mode="json"), access.project)
    columns["config"] = _config(body.kind, body.config)
    task = body.task or _made_task(body)
    columns |= {f"task_{name}": text for name, text in task.model_dump().items()}
    return describe(
        services.create_stage(project=access.project, slug=body.slug, actor=access.user, **columns)
    )


@stages.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_stage(request: ApiRequest, project: str, stage: str) -> StageOut:
    """One stage; the ETag is for changing it."""
    return describe(stage_access(request).stage)


@stages.patch(_ONE, scopes=[Scope.COLLECT], role=Role.MANAGER, revised=True)
def change_stage(request: ApiRequest, project: str, stage: str, body: StageChanges) -> StageOut:
    """Change a stage, all of it or nothing. Terms under which people work already cannot change."""
    access = stage_access(request)
    row, changed_fields = access.stage, body.model_dump(exclude_unset=True, exclude={"task"}, mode="json")
    changed_fields = {
        name: value for name, value in changed_fields.items() if value is not None or name in _MAY_BE_NONE
    }
    if changed_fields.get("budget_cents", row.budget_cents) != row.budget_cents:
        _refuse_budget(access)
        if row.status == Status.OPEN and row.endpoint.real_money:
            raise StageStateError("Pause the stage first: opening it again confirms the new amount.")
    changes = _columns(changed_fields, access.project, row)
    if "config" in changes:
        changes["config"] = _config(row.kind, changes["config"])
    if body.task is not None:
        changes |= {f"task_{name}": text for name, text in body.task.model_dump().items()}
    seen: ShownColumns = seen_columns(request, COLUMNS)
    return describe(
        services.change_stage(
            stage=row, changes=changes, actor=access.user, seen=seen, texts_follow=body.task is None
        )
    )


@stages.post(f"{_ONE}/quote", scopes=[Scope.COLLECT], role=Role.MANAGER, atomic=False)
def quote_stage(request: ApiRequest, project: str, stage: str) -> QuoteOut:
    """What opening it would cost, fees as panels say; brings its units up to date, publishes nothing."""
    row = stage_access(request).stage
    services.refuse_unknown_names(row)
    cautions = services.take_panel_fees(row)
    kind_of(row).prepare(row)
    return _quote(row, quote(row), cautions, list(services.opening_problems(row)))


@stages.post(f"{_ONE}/open", scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, spends=True, atomic=False)
def open_stage(request: ApiRequest, project: str, stage: str, body: OpeningTerms = _NO_OPENING) -> QuoteOut:
    """Open a draft or paused stage: its HITs are published, and their money is reserved."""
    access = stage_access(request)
    offer = services.open_stage(stage=access.stage, actor=access.user, typed_cents=body.confirm_budget_cents)
    return _quote(access.stage, offer)


@stages.put(f"{_ONE}/status", scopes=[Scope.COLLECT], role=Role.MANAGER, atomic=False)
def set_stage_status(request: ApiRequest, project: str, stage: str, body: StatusIn) -> StageOut:
    """Pause or close a stage, or set a closed one back to paused; opening it is `open_stage`.

    paused: nothing more is published for now, what is on offer stays, and what comes in is collected. closed:
    all its HITs expire; work that people have begun may still come in, and is paid.
    """
    access = stage_access(request)
    change: dict[str, Any] = {"stage": access.stage, "actor": access.user, "why": body.why}
    if body.status == "closed":
        services.close_stage(**change)
    elif access.stage.status == Status.CLOSED:
        services.reopen_stage(**change)
    elif access.stage.status != Status.PAUSED:
        services.pause_stage(**change)
    return _now(access.stage)


def _columns(fields: dict[str, Any], project: Project, stage: Stage | None = None) -> dict[str, Any]:
    """Fields as columns of the row: the marketplace itself, and approval as a switch."""
    columns = dict(fields)
    if "endpoint" in columns:
        name = columns["endpoint"]
        columns["endpoint"] = usable_endpoints([project], used_by=stage).filter(name=name).first()
        if columns["endpoint"] is None:
            sentence = f"There is no endpoint {name!r} that this project may use."
            raise ProblemError(422, "no_such_endpoint", sentence, errors={"endpoint": [sentence]})
    if "approve" in columns:
        columns["approve_at_once"] = columns.pop("approve") == "at-once"
    return columns


def _config(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options as the kind's own model has them, with defaults."""
    try:
        return kind_named(kind).config.model_validate(options).model_dump(mode="json")
    except KeyError as error:
        sentence = str(error.args[0])
        raise ProblemError(422, "no_such_kind", sentence, errors={"kind": [sentence]}) from error
    except ValidationError as error:
        errors: dict[str, list[str]] = {}
        for each in error.errors(include_url=False, include_input=False):
            path = (*each["loc"], *each.get("ctx", {}).get("within", ()))
            field = ".".join(("config", *map(str, path)))
            errors.setdefault(field, []).append(f"{each['msg']}.")
        name, sentences = next(iter(errors.items()))
        raise ProblemError(422, "invalid", f"{name}: {sentences[0]}", errors=errors) from error


def _made_task(body: StageIn) -> TaskFields:
    """Texts that the kind makes of the terms."""
    listing = made_listing(
        kind_named(body.kind),
        units_per_hit=body.units_per_hit,
        checks_per_hit=body.checks_per_hit,
        minutes=None if body.expected_seconds is None else body.expected_seconds / 60,
        config=body.config,
    )
    return task_texts(listing, body.title)


def _refuse_budget(access: ProjectAccess) -> None:
    if not access.owns:
        sentence = "Budgets are set by owners of the project."
        raise ProblemError(403, "role_missing", sentence, errors={"budget_cents": [sentence]})


def _quote(
    stage: Stage, offer: Quote, cautions: Sequence[str] = (), problems: Sequence[str] = ()
) -> QuoteOut:
    kind, real = kind_of(stage), spends_real_money(stage)
    must_confirm = real and stage.armed_cents < stage.budget_cents
    return QuoteOut(
        units=offer.units,
        hits=offer.hits,
        assignments=offer.assignments,
        reward_cents=offer.reward_cents,
        fee_cents=offer.fee_cents,
        screen_out_cents=offer.screen_out_cents,
        total_cents=offer.total_cents,
        top_up_cents=offer.top_up_cents,
        budget_left_cents=offer.budget_left_cents,
        currency=stage.endpoint.currency,
        affordable=offer.affordable,
        work_seconds=offer.work_seconds,
        left_out=dict(kind.left_out(stage)),
        cautions=[*cautions, *list_cautions(stage), *list_missing_texts(stage)],
        problems=list(problems),
        confirm_budget_cents=stage.budget_cents if must_confirm else None,
    )


def _now(stage: Stage) -> StageOut:
    return describe(Stage.objects.select_related("project", "endpoint").get(pk=stage.pk))


# Progress

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
    waiting_decisions: int = Field(
        description="Units that have their answers, and about which the next round decides."
    )
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
        waiting_decisions=counts.waiting_decisions,
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
