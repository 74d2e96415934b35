"""Operations of the API about requesters and their batches; what they share with projects is in `web.api`."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import security
from core.api.models import Scope
from core.origin import Owner
from marketplace import clock
from marketplace import members as member_services
from marketplace.batches import publication, selectors
from marketplace.batches.properties import from_stored
from marketplace.batches.selectors import Tally
from marketplace.lifecycle.hours import Hours
from marketplace.members import Action, may, role_of
from marketplace.models import Batch, Requester, RequesterMember
from marketplace.money.amounts import money
from marketplace.site.selectors import requesters as requesters_of
from web.api.access import ACCOUNT, ApiRequest, Caller, Permission, Role
from web.api.fields import MOST_NUMBER, Body, Cents, OneOf, Time
from web.api.owners import OwnerDoor, OwnerPlace
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource


class RequesterPermission(Permission):
    """Finds the requester that the address names; `role` is the `Action` that a person must be allowed."""

    def check_place(self, request: Any, caller: Caller, parts: dict[str, Any]) -> None:
        """The requester, if it is one of this person's, and what they may do for it."""
        if "requester" not in parts:
            super().check_place(request, caller, parts)
            return
        # A token of one project was given away for that project alone, whatever its person may do elsewhere.
        if caller.token.project_id is not None:
            raise ProblemError(
                403, "token_bound", "This token opens one project only; this is outside of it."
            )
        requester = requesters_of(caller.user).filter(customer_id=parts["requester"]).first()
        if requester is None:
            raise Http404("There is no such requester.")
        if not may(caller.user, requester, self.role):
            security.log("role.refused", requester=requester.customer_id, path=request.path)
            raise ProblemError(
                403, "role_missing", f"Your role at this requester does not allow: {self.role}."
            )
        caller.place = requester


def requester_of(request: ApiRequest) -> Requester:
    """The requester that the address names."""
    requester = request.caller.place
    assert isinstance(requester, Requester), "the address names no requester"
    return requester


requesters = Resource("Requesters", permission=RequesterPermission)


class RequesterOut(BaseModel):
    """A requester of the marketplace."""

    requester: str = Field(description="Its customer id, which addresses name.")
    name: str
    role: str = Field(description="Role of the token's person.")
    available_cents: int = Field(description="Deposited and free.")
    held_cents: int = Field(description="Kept for HITs that are published.")
    created_at: Time


@requesters.get("/requesters", scopes=[Scope.READ], role=ACCOUNT)
def list_requesters(request: ApiRequest, paging: Query[PageRequest]) -> Page[RequesterOut]:
    """The requesters of which the token's person is owner or member; for staff all."""
    caller = request.caller
    if caller.token.project_id is not None:
        raise ProblemError(403, "token_bound", "This token opens one project only; this is outside of it.")
    rows = requesters_of(caller.user).select_related("owner").order_by()
    page = page_of(rows, paging, within=caller.user.pk)
    return Page(items=[_describe_requester(request, row) for row in page.items], next=page.next)


@requesters.get("/requesters/{requester}", scopes=[Scope.READ], role=Action.VIEW)
def get_requester(request: ApiRequest, requester: str) -> RequesterOut:
    """One requester, with its money."""
    return _describe_requester(request, requester_of(request))


def _describe_requester(request: ApiRequest, row: Requester) -> RequesterOut:
    return RequesterOut(
        requester=row.customer_id,
        name=row.name,
        role=role_of(request.caller.user, row),
        available_cents=row.available_cents,
        held_cents=row.held_cents,
        created_at=row.created_at,
    )


class RequesterDoor(OwnerDoor):
    """Requesters as owners of webhooks, study links and the like."""

    permission, part = RequesterPermission, "requester"
    roles: ClassVar[Mapping[str, str]] = {
        Role.VIEWER: Action.VIEW,
        Role.MANAGER: Action.MANAGE,
        Role.OWNER: Action.MEMBERS,
    }
    member_roles = tuple(RequesterMember.Role.values)

    def place(self, caller: Caller) -> OwnerPlace:
        """The requester of the caller."""
        requester = caller.place
        assert isinstance(requester, Requester), "the address names no requester"
        manages = may(caller.user, requester, Action.MANAGE)
        return OwnerPlace(Owner(Owner.Kind.REQUESTER, requester.pk), manages, self)

    def members(self, owner: Owner) -> QuerySet[RequesterMember]:
        """People who act for the requester beside its owner."""
        return RequesterMember.objects.filter(requester=owner.pk)

    def set_role(self, owner: Owner, *, user: User, role: str, by: User) -> RequesterMember:
        """Add a person, or change their role."""
        requester = Requester.objects.get(pk=owner.pk)
        return member_services.set_role(requester=requester, user=user, role=role, by=by)

    def remove_member(self, owner: Owner, *, user: User, by: User) -> None:
        """Take a person's role away."""
        member_services.remove_member(requester=Requester.objects.get(pk=owner.pk), user=user, by=by)


batches = Resource("Batches of requesters", permission=RequesterPermission)
_BATCHES, _BATCH = "/requesters/{requester}/batches", "/requesters/{requester}/batches/{int:batch}"


