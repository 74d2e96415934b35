"""Workers of a project and of one stage: how they work, excluding, compensating and writing to them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from django.http import Http404, StreamingHttpResponse
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.projects.models import Project
from core.projects.selectors import pseudonym
from crowd.access import StageAccess
from crowd.api.access import StagePermission, stage_access
from crowd.api.hits import BonusIn, OperationRef, WorkNote, planned
from crowd.errors import CrowdError
from crowd.models import Compensation, Endpoint, Exclusion, MarketOperation, Stage, Worker
from crowd.selectors import work_lists
from crowd.selectors.people import InStage, Pace, Person, people, workers_of
from crowd.selectors.pseudonyms import PERSON, PersonPseudonyms
from crowd.services import review
from web.access import ProjectAccess
from web.api.access import ApiRequest, Role, project_access
from web.api.bodies import stream_lines, wants_lines
from web.api.fields import MOST_ID, Body, Id, Time
from web.api.pages import Page, PageRequest, page_of, page_of_list
from web.api.problems import ProblemError
from web.api.resources import Resource

workers = Resource("Workers")
_LIST = "/projects/{project}/workers"
_ONE = f"{_LIST}/{{int:worker}}"
Share = Annotated[float | None, Field(description="0 to 1; null: filters looked at none of their judgments.")]


class WorkerFilter(BaseModel):
    """Which workers."""

    state: Literal["all", "flagged", "rejected", "few", "excluded"] = Field(
        "all", description="Who is flagged, has rejected work, did few units, or is excluded."
    )
    worker: str = Field("", max_length=64, description="A part of the id at the marketplace.")


class WorkPace(BaseModel):
    """Time and pay of one HIT: the median and the quartiles."""

    seconds: float | None = Field(description="Median; null: nothing was measured.")
    quarter: float | None = Field(description="First quartile, in seconds; null: too few were measured.")
    three_quarters: float | None = Field(description="Third quartile, in seconds.")
    cents_per_hour: int | None = Field(description="What an hour of their median HIT pays.")


class WorkerNumbers(BaseModel):
    """How much and how reliably a worker works."""

    done: int = Field(description="Assignments that came in and were not rejected.")
    units: int = Field(description="Of these assignments: each has as many as its stage's units per HIT.")
    rejected: int
    held: int
    last_seen_at: Time | None
    pace: WorkPace
    checks_shown: int
    checks_failed: int
    flags: list[str] = Field(description="What asks a person to look; it decides nothing.")


class WorkerOut(WorkerNumbers):
    """A worker over all stages of the project."""

    id: int
    worker: str = Field(description="The worker's id at the marketplace.")
    pseudonym: str | None = Field(description="Their name in exports by the API; null for viewers.")
    person: str | None = Field(
        None, description=f"Their `person` in lines of work; null for viewers. {PERSON}"
    )
    simulated: bool
    stages: int = Field(description="How many they took work in.")
    excluded: int = Field(description="How many stages they are excluded from.")
    enough: bool = Field(description="They did enough to be compared with others.")
    checks_interval: list[float] | None = Field(
        description="Wilson's 95 % interval of the share of checks that they passed; null: none shown."
    )
    kappa: float | None = Field(description="Agreement with all other judges together, mean over stages.")
    kappa_items: int
    judgments: int = Field(description="Judgments that filters looked at.")
    removed: int = Field(description="Of these, removed by the filters in force.")
    removed_share: Share


class WorkerInStage(WorkerNumbers):
    """The same worker in one stage."""

    stage: str
    excluded: str | None = Field(description="Why they are excluded from it; null: they are not.")


class ExclusionOut(BaseModel):
    """A stage that a worker is excluded from."""

    stage: str
    reason: str = Field(description="The worker reads it.")
    since: Time


class WorkerDetails(WorkerOut):
    """With the figures of each stage, and what they are excluded from."""

    by_stage: list[WorkerInStage]
    exclusions: list[ExclusionOut]


class ExclusionIn(Body):
    """Whether a worker is excluded, and why."""

    excluded: bool
    reason: str = Field(
        min_length=1,
        max_length=300,
        description="Of an exclusion the worker reads it; else it is for the log of events.",
        examples=["The same answer to every question."],
    )


class WorkerAccess(BaseModel):
    """A worker, and what they are excluded from now."""

    id: int
    worker: str
    exclusions: list[ExclusionOut]


_STATES: dict[str, Callable[[Person], bool]] = {
    "all": lambda row: True,
    "flagged": lambda row: bool(row.flags),
    "rejected": lambda row: row.rejected > 0,
    "few": lambda row: not row.enough,
    "excluded": lambda row: row.excluded > 0,
}


@workers.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER, lines=WorkerOut)
def list_workers(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[WorkerFilter]
) -> Page[WorkerOut] | StreamingHttpResponse:
    """Who took work of the project, with their figures over all its stages. A flag decides nothing."""
    access = project_access(request)
    if wants_lines(request):
        person_rows = sorted(_people(access, which), key=lambda row: row.worker)
        names = _names_of_people(person_rows, access)
        return stream_lines(_describe(row, access, names) for row in person_rows)
    within = ("workers", access.project.pk, which.state, which.worker)
    rows, following = page_of_list(_people(access, which), paging, key=lambda row: row.worker, within=within)
    names = _names_of_people(rows, access)
    return Page(items=[_describe(row, access, names) for row in rows], next=following)


@workers.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_worker(request: ApiRequest, project: str, worker: int) -> WorkerDetails:
    """One worker over all stages and in each of them, and what they are excluded from."""
    access = project_access(request)
    row = _worker(access, worker)
    figures = next((each for each in people(access.project) if each.worker == row.pk), None)
    if figures is None:  # of large projects the figures are a while old
        detail = "The figures of this worker are not counted yet. Ask again in a minute."
        raise ProblemError(503, "being_counted", detail, headers={"Retry-After": "60"})
    slugs = dict(Stage.objects.filter(project=access.project).values_list("pk", "slug"))
    barred = _exclusions(row, access.project)
    why = {each.stage: each.reason for each in barred}
    return WorkerDetails(
        **dict(_describe(figures, access, _names_of_people([figures], access))),
        by_stage=[_describe_in_stage(each, slugs[each.stage], why) for each in figures.stages],
        exclusions=barred,
    )


@workers.patch(_ONE, scopes=[Scope.DECIDE], role=Role.MANAGER)
def change_worker(request: ApiRequest, project: str, worker: int, body: ExclusionIn) -> WorkerAccess:
    """Exclude a worker from all stages that the project has now at their marketplace, or readmit them.

    What they did stays, and is paid. Stages made later are not among them, and exclusions from single units,
    such as a query that they curated, stay.
    """
    access = project_access(request)
    row = _worker(access, worker)
    change: Callable[..., object]
    change = review.exclude_from_project if body.excluded else review.readmit_to_project
    change(worker=row, project=access.project, reason=body.reason, actor=access.user)
    return _access(row, access.project)


def _people(access: ProjectAccess, which: WorkerFilter) -> Iterator[Person]:
    is_in_state, text = _STATES[which.state], which.worker.lower()
    return (row for row in people(access.project) if is_in_state(row) and text in row.name.lower())


def _worker(access: ProjectAccess, pk: int) -> Worker:
    """A worker who took work of the project; Http404 for others of the marketplace."""
    rows = Worker.objects.filter(assignments__stage__project=access.project).select_related("endpoint")
    row = rows.distinct().filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such worker in this project.")
    return row


def _exclusions(worker: Worker, project: Project) -> list[ExclusionOut]:
    slugs = {
        f"stage:{pk}": slug for pk, slug in Stage.objects.filter(project=project).values_list("pk", "slug")
    }
    rows = Exclusion.objects.filter(worker=worker, scope__in=slugs).order_by("created_at", "pk")
    return [ExclusionOut(stage=slugs[row.scope], reason=row.reason, since=row.created_at) for row in rows]


def _access(worker: Worker, project: Project) -> WorkerAccess:
    return WorkerAccess(id=worker.pk, worker=worker.external_id, exclusions=_exclusions(worker, project))


def _pace(pace: Pace) -> WorkPace:
    facts = asdict(pace)
    return WorkPace(**facts | {"cents_per_hour": facts.pop("per_hour")})


def _numbers(row: Person | InStage) -> dict[str, Any]:
    same = ("done", "units", "rejected", "held")
    return {name: getattr(row, name) for name in same} | {
        "last_seen_at": row.last,
        "pace": _pace(row.pace),
        "checks_shown": row.presented,
        "checks_failed": row.failed,
        "flags": list(row.flags),
    }


def _names_of_people(rows: Iterable[Person], access: ProjectAccess) -> Mapping[int, str]:
    names = PersonPseudonyms(access.project)
    if access.manager:
        names.load(row.worker for row in rows)
    return names


def _describe(row: Person, access: ProjectAccess, names: Mapping[int, str]) -> WorkerOut:
    interval = row.passed_interval
    return WorkerOut(
        **_numbers(row),
        id=row.worker,
        worker=row.name,
        pseudonym=pseudonym(access.project, row.name) if access.manager else None,
        person=names.get(row.worker),
        simulated=row.simulated,
        stages=len(row.stages),
        excluded=row.excluded,
        enough=row.enough,
        checks_interval=list(interval) if interval else None,
        kappa=row.kappa,
        kappa_items=row.kappa_n,
        judgments=row.ratings,
        removed=row.removed,
        removed_share=row.removed_share,
    )


def _describe_in_stage(row: InStage, slug: str, excluded: dict[str, str]) -> WorkerInStage:
    return WorkerInStage(**_numbers(row), stage=slug, excluded=excluded.get(slug))


# Workers of one stage

stage_workers = Resource("Workers of a stage", permission=StagePermission)
_STAGE = "/projects/{project}/stages/{stage}"
_STAGE_WORKERS = f"{_STAGE}/workers"
_STAGE_WORKER = f"{_STAGE_WORKERS}/{{int:worker}}"
Chosen = Annotated[list[Id], Field(min_length=1, max_length=review.MOST_WRITTEN_TO)]


class StageWorkerFilter(BaseModel):
    """Which workers."""

    state: Literal["all", "failed", "rejected", "excluded"] = Field(
        "all", description="Who failed a check, has rejected work, or is excluded from the stage."
    )
    worker: str = Field("", max_length=64, description="A part of the id at the marketplace.")


class CompensationRef(OperationRef):
    """A compensation with the state of its call. A refused one was not paid and can be asked for again."""

    at: Time
    error: str = Field(description="Why the marketplace refused it; empty where it did not.")


class StageWorker(BaseModel):
    """A worker of a stage, with what was counted there."""

    id: int
    worker: str = Field(description="The worker's id at the marketplace.")
    endpoint: str
    simulated: bool
    done: int
    rejected: int
    held: int
    failed_checks: int
    last_seen_at: Time | None
    excluded: str | None = Field(description="Why they are excluded from the stage; null: they are not.")
    compensation: CompensationRef | None = Field(
        None, description="What they got for a session that broke; null: they were not compensated."
    )


class WorkerLetter(Body):
    """A message to workers of the stage; `workers` left out: to all of them."""

    workers: Chosen | None = Field(None, description="Ids of `list_stage_workers`.", examples=[[4, 9]])
    subject: str = Field(min_length=1, max_length=200, pattern=r"\S", examples=["Thank you"])
    text: str = Field(min_length=1, max_length=4096, pattern=r"\S")


class WorkerLetterOutcome(BaseModel):
    """How many a message goes to, and who cannot be reached. It is sent in the marketplace's next round."""

    written_to: int
    unreachable: list[WorkNote] = Field(description="People who have no inbox, with the reason.")
    unknown: list[int] = Field(description="Ids that are no worker of this stage.")
    operations: list[OperationRef] = Field(description="The calls; at most 100 people each.")


