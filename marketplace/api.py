"""Operations of the API about requesters: the list, batches, webhooks, audit log, study links, texts."""

from datetime import UTC, time
from typing import Annotated, Any, Literal, Self, get_args

from django.contrib.auth.models import User
from django.db.models import F, QuerySet
from django.http import Http404, StreamingHttpResponse
from ninja import Query
from pydantic import AfterValidator, BaseModel, Field, model_validator

from core.accounts import security
from core.api.models import Scope
from core.origin import Owner
from core.webhooks import services as webhook_services
from marketplace import clock
from marketplace.amounts import money
from marketplace.batches import publication, schedule, selectors
from marketplace.batches.properties import from_stored
from marketplace.batches.selectors import Tally
from marketplace.hours import Hours, zone_names
from marketplace.models import Batch, Requester, RequesterMember
from marketplace.services import members as member_services
from marketplace.services.members import Action, may, role_of
from marketplace.site.selectors import requesters as requesters_of
from people import api as link_api
from people import links as link_services
from people.api import (
    ConsentTextIn,
    ConsentTextOut,
    LinkChanges,
    LinkIn,
    LinkOut,
    LinkTargets,
    RosterAdded,
    RosterIn,
    RosterMail,
    RosterMailPlan,
    RosterPersonOut,
    TextFilter,
    VisitLine,
    find_link,
)
from people.models import StudyLink
from web.api import audit as audit_api
from web.api import webhooks as webhook_api
from web.api.access import ACCOUNT, ApiRequest, Caller, Permission
from web.api.audit import AuditEntry, AuditFilter, AuditLine, AuditState, AuditVerification
from web.api.bodies import lines_of
from web.api.fields import MOST_NUMBER, Body, Cents, Moment, OneOf, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.problems import ProblemError
from web.api.resources import Resource, RevisedModel, seen_columns
from web.api.webhooks import (
    EventTypes,
    MessageFilter,
    MessageOut,
    WebhookChanges,
    WebhookIn,
    WebhookOut,
    WebhookWithSecret,
)


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


def _owner(request: ApiRequest) -> Owner:
    return Owner(Owner.Kind.REQUESTER, requester_of(request).pk)


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


members = Resource("Members of requesters", permission=RequesterPermission)
_MEMBERS, _MEMBER = "/requesters/{requester}/members", "/requesters/{requester}/members/{username}"
Role = Annotated[str, OneOf(RequesterMember.Role)]


class RequesterMemberOut(BaseModel):
    """A person who acts for the requester beside its owner."""

    username: str
    role: Role
    since: Time


class RequesterMemberIn(Body):
    """What the person may do."""

    role: Role = Field(
        description="owner: everything; manager: publishes, reviews, holds keys; reviewer: decides about "
        "work; payer: deposits and pays out; viewer: looks."
    )


@members.get(_MEMBERS, scopes=[Scope.READ], role=Action.VIEW)
def list_requester_members(
    request: ApiRequest, requester: str, paging: Query[PageRequest]
) -> Page[RequesterMemberOut]:
    """The people who act for the requester besides its owner."""
    lab = requester_of(request)
    rows = lab.members.select_related("user")
    page = page_of(rows, paging, key=("pk",), within=lab.pk)
    return Page(items=[_describe_member(row) for row in page.items], next=page.next)