class BatchFilter(BaseModel):
    """Which batches; left out: all."""

    state: Annotated[str, OneOf(Batch.State)] | None = Field(None, description="Left out: all.")


class BatchOut(BaseModel):
    """A template and a table that became HITs, and how far they are."""

    number: int = Field(description="Within the requester.")
    name: str
    state: Annotated[str, OneOf(Batch.State)]
    error: str = Field(description="Why publishing stopped; empty: it did not.")
    title: str = Field(description="What workers see in the list.")
    reward_cents: int
    tasks: int = Field(description="Rows of the table; each becomes a HIT.")
    published: int
    assignments: int = Field(description="Of the HITs that are published, all together.")
    open: int = Field(description="Free places.")
    pending: int = Field(description="Being worked on.")
    submitted: int = Field(description="Wait for a decision.")
    approved: int
    rejected: int
    total_cents: int = Field(description="What it costs at most, with fees.")
    hours: str | None = Field(description="Such as Mon-Fri 09:00-17:00 Europe/Berlin; null: at any time.")
    publish_at: Time | None
    end_at: Time | None
    schedule_note: str = Field(description="What became of its schedule.")
    adds_to: int | None = Field(description="Number of the batch whose rows these are; null: its own.")
    created_at: Time
    published_at: Time | None


class PublicationTotal(Body):
    """The total, as a person confirmed it."""

    confirm_total_cents: Cents = Field(description="`total_cents` of the batch.")


@batches.get(_BATCHES, scopes=[Scope.READ], role=Action.VIEW)
def list_batches(
    request: ApiRequest, requester: str, paging: Query[PageRequest], which: Query[BatchFilter]
) -> Page[BatchOut]:
    """Batches of a requester, each with how far it is and its hours."""
    lab = requester_of(request)
    rows = _batch_rows(request)
    if which.state is not None:
        rows = rows.filter(state=which.state)
    page = page_of(rows, paging, key=("number",), within=(lab.pk, which.state))
    tallies = selectors.tallies(page.items, clock.now())
    items = [_describe_batch(row, tallies[row.pk]) for row in page.items]
    return Page(items=items, next=page.next)


@batches.get(_BATCH, scopes=[Scope.READ], role=Action.VIEW)
def get_batch(request: ApiRequest, requester: str, batch: int) -> BatchOut:
    """One batch."""
    return _batch_now(request, batch)


@batches.post(f"{_BATCH}/publish", scopes=[Scope.COLLECT, Scope.PAY], role=Action.MANAGE)
def publish_batch(request: ApiRequest, requester: str, batch: int, body: PublicationTotal) -> BatchOut:
    """Publish a draft, or continue a batch that stopped. Its total is put on hold; a job makes the HITs."""
    row = _batch(request, batch)
    total = publication.cost_of(row).total
    if body.confirm_total_cents != total:
        message = f"The total is {total} cents ({money(total)}). Send that to publish it."
        raise ProblemError(422, "amount_not_confirmed", message, errors={"confirm_total_cents": [message]})
    publication.publish(batch=row)
    return _batch_now(request, batch)


@batches.post(f"{_BATCH}/cancel", scopes=[Scope.COLLECT], role=Action.MANAGE)
def cancel_batch(request: ApiRequest, requester: str, batch: int) -> BatchOut:
    """Expire all HITs of a batch, by a job. Work that was begun can still be submitted, and is paid."""
    publication.cancel(batch=_batch(request, batch))
    return _batch_now(request, batch)


def _batch_rows(request: ApiRequest) -> QuerySet[Batch]:
    return selectors.batches(requester_of(request)).annotate(adds_to=F("extends__number"))


def _batch(request: ApiRequest, number: int) -> Batch:
    row = _batch_rows(request).filter(number=number).first() if 0 < number <= MOST_NUMBER else None
    if row is None:
        raise Http404("This requester has no such batch.")
    row.requester = requester_of(request)
    return row


def _batch_now(request: ApiRequest, number: int) -> BatchOut:
    row = _batch(request, number)
    return _describe_batch(row, selectors.tallies([row], clock.now())[row.pk])


_SAME_OF_BATCH = (
    *("number", "name", "state", "error", "publish_at", "end_at", "schedule_note"),
    *("adds_to", "created_at", "published_at"),
)


def _describe_batch(row: Batch, tally: Tally) -> BatchOut:
    properties = from_stored(row.properties)
    return BatchOut(
        **{name: getattr(row, name) for name in _SAME_OF_BATCH},
        title=properties.title,
        reward_cents=properties.reward_cents,
        tasks=row.task_count,
        published=row.published_count,
        assignments=tally.total,
        open=tally.open,
        pending=tally.pending,
        submitted=tally.submitted,
        approved=tally.approved,
        rejected=tally.rejected,
        total_cents=publication.cost_of(row).total,
        hours=str(Hours.of(row.hours)) if row.hours else None,
    )


# In this order they are in the schema and in the reference.
RESOURCES = (requesters, batches)
OWNERS = {"requesters": RequesterDoor()}