@stage_workers.get(_STAGE_WORKERS, scopes=[Scope.READ], role=Role.VIEWER)
def list_stage_workers(
    request: ApiRequest,
    project: str,
    stage: str,
    paging: Query[PageRequest],
    which: Query[StageWorkerFilter],
) -> Page[StageWorker]:
    """Workers of a stage, with the state of their work."""
    row = stage_access(request).stage
    rows = work_lists.workers_in_state(work_lists.workers(row), which.state, which.worker)
    page = page_of(rows, paging, key=("pk",), within=(row.pk, which.state, which.worker))
    return Page(items=_describe_stage_workers(page.items, row.pk), next=page.next)


@stage_workers.patch(_STAGE_WORKER, scopes=[Scope.DECIDE], role=Role.MANAGER)
def change_stage_worker(
    request: ApiRequest, project: str, stage: str, worker: int, body: ExclusionIn
) -> StageWorker:
    """Exclude a worker from the stage from now on, or let them take its work again.

    What they did stays, and is paid. Their work is in `list_assignments`, by their id at the marketplace.
    """
    access = stage_access(request)
    row = _stage_worker(access, worker)
    change: Callable[..., object] = review.exclude_worker if body.excluded else review.readmit_worker
    change(worker=row, stage=access.stage, reason=body.reason, actor=access.user)
    return _stage_worker_now(access, worker)


