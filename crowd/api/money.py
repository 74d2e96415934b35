"""Where the money of a project is: caps, what is reserved, what is spent, and every movement."""

from typing import Annotated

from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission, stage_access
from crowd.api.projects import currency_of
from crowd.models import LedgerEntry
from crowd.selectors.stage_status import allotted_cents
from web.api.access import ApiRequest, Role, project_access
from web.api.fields import OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

money = Resource("Budget", permission=StagePermission)


class BudgetOut(BaseModel):
    """The money of a project. It is never passed."""

    currency: str | None = Field(description="Null: its stages pay in several.")
    budget_cents: int
    reserved_cents: int
    spent_cents: int
    left_cents: int
    allotted_cents: int = Field(description="The budgets of its stages together.")
    wage_floor_cents: int


class MovementOut(BaseModel):
    """One movement of a stage's budget; it is never changed."""

    id: int
    kind: Annotated[str, OneOf(LedgerEntry.Kind)]
    cents: int = Field(description="Rewards or bonuses.")
    fee_cents: int
    currency: str
    reason: str
    hit: int | None
    assignment: int | None
    at: Time


@money.get("/projects/{project}/budget", scopes=[Scope.READ], role=Role.VIEWER)
def get_budget(request: ApiRequest, project: str) -> BudgetOut:
    """What a project may spend, has reserved and has spent."""
    row = project_access(request).project
    return BudgetOut(
        currency=currency_of(row),
        budget_cents=row.budget_cents,
        reserved_cents=row.reserved_cents,
        spent_cents=row.spent_cents,
        left_cents=row.budget_cents - row.reserved_cents - row.spent_cents,
        allotted_cents=allotted_cents(row),
        wage_floor_cents=row.wage_floor_cents,
    )


@money.get("/projects/{project}/stages/{stage}/ledger", scopes=[Scope.READ], role=Role.VIEWER)
def list_movements(
    request: ApiRequest, project: str, stage: str, paging: Query[PageRequest]
) -> Page[MovementOut]:
    """Every cent of a stage: reserved, given back, or spent."""
    row = stage_access(request).stage
    rows = LedgerEntry.objects.filter(stage=row).select_related("hit")
    page = page_of(rows, paging, key=("pk",), within=row.pk)
    items = [
        MovementOut(
            id=each.pk,
            kind=each.kind,
            cents=each.cents,
            fee_cents=each.fee_cents,
            currency=row.endpoint.currency,
            reason=each.reason,
            hit=each.hit.ordinal if each.hit else None,
            assignment=each.assignment_id,
            at=each.at,
        )
        for each in page.items
    ]
    return Page(items=items, next=page.next)
