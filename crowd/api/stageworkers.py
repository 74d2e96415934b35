"""Workers of one stage: what they did there, and excluding, readmitting, compensating and writing to them."""

from typing import Annotated, Any, Literal

from django.http import Http404
from django.utils import timezone
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from core.money import dollars
from crowd.api.access import StagePermission, stage_access
from crowd.api.assignments import BonusIn, WorkNote
from crowd.api.hits import OperationRef, planned
from crowd.api.workers import ReasonForLog, ReasonForWorker
from crowd.desk import tables
from crowd.desk.access import StageAccess
from crowd.errors import CrowdError
from crowd.models import Endpoint, Exclusion
from crowd.services import review
from web.api.access import ApiRequest, Role
from web.api.fields import MOST_ID, Body, Id, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

workers = Resource("Workers of a stage", permission=StagePermission)
_STAGE = "/projects/{project}/stages/{stage}"
_LIST = f"{_STAGE}/workers"
_ONE = f"{_LIST}/{{int:worker}}"
_MOST_WRITTEN_TO = 5_000
Chosen = Annotated[list[Id], Field(min_length=1, max_length=_MOST_WRITTEN_TO)]


class StageWorkerFilter(BaseModel):
    """Which workers: those who failed a check, with rejected work, or excluded from the stage."""

    state: Literal["all", "failed", "rejected", "excluded"] = "all"
    worker: str = Field("", max_length=64, description="A part of the id at the marketplace.")


class StageWorker(BaseModel):
    """A worker of a stage."""

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


@workers.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_stage_workers(
    request: ApiRequest,
    project: str,
    stage: str,
    paging: Query[PageRequest],
    which: Query[StageWorkerFilter],
) -> Page[StageWorker]:
    """Who took work of a stage, and what became of it."""
    row = stage_access(request).stage
    rows = tables.workers_in_state(tables.workers(row), which.state, which.worker)
    page = page_of(rows, paging, key=("pk",), within=(row.pk, which.state, which.worker))
    return Page(items=_describe(page.items, row.pk), next=page.next)


@workers.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_stage_worker(request: ApiRequest, project: str, stage: str, worker: int) -> StageWorker:
    """One worker of a stage. Their work is in `list_assignments`, by their id at the marketplace."""
    return _now(stage_access(request), worker)


@workers.post(f"{_ONE}/exclude", scopes=[Scope.DECIDE], role=Role.MANAGER)
def exclude_stage_worker(
    request: ApiRequest, project: str, stage: str, worker: int, body: ReasonForWorker
) -> StageWorker:
    """Exclude a worker from the stage from now on. What they did stays, and is paid."""
    access = stage_access(request)
    row = _worker(access, worker)
    review.exclude_worker(worker=row, stage=access.stage, reason=body.reason, actor=access.user)
    return _now(access, worker)


@workers.post(f"{_ONE}/readmit", scopes=[Scope.DECIDE], role=Role.MANAGER)
def readmit_stage_worker(
    request: ApiRequest, project: str, stage: str, worker: int, body: ReasonForLog
) -> StageWorker:
    """Let an excluded worker take work of the stage again."""
    access = stage_access(request)
    row = _worker(access, worker)
    review.readmit_worker(worker=row, stage=access.stage, reason=body.reason, actor=access.user)
    return _now(access, worker)


@workers.post(f"{_ONE}/compensate", scopes=[Scope.PAY], role=Role.MANAGER, spends=True)
def compensate_worker(
    request: ApiRequest, project: str, stage: str, worker: int, body: BonusIn
) -> OperationRef:
    """Pay a worker whose session broke, once in a stage.

    Who submitted something gets a bonus, others a HIT of their own without work.
    """
    access, now = stage_access(request), timezone.now()
    operation = review.compensate(
        stage=access.stage,
        worker=_worker(access, worker),
        cents=body.cents,
        reason=body.reason,
        actor=access.user,
    )
    if operation.planned_at < now:
        raise CrowdError(
            f"They were compensated in this stage already, with {dollars(operation.amount_cents)}. "
            "For more, pay a bonus on their work."
        )
    return planned(operation, operation.endpoint.currency)


@workers.post(f"{_STAGE}/messages", scopes=[Scope.COLLECT], role=Role.MANAGER)
def write_to_workers(
    request: ApiRequest, project: str, stage: str, body: WorkerLetter
) -> WorkerLetterOutcome:
    """Write to workers of the stage: to the named ones, or to all of them.

    The answer says how many it goes to, and names those who cannot be written to.
    """
    access = stage_access(request)
    rows = tables.workers(access.stage).order_by("pk")
    if body.workers is not None:
        rows = rows.filter(pk__in=body.workers)
    found = list(rows[: _MOST_WRITTEN_TO + 1])
    if len(found) > _MOST_WRITTEN_TO:
        raise CrowdError(
            f"The stage has more than {_MOST_WRITTEN_TO:,} workers. Name at most so many in `workers`."
        )
    readers, others = review.split_by_inbox(found)
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
        unknown=sorted(set(body.workers or ()) - {row.pk for row in found}),
        operations=[planned(each, access.stage.endpoint.currency) for each in operations],
    )


def _worker(access: StageAccess, pk: int) -> Any:
    row = tables.workers(access.stage).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such worker in this stage.")
    return row


def _now(access: StageAccess, pk: int) -> StageWorker:
    (found,) = _describe([_worker(access, pk)], access.stage.pk)
    return found


def _describe(rows: list[Any], stage: int) -> list[StageWorker]:
    names = Endpoint.objects.in_bulk({row.endpoint_id for row in rows})
    barred = Exclusion.objects.filter(worker__in=rows, scope=f"stage:{stage}")
    why = dict(barred.values_list("worker", "reason"))
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
        )
        for row in rows
    ]