@stage_workers.post(f"{_STAGE_WORKER}/compensate", scopes=[Scope.PAY], role=Role.MANAGER, spends=True)
def compensate_worker(
    request: ApiRequest, project: str, stage: str, worker: int, body: BonusIn
) -> OperationRef:
    """Pay a worker whose session failed, once in a stage.

    A worker who submitted something gets a bonus, another one a HIT of their own without work. What the
    marketplace refused can be asked for again: the worker's `compensation` says so.
    """
    access = stage_access(request)
    operation = review.compensate(
        stage=access.stage,
        worker=_stage_worker(access, worker),
        cents=body.cents,
        reason=body.reason,
        actor=access.user,
    )
    return planned(operation, operation.endpoint.currency)


@stage_workers.post(f"{_STAGE}/messages", scopes=[Scope.COLLECT], role=Role.MANAGER)
def write_to_workers(
    request: ApiRequest, project: str, stage: str, body: WorkerLetter
) -> WorkerLetterOutcome:
    """Write to workers of the stage: to the named ones, or to all of them.

    The answer says how many it goes to, and names those who cannot be written to.
    """
    access = stage_access(request)
    worker_rows = workers_of(access.stage, most=review.MOST_WRITTEN_TO + 1, among=body.workers)
    if len(worker_rows) > review.MOST_WRITTEN_TO:
        raise CrowdError(
            f"The stage has more than {review.MOST_WRITTEN_TO:,} workers. Name at most so many in `workers`."
        )
    readers, others = review.split_by_inbox(worker_rows)
    if not readers:
        raise CrowdError(
            "None of these workers can be written to: they are not of this stage, or have no inbox."
        )
    operations = review.message_workers(
        stage=access.stage, workers=readers, subject=body.subject, text=body.text, actor=access.user
    )
    return WorkerLetterOutcome(
        written_to=len(readers),
        unreachable=[WorkNote(worker=row.external_id, why=review.NO_INBOX) for row in others],
        unknown=sorted(set(body.workers or ()) - {row.pk for row in worker_rows}),
        operations=[planned(each, access.stage.endpoint.currency) for each in operations],
    )


