"""HITs of a stage: what is on offer, longer, more or less of it."""

import uuid
from datetime import timedelta
from typing import Annotated, Any, Literal

from django.http import Http404, StreamingHttpResponse
from django.utils import timezone
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission, stage_access
from crowd.desk import tables
from crowd.desk.access import StageAccess
from crowd.errors import StageStateError
from crowd.kinds import kind_of
from crowd.models import Hit, MarketOperation
from crowd.services import stages as services
from web.api.access import ApiRequest, Role
from web.api.fields import Body, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import KEY_HEADER, Resource
from web.api.streams import lines_of, rows_by_key, stream_lines

hits = Resource("HITs", permission=StagePermission)
_LIST = "/projects/{project}/stages/{stage}/hits"
_ONE = f"{_LIST}/{{number}}"
_MOST_NUMBER = 2_147_483_647


class HitFilter(BaseModel):
    """Which HITs."""

    state: Literal["all", "planned", "open", "closed", "refused"] = "all"


class HitOut(BaseModel):
    """A task on offer to several people."""

    number: int = Field(description="Within its stage.")
    external_id: str = Field(description="At the marketplace; empty until it is published.")
    state: Annotated[str, OneOf(Hit.State)]
    places: int = Field(description="Different people who may do it.")
    answered: int
    working: int
    reward_cents: int
    fee_cents: int = Field(description="Expected, for each assignment.")
    wave: int = Field(description="0 for the first publication, then top-ups.")
    published_at: Time | None
    expires_at: Time | None


class UnitOut(BaseModel):
    """A unit in a HIT."""

    unit: str
    role: Literal["unit", "overlap", "check"]
    wording: str


class HitDetails(HitOut):
    """A HIT together with the units that its task page shows."""

    units: list[UnitOut]


class HitLine(BaseModel):
    """A line of the export."""

    number: int
    external_id: str
    state: str
    places: int
    reward_cents: int
    fee_cents: int
    wave: int
    published_at: Time | None
    expires_at: Time | None


class MoreTime(Body):
    """How much longer."""

    hours: int = Field(ge=1, le=24 * 365)


class MorePlaces(Body):
    """How many more people."""

    places: int = Field(ge=1, le=10_000)


class OperationRef(BaseModel):
    """A call that is planned; it is sent in the next round at the marketplace."""

    operation: uuid.UUID
    kind: str
    state: str
    amount_cents: int
    fee_cents: int
    currency: str


def planned(operation: MarketOperation, currency: str) -> OperationRef:
    """An operation as the answer to what asked for it."""
    return OperationRef(
        operation=operation.pk,
        kind=operation.kind,
        state=operation.state,
        amount_cents=operation.amount_cents,
        fee_cents=operation.fee_cents,
        currency=currency,
    )


def purpose_of(request: ApiRequest) -> str:
    """The name under which a call is planned: the same for a request that comes again, else a new one."""
    key = request.headers.get(KEY_HEADER, "")
    if not key:
        return f"api {uuid.uuid4().hex}"
    return f"api {uuid.uuid5(uuid.NAMESPACE_URL, f'{request.caller.user.pk} {key}').hex}"


@hits.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_hits(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest], which: Query[HitFilter]
) -> Page[HitOut]:
    """HITs of a stage, by number."""
    row = stage_access(request).stage
    page = page_of(tables.hits(row, which.state), paging, key=("ordinal",), within=(row.pk, which.state))
    return Page(items=[HitOut(**_facts(each)) for each in page.items], next=page.next)


@hits.get(f"{_LIST}.jsonl", scopes=[Scope.READ], role=Role.VIEWER, content=lines_of(HitLine))
def export_hits(request: ApiRequest, project: str, stage: str) -> StreamingHttpResponse:
    """All HITs of a stage, one per line."""
    rows = Hit.objects.filter(stage=stage_access(request).stage)
    names = [name for name in HitLine.model_fields if name != "number"]
    return stream_lines(_numbered(rows_by_key(rows.values("ordinal", *names), key="ordinal")))


def _numbered(rows: Any) -> Any:
    for row in rows:
        yield {"number": row.pop("ordinal"), **row}


@hits.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_hit(request: ApiRequest, project: str, stage: str, number: int) -> HitDetails:
    """One HIT with its units."""
    access = stage_access(request)
    row = _hit(access, number)
    units = list(row.units.order_by("position"))
    words = kind_of(access.stage).wording(access.stage, [unit.unit for unit in units])
    return HitDetails(
        **_facts(row),
        units=[
            UnitOut.model_validate(
                {"unit": unit.unit, "role": unit.role, "wording": words.get(unit.unit, unit.unit)}
            )
            for unit in units
        ],
    )


@hits.post(f"{_ONE}/more-time", scopes=[Scope.COLLECT], role=Role.MANAGER)
def extend_hit_time(
    request: ApiRequest, project: str, stage: str, number: int, body: MoreTime
) -> OperationRef:
    """Keep it on offer longer."""
    access = stage_access(request)
    row = _on_offer_once(_hit(access, number))
    until = max(row.expires_at or timezone.now(), timezone.now()) + timedelta(hours=body.hours)
    operation = services.extend_hit_time(hit=row, until=until.replace(microsecond=0))
    return planned(operation, access.stage.endpoint.currency)


@hits.post(f"{_ONE}/more-places", scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, spends=True)
def extend_hit_places(
    request: ApiRequest, project: str, stage: str, number: int, body: MorePlaces
) -> OperationRef:
    """More people for it; their money is reserved."""
    access = stage_access(request)
    operation = services.extend_hit_places(
        hit=_hit(access, number), places=body.places, purpose=purpose_of(request)
    )
    return planned(operation, access.stage.endpoint.currency)


@hits.post(f"{_ONE}/expire", scopes=[Scope.COLLECT], role=Role.MANAGER)
def expire_hit(request: ApiRequest, project: str, stage: str, number: int) -> OperationRef:
    """End it; who works on it may still submit."""
    access = stage_access(request)
    operation = services.expire_hit(hit=_on_offer_once(_hit(access, number)), purpose=purpose_of(request))
    return planned(operation, access.stage.endpoint.currency)


def _hit(access: StageAccess, number: int) -> Hit:
    row = None
    if 0 <= number <= _MOST_NUMBER:
        row = tables.hits(access.stage, "all").filter(ordinal=number).first()
    if row is None:
        raise Http404("There is no such HIT in this stage.")
    row.stage = access.stage
    return row


def _on_offer_once(row: Hit) -> Hit:
    if row.state == Hit.State.PLANNED or not row.external_id:
        raise StageStateError("The HIT is not published yet.")
    return row


def _facts(row: Any) -> dict[str, Any]:
    return {"number": row.ordinal} | {
        name: getattr(row, name) for name in HitOut.model_fields if name != "number"
    }