@members.put(_MEMBER, scopes=[Scope.ADMIN], role=Action.MEMBERS)
def set_requester_member(
    request: ApiRequest, requester: str, username: str, body: RequesterMemberIn
) -> RequesterMemberOut:
    """Add a person who has an account, or change a member's role."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise ProblemError(422, "no_such_user", f"There is no user {username[:150]!r} here.")
    by = request.caller.user
    return _describe_member(
        member_services.set_role(requester=requester_of(request), user=user, role=body.role, by=by)
    )


@members.delete(_MEMBER, scopes=[Scope.ADMIN], role=Action.VIEW)
def remove_requester_member(request: ApiRequest, requester: str, username: str) -> None:
    """Remove a member, for owners; everyone may leave by themselves."""
    lab = requester_of(request)
    row = lab.members.select_related("user").filter(user__username=username).first()
    if row is None:
        raise Http404("There is no such member.")
    member_services.remove_member(requester=lab, user=row.user, by=request.caller.user)


def _describe_member(row: RequesterMember) -> RequesterMemberOut:
    return RequesterMemberOut(username=row.user.get_username(), role=row.role, since=row.since)


batches = Resource("Batches of requesters", permission=RequesterPermission)
_BATCHES, _BATCH = "/requesters/{requester}/batches", "/requesters/{requester}/batches/{int:batch}"
#: What If-Match protects.
_HOURS, _TIMES = ("hours",), ("state", "publish_at", "end_at")
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_DAY_NAMES: tuple[Day, ...] = get_args(Day)
ClockTime = Annotated[
    str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", description="Hours and minutes, such as 09:00.")
]


def _known_zone(name: str) -> str:
    if name not in zone_names():
        raise ValueError(f"{name!r} is no time zone that this installation knows, such as Europe/Berlin")
    return name


class HoursIn(Body):
    """From one time of these days to another, in the local time of a zone."""

    days: list[Day] = Field(min_length=1, max_length=7, examples=[["mon", "tue", "wed", "thu", "fri"]])
    opens: ClockTime = Field(examples=["09:00"])
    closes: ClockTime = Field(
        description="A time that is not later than `opens` is on the next day; 00:00 is midnight.",
        examples=["17:00"],
    )
    zone: Annotated[str, Field(max_length=60), AfterValidator(_known_zone)] = Field(
        description="Of the IANA database; summer time is followed.", examples=["Europe/Berlin"]
    )

    @model_validator(mode="after")
    def _has_a_length(self) -> Self:
        if self.opens == self.closes:
            raise ValueError("opens and closes are the same time; choose another, 00:00 is midnight")
        return self

    def hours(self) -> Hours:
        """As batches have them."""
        days = tuple(sorted({_DAY_NAMES.index(day) for day in self.days}))
        opens, closes = (time.fromisoformat(each) for each in (self.opens, self.closes))
        return Hours(self.zone, days, opens, closes)


class HoursOut(BaseModel):
    """Hours of a batch."""

    days: list[Day]
    opens: str
    closes: str
    zone: str
    words: str = Field(description="Such as Mon-Fri 09:00-17:00 Europe/Berlin.")


class BatchHours(RevisedModel):
    """When HITs of a batch can be accepted; the ETag is for changing it."""

    hours: HoursOut | None = Field(description="null: at any time.")
    open_now: bool
    opens_at: Time | None = Field(description="When it opens again; null: it is open.")


class BatchFilter(BaseModel):
    """Which batches; left out: all."""

    state: Annotated[str, OneOf(Batch.State)] | None = None


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


class BatchSchedule(RevisedModel):
    """When a batch is published and ended by itself; the ETag is for changing it."""

    publish_at: Time | None
    end_at: Time | None
    note: str = Field(description="What became of its schedule.")


class ScheduleIn(Body):
    """Times within a year from now; null takes one away."""

    publish_at: Moment | None = Field(None, description="Of a draft alone.")
    end_at: Moment | None = None
    confirm_total_cents: Cents = Field(
        0, description="`total_cents` of the batch, where it is to be published."
    )


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


@batches.get(f"{_BATCH}/hours", scopes=[Scope.READ], role=Action.VIEW)
def get_batch_hours(request: ApiRequest, requester: str, batch: int) -> BatchHours:
    """When HITs of a batch can be accepted."""
    return _hours(_batch(request, batch))


@batches.put(f"{_BATCH}/hours", scopes=[Scope.COLLECT], role=Action.MANAGE, revised=True)
def set_batch_hours(request: ApiRequest, requester: str, batch: int, body: HoursIn) -> BatchHours:
    """Set when HITs of a batch can be accepted. Work that was begun can be finished outside of them."""
    seen = seen_columns(request, _HOURS)
    schedule.set_hours(batch=_batch(request, batch), hours=body.hours(), seen=seen)
    return _hours(_batch(request, batch))


@batches.delete(f"{_BATCH}/hours", scopes=[Scope.COLLECT], role=Action.MANAGE)
def remove_batch_hours(request: ApiRequest, requester: str, batch: int) -> None:
    """Let HITs of a batch be accepted at any time."""
    schedule.set_hours(batch=_batch(request, batch), hours=None)


@batches.get(f"{_BATCH}/schedule", scopes=[Scope.READ], role=Action.VIEW)
def get_batch_schedule(request: ApiRequest, requester: str, batch: int) -> BatchSchedule:
    """When a batch is published and ended by itself."""
    return _schedule(_batch(request, batch))


@batches.put(f"{_BATCH}/schedule", scopes=[Scope.COLLECT, Scope.PAY], role=Action.MANAGE, revised=True)
def set_batch_schedule(request: ApiRequest, requester: str, batch: int, body: ScheduleIn) -> BatchSchedule:
    """Set when a draft is published and when a batch ends. The total is confirmed first."""
    seen = seen_columns(request, _TIMES)
    schedule.set_schedule(
        batch=_batch(request, batch),
        publish_at=body.publish_at,
        end_at=body.end_at,
        cents=body.confirm_total_cents,
        user=request.caller.user,
        seen=seen,
    )
    return _schedule(_batch(request, batch))


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


def _hours(row: Batch) -> BatchHours:
    now = clock.now()
    hours = Hours.of(row.hours) if row.hours else None
    is_open = hours is None or hours.is_open(now)
    answer = BatchHours(
        hours=_describe_hours(hours) if hours else None,
        open_now=is_open,
        opens_at=None if hours is None or is_open else hours.next_opening(now).astimezone(UTC),
    )
    return answer.marked(row, _HOURS)


def _describe_hours(hours: Hours) -> HoursOut:
    stored: dict[str, Any] = hours.stored()
    days = [_DAY_NAMES[day] for day in hours.days]
    return HoursOut(**stored | {"days": days}, words=str(hours))


def _schedule(row: Batch) -> BatchSchedule:
    answer = BatchSchedule(publish_at=row.publish_at, end_at=row.end_at, note=row.schedule_note)
    return answer.marked(row, _TIMES)


webhooks = Resource("Webhooks of requesters", permission=RequesterPermission)
_WEBHOOKS, _WEBHOOK = "/requesters/{requester}/webhooks", "/requesters/{requester}/webhooks/{int:webhook}"


@webhooks.get(f"{_WEBHOOKS}/event-types", scopes=[Scope.READ], role=Action.MANAGE)
def list_requester_event_types(request: ApiRequest, requester: str) -> EventTypes:
    """All types of events that a webhook of a requester can ask for."""
    return webhook_api.list_types(Owner.Kind.REQUESTER)


@webhooks.get(_WEBHOOKS, scopes=[Scope.READ], role=Action.MANAGE)
def list_requester_webhooks(
    request: ApiRequest, requester: str, paging: Query[PageRequest]
) -> Page[WebhookOut]:
    """All webhooks of a requester, a page at a time."""
    return webhook_api.list_page(_owner(request), paging)


@webhooks.post(_WEBHOOKS, scopes=[Scope.ADMIN], role=Action.MANAGE, status=201, secret=True)
def create_requester_webhook(request: ApiRequest, requester: str, body: WebhookIn) -> WebhookWithSecret:
    """Send messages to an address from now on. The answer has the secret, which is shown only once."""
    return webhook_api.create(_owner(request), body, request.caller.user)


@webhooks.get(_WEBHOOK, scopes=[Scope.READ], role=Action.MANAGE)
def get_requester_webhook(request: ApiRequest, requester: str, webhook: int) -> WebhookOut:
    """One webhook, with the state of its delivery."""
    return webhook_api.describe_webhook(webhook_api.find_webhook(_owner(request), webhook))


@webhooks.patch(_WEBHOOK, scopes=[Scope.ADMIN], role=Action.MANAGE)
def change_requester_webhook(
    request: ApiRequest, requester: str, webhook: int, body: WebhookChanges
) -> WebhookOut:
    """Change name, address or events."""
    return webhook_api.change(_owner(request), webhook, body)


@webhooks.delete(_WEBHOOK, scopes=[Scope.ADMIN], role=Action.MANAGE)
def remove_requester_webhook(request: ApiRequest, requester: str, webhook: int) -> None:
    """Remove a webhook. Waiting messages are given up; address and secret are deleted."""
    webhook_api.remove(_owner(request), webhook)


@webhooks.post(f"{_WEBHOOK}/pause", scopes=[Scope.ADMIN], role=Action.MANAGE)
def pause_requester_webhook(request: ApiRequest, requester: str, webhook: int) -> WebhookOut:
    """Send nothing for now. Events of the meantime are not kept for it."""
    return webhook_api.act(_owner(request), webhook, webhook_services.pause)


@webhooks.post(f"{_WEBHOOK}/activate", scopes=[Scope.ADMIN], role=Action.MANAGE)
def activate_requester_webhook(request: ApiRequest, requester: str, webhook: int) -> WebhookOut:
    """Send again after a pause, or after it was disabled. Messages that waited go first."""
    return webhook_api.act(_owner(request), webhook, webhook_services.activate)


@webhooks.post(f"{_WEBHOOK}/rotate-secret", scopes=[Scope.ADMIN], role=Action.MANAGE, secret=True)
def rotate_requester_webhook_secret(request: ApiRequest, requester: str, webhook: int) -> WebhookWithSecret:
    """Make a new secret, which is shown only once. For a day messages are signed with both."""
    return webhook_api.rotate(_owner(request), webhook)


@webhooks.post(f"{_WEBHOOK}/end-former-secret", scopes=[Scope.ADMIN], role=Action.MANAGE)
def end_former_requester_webhook_secret(request: ApiRequest, requester: str, webhook: int) -> WebhookOut:
    """Sign with the present secret alone from now on."""
    return webhook_api.act(_owner(request), webhook, webhook_services.end_former_secret)


@webhooks.post(f"{_WEBHOOK}/test", scopes=[Scope.ADMIN], role=Action.MANAGE)
def send_requester_webhook_test(request: ApiRequest, requester: str, webhook: int) -> MessageOut:
    """Send a message of the type webhook.test, behind those that wait."""
    return webhook_api.send_test(_owner(request), webhook)


@webhooks.get(f"{_WEBHOOK}/messages", scopes=[Scope.READ], role=Action.MANAGE)
def list_requester_webhook_messages(
    request: ApiRequest, requester: str, webhook: int, paging: Query[PageRequest], which: Query[MessageFilter]
) -> Page[MessageOut]:
    """Messages with every attempt at delivery."""
    return webhook_api.list_messages(_owner(request), webhook, paging, which)


@webhooks.post(f"{_WEBHOOK}/messages/{{message}}/resend", scopes=[Scope.ADMIN], role=Action.MANAGE)
def resend_requester_webhook_message(
    request: ApiRequest, requester: str, webhook: int, message: str
) -> MessageOut:
    """Send a message again under its old id and number. It is named by `id` or `message_id`."""
    return webhook_api.act_on_message(_owner(request), webhook, message, webhook_services.resend)


@webhooks.post(f"{_WEBHOOK}/messages/{{message}}/skip", scopes=[Scope.ADMIN], role=Action.MANAGE)
def skip_requester_webhook_message(
    request: ApiRequest, requester: str, webhook: int, message: str
) -> MessageOut:
    """Skip a message that waits, so that later ones are sent."""
    return webhook_api.act_on_message(_owner(request), webhook, message, webhook_services.skip)


audit = Resource("Audit log of requesters", permission=RequesterPermission)
_AUDIT = "/requesters/{requester}/audit"


@audit.get(_AUDIT, scopes=[Scope.READ], role=Action.VIEW)
def get_requester_audit_state(request: ApiRequest, requester: str) -> AuditState:
    """How far the log of a requester is chained by digests, and what the nightly verification found."""
    return audit_api.audit_state(_owner(request))


@audit.get(f"{_AUDIT}/entries", scopes=[Scope.READ], role=Action.VIEW)
def list_requester_audit_entries(
    request: ApiRequest, requester: str, paging: Query[PageRequest], which: Query[AuditFilter]
) -> Page[AuditEntry]:
    """Who did what, from where and by which way, with the digest of each entry."""
    return audit_api.list_entries(_owner(request), paging, which)


@audit.get(f"{_AUDIT}/entries.jsonl", scopes=[Scope.READ], role=Action.VIEW, content=lines_of(AuditLine))
def export_requester_audit_entries(
    request: ApiRequest, requester: str, which: Query[AuditFilter]
) -> StreamingHttpResponse:
    """All entries of the filters in the order of the chain, one per line, with their digests."""
    return audit_api.export_entries(_owner(request), which)


@audit.post(f"{_AUDIT}/verify", scopes=[Scope.READ], role=Action.VIEW)
def verify_requester_audit_log(request: ApiRequest, requester: str) -> AuditVerification:
    """Compute every digest of the log again. Nothing is changed."""
    return audit_api.verify_log(_owner(request))


links = Resource("Study links of requesters", permission=RequesterPermission)
_LINKS, _LINK = "/requesters/{requester}/study-links", "/requesters/{requester}/study-links/{int:link}"


class RequesterLinkIn(LinkIn):
    """A new link of a requester; `granted` is the id of a qualification type."""

    granted_value: int | None = Field(
        None, ge=-(2**31), lt=2**31, description="Of what is granted; 1 if none."
    )
    id_source: str = Field(
        "", max_length=40, pattern=r"^[A-Za-z0-9_.-]*$", description="Panel or workspace whose ids they are."
    )


def _manages(request: ApiRequest) -> bool:
    return may(request.caller.user, requester_of(request), Action.MANAGE)


@links.get(f"{_LINKS}/targets", scopes=[Scope.READ], role=Action.VIEW)
def list_requester_link_targets(request: ApiRequest, requester: str) -> LinkTargets:
    """What links of the requester can lead to: its batches, or all its open HITs."""
    return link_api.list_targets(_owner(request))


@links.get(_LINKS, scopes=[Scope.READ], role=Action.VIEW)
def list_requester_study_links(
    request: ApiRequest, requester: str, paging: Query[PageRequest]
) -> Page[LinkOut]:
    """All study links of a requester, a page at a time."""
    return link_api.list_page(_owner(request), paging, manages=_manages(request))


@links.post(_LINKS, scopes=[Scope.COLLECT], role=Action.MANAGE, status=201)
def create_requester_study_link(request: ApiRequest, requester: str, body: RequesterLinkIn) -> LinkOut:
    """Make a link. The requester gets its first consent text where it has none."""
    return link_api.create(_owner(request), link_api.plan_of(body), request.caller.user)


@links.get(_LINK, scopes=[Scope.READ], role=Action.VIEW)
def get_requester_study_link(request: ApiRequest, requester: str, link: int) -> LinkOut:
    """One link, with how many people came."""
    return link_api.describe(link_api.find_link(_owner(request), link), manages=_manages(request))


@links.patch(_LINK, scopes=[Scope.COLLECT], role=Action.MANAGE)
def change_requester_study_link(request: ApiRequest, requester: str, link: int, body: LinkChanges) -> LinkOut:
    """Change what may change while people come. Those who have joined stay."""
    return link_api.change(link_api.find_link(_owner(request), link), body, request.caller.user)


@links.post(f"{_LINK}/close", scopes=[Scope.COLLECT], role=Action.MANAGE)
def close_requester_study_link(request: ApiRequest, requester: str, link: int) -> LinkOut:
    """Close a link: no one else joins. People who have begun can finish."""
    row = link_api.find_link(_owner(request), link)
    link_services.close_link(link=row, actor=request.caller.user)
    return link_api.describe(row, manages=True)


@links.post(f"{_LINK}/reopen", scopes=[Scope.COLLECT], role=Action.MANAGE)
def reopen_requester_study_link(request: ApiRequest, requester: str, link: int) -> LinkOut:
    """People may join again, under the same address."""
    row = link_api.find_link(_owner(request), link)
    link_services.reopen_link(link=row, actor=request.caller.user)
    return link_api.describe(row, manages=True)


rosters = Resource("Lists of study links of requesters", permission=RequesterPermission)


def _link(request: ApiRequest, pk: int) -> StudyLink:
    return find_link(Owner(Owner.Kind.REQUESTER, requester_of(request).pk), pk)


@rosters.get(f"{_LINK}/people", scopes=[Scope.READ], role=Action.MANAGE)
def list_requester_roster(
    request: ApiRequest, requester: str, link: int, paging: Query[PageRequest]
) -> Page[RosterPersonOut]:
    """People of the list of a link, such as a class, with their personal links and what they finished."""
    return link_api.list_people(_link(request, link), paging)


@rosters.post(f"{_LINK}/people", scopes=[Scope.COLLECT], role=Action.MANAGE)
def add_to_requester_roster(request: ApiRequest, requester: str, link: int, body: RosterIn) -> RosterAdded:
    """Put people on the list of a link. This sends nothing."""
    return link_api.add_people(_link(request, link), body, request)


@rosters.post(f"{_LINK}/people/mail", scopes=[Scope.COLLECT], role=Action.MANAGE)
def mail_requester_roster(request: ApiRequest, requester: str, link: int, body: RosterMail) -> RosterMailPlan:
    """Send personal links to all without one, or remind those who finished nothing, at most once a day."""
    return link_api.mail_people(_link(request, link), body, request)


@rosters.get(f"{_LINK}/visits.jsonl", scopes=[Scope.READ], role=Action.MANAGE, content=lines_of(VisitLine))
def export_requester_visits(request: ApiRequest, requester: str, link: int) -> StreamingHttpResponse:
    """Every visit of a link: to which text its person agreed, how far they came, and their code."""
    return link_api.export_lines(_link(request, link))


texts = Resource("Consent texts of requesters", permission=RequesterPermission)
_TEXTS = "/requesters/{requester}/consent-texts"


@texts.get(_TEXTS, scopes=[Scope.READ], role=Action.VIEW)
def list_requester_consent_texts(
    request: ApiRequest, requester: str, paging: Query[PageRequest], which: Query[TextFilter]
) -> Page[ConsentTextOut]:
    """Versions of the texts that people agree to before they join by a link of the requester."""
    return link_api.list_text_page(_owner(request), paging, which)


@texts.post(_TEXTS, scopes=[Scope.COLLECT], role=Action.MANAGE, status=201)
def publish_requester_consent_text(
    request: ApiRequest, requester: str, body: ConsentTextIn
) -> ConsentTextOut:
    """Publish a version for people who join from now on. What others agreed to stays.

    Where nothing differs from the newest version, no new one is made, and that one is the answer.
    """
    return link_api.publish(_owner(request), body, request.caller.user)


@texts.get(f"{_TEXTS}/{{int:text}}", scopes=[Scope.READ], role=Action.VIEW)
def get_requester_consent_text(request: ApiRequest, requester: str, text: int) -> ConsentTextOut:
    """One version of a consent text."""
    return link_api.find_text(_owner(request), text)


# In this order they stand in the schema and in the reference.
RESOURCES = (requesters, members, batches, webhooks, audit, links, rosters, texts)