def _stage_worker(access: StageAccess, pk: int) -> Any:
    row = work_lists.workers(access.stage).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such worker in this stage.")
    return row


def _stage_worker_now(access: StageAccess, pk: int) -> StageWorker:
    (described,) = _describe_stage_workers([_stage_worker(access, pk)], access.stage.pk)
    return described


def _describe_stage_workers(rows: list[Any], stage: int) -> list[StageWorker]:
    names = Endpoint.objects.in_bulk({row.endpoint_id for row in rows})
    barred = Exclusion.objects.filter(worker__in=rows, scope=f"stage:{stage}")
    why = dict(barred.values_list("worker", "reason"))
    paid = Compensation.objects.filter(worker__in=rows, stage=stage).select_related("operation__endpoint")
    compensated = {row.worker_id: _describe_compensation(row) for row in paid}
    return [
        StageWorker(
            id=row.pk,
            worker=row.external_id,
            endpoint=names[row.endpoint_id].name,
            simulated=row.simulated,
            done=row.done,
            rejected=row.rejected,
            held=row.held,
            failed_checks=row.failed or 0,
            last_seen_at=row.last,
            excluded=why.get(row.pk),
            compensation=compensated.get(row.pk),
        )
        for row in rows
    ]


def _describe_compensation(row: Compensation) -> CompensationRef:
    call = planned(row.operation, row.operation.endpoint.currency)
    refused = row.operation.state == MarketOperation.State.REFUSED
    error = row.operation.error_text if refused else ""
    return CompensationRef(**call.model_dump(), at=row.at, error=error)
