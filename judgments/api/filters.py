"""Filters of judges and judgments: previewed, applied, undone, and what they removed asked for again."""

from dataclasses import asdict
from typing import Annotated, Any
from uuid import uuid4

from django.http import Http404
from ninja import Query as InQuery
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.api.access import StagePermission
from judgments.api.judging import judging_stage
from judgments.models import FilterRun
from judgments.services import filter_runs
from judgments.services.filter_decisions import recipe_named
from web.api.access import ApiRequest, Role
from web.api.bodies import JobRef
from web.api.fields import MOST_ID, Body, Cents, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

filters = Resource("Filters", permission=StagePermission)


class RecipeIn(Body):
    """A recipe, such as default, kpqa-2021, adem-2017 or none, with parameters of its rules."""

    recipe: str = Field("default", min_length=1, max_length=40)
    parameters: dict[Annotated[str, Field(max_length=60)], Any] = Field(
        default_factory=dict,
        max_length=60,
        description="Those that are left out are the recipe's (docs/filter.md).",
    )


class ApplyIn(RecipeIn):
    """A recipe to put in force."""

    seed: int = Field(0, ge=-(2**63), le=2**63 - 1, description="The random seed of the report.")
    seen: int | None = Field(
        None,
        ge=0,
        le=MOST_ID,
        description="`seen` of the preview; where other filters are in force by now: 409.",
    )


class FilterPreviewOut(BaseModel):
    """What a recipe would do now."""

    title: str
    sentence: str
    parameters: dict[str, Any] = Field(description="All of them.")
    workers: int
    ratings: int
    items: int
    removed_workers: int
    removed_ratings: int
    undetermined: int
    capped: int
    reasons: list[dict[str, Any]] = Field(description="By rule: workers and ratings that it removes.")
    missing_judgments: int
    missing_answers: int
    top_up_cents: int = Field(description="What asking again for what is missing costs, with fees.")
    currency: str
    seen: int = Field(description="The run in force now; 0: none.")


class FilterRunOut(BaseModel):
    """A run of a recipe."""

    id: int
    recipe: str
    title: str
    parameters: dict[str, Any]
    seed: int
    state: str
    counts: dict[str, Any]
    created_by: str | None
    created_at: Time
    ended_at: Time | None
    reason: str = Field(description="Why it was undone.")


class UndoIn(Body):
    """Why filters are undone."""

    reason: str = Field(min_length=1, max_length=300)


class TopUpIn(Body):
    """What the person confirmed."""

    most_cents: Cents


@filters.post(
    "/projects/{project}/stages/{stage}/filters/preview",
    scopes=[Scope.READ],
    role=Role.VIEWER,
    atomic=False,
)
def preview_filters(request: ApiRequest, project: str, stage: str, body: RecipeIn) -> FilterPreviewOut:
    """What a recipe would remove, and what asking again would cost; nothing is changed."""
    found = filter_runs.preview(judging_stage(request), body.recipe, body.parameters)
    same = {name: getattr(found, name) for name in FilterPreviewOut.model_fields if hasattr(found, name)}
    return FilterPreviewOut(
        **same
        | {
            "reasons": [asdict(each) for each in found.reasons],
            "missing_judgments": found.missing.judgments,
            "missing_answers": found.missing.answers,
            "top_up_cents": found.missing.offer.total_cents,
        }
    )


@filters.post(
    "/projects/{project}/stages/{stage}/filters", scopes=[Scope.DECIDE], role=Role.MANAGER, status=202
)
def apply_filters(request: ApiRequest, project: str, stage: str, body: ApplyIn) -> JobRef:
    """Put a recipe in force, by a job; the run before gives way. No judgment is changed or deleted."""
    at, once = judging_stage(request), uuid4().hex
    recipe_named(body.recipe, body.parameters)
    if body.seen is not None:
        filter_runs.check_seen(at, body.seen, once)
    job = filter_runs.ask_apply(
        stage=at,
        recipe=body.recipe,
        parameters=body.parameters,
        actor=request.caller.user,
        seed=body.seed,
        seen=body.seen,
        once=once,
    )
    return JobRef(job=job.pk)


@filters.get("/projects/{project}/stages/{stage}/filters", scopes=[Scope.READ], role=Role.VIEWER)
def list_filter_runs(
    request: ApiRequest, project: str, stage: str, paging: InQuery[PageRequest]
) -> Page[FilterRunOut]:
    """All runs of filters; the one `in force` decides what counts."""
    at = judging_stage(request)
    page = page_of(FilterRun.objects.filter(stage=at).select_related("created_by"), paging, within=at.pk)
    return Page(items=[_describe(row) for row in page.items], next=page.next)


@filters.post(
    "/projects/{project}/stages/{stage}/filters/{int:number}/undo", scopes=[Scope.DECIDE], role=Role.MANAGER
)
def undo_filters(request: ApiRequest, project: str, stage: str, number: int, body: UndoIn) -> FilterRunOut:
    """Take a run out of force: all judgments that count are kept again."""
    rows = FilterRun.objects.select_related("stage__project", "created_by")
    row = rows.filter(stage=judging_stage(request), pk=number).first() if 0 < number <= MOST_ID else None
    if row is None:
        raise Http404("There is no such run.")
    return _describe(filter_runs.undo(row, body.reason, request.caller.user))


@filters.post(
    "/projects/{project}/stages/{stage}/filters/top-up",
    scopes=[Scope.PAY],
    role=Role.MANAGER,
    status=202,
    spends=True,
)
def ask_again(request: ApiRequest, project: str, stage: str, body: TopUpIn) -> JobRef:
    """Ask again for what filters removed, for at most the amount that is sent."""
    job = filter_runs.ask_top_up(
        stage=judging_stage(request),
        most_cents=body.most_cents,
        actor=request.caller.user,
        once=uuid4().hex,
    )
    return JobRef(job=job.pk)


def _describe(row: FilterRun) -> FilterRunOut:
    return FilterRunOut(
        id=row.pk,
        recipe=row.recipe,
        title=row.summary.get("title", row.recipe),
        parameters=row.parameters,
        seed=row.seed,
        state=row.state,
        counts=row.summary.get("counts", {}),
        created_by=row.created_by.get_username() if row.created_by else None,
        created_at=row.created_at,
        ended_at=row.ended_at,
        reason=row.reason,
    )
