"""A stage's study at a panel: its terms, the people it sent, pay beside whole rewards, and messages."""

from typing import Annotated, Any, Literal

from django.db.models import Count, QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.api.models import Scope
from crowd.access import StageAccess
from crowd.api.access import StagePermission, stage_access
from crowd.api.hits import OperationRef, planned
from crowd.errors import CrowdError
from crowd.models import Group, PanelMessage, PanelStudy, PanelSubmission, Stage
from crowd.panelmodels import LEAST_PERCENT, MOST_PERCENT, MOST_SLOTS
from crowd.selectors.operations import latest_balance
from crowd.services import panel_pay, panels
from crowd.sources import stages_at
from web.api.access import ApiRequest, Role
from web.api.fields import MOST_ID, Body, Id, OneOf, RateCents, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource, RevisedModel, seen_values

studies = Resource("Panels", permission=StagePermission)
_ONE = "/projects/{project}/stages/{stage}/panels/{endpoint}"
_SENT = "/projects/{project}/stages/{stage}/panel-submissions/{int:submission}"
Text = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"\S")]


class PanelStudyOut(RevisedModel):
    """The study of a stage at a panel; the ETag is for changing its terms."""

    endpoint: str
    external_id: str = Field(description="At the panel; empty until the stage is opened.")
    state: Annotated[str, OneOf(PanelStudy.State)] | None = Field(description="null: not asked for yet.")
    places: int = Field(description="Places there, as last confirmed.")
    wanted_places: int
    submissions: dict[str, int] = Field(description="How many, by their status at the panel.")
    unanswered: int = Field(description="Came back with a code, and no answer is here.")
    unread_messages: int
    read_at: Time | None = Field(description="When its submissions were last read.")
    balance_cents: int | None = Field(description="What the account could spend, when it was last asked.")
    pays_in_part: bool = Field(description="A part of the reward can be paid.")
    screen_out_cents: int = Field(description="Paid to each who is screened out; 0: nothing.")
    screen_out_slots: int = Field(description="At most so many of them.")
    screen_out_left: int


class PanelStudyTerms(Body):
    """What the study pays beside whole rewards, set before it is at the panel. What is left out stays."""

    pays_in_part: bool | None = None
    screen_out_cents: RateCents | None = Field(None, description="Less than the reward; 0: nothing.")
    screen_out_slots: int | None = Field(None, ge=0, le=MOST_SLOTS)


class MoreScreenOuts(Body):
    """How many screen-outs the study pays in all; more than before."""

    screen_out_slots: int = Field(ge=1, le=MOST_SLOTS)


class SubmissionRequest(PageRequest):
    """Which submissions a page has."""

    state: Literal["all", "unanswered"] = Field(
        "all", description="unanswered: they came back with a code, and no answer is here."
    )


class SubmissionOut(BaseModel):
    """One person's submission as the panel has it."""

    id: int
    external_id: str
    participant: str
    status: str = Field(description="In the panel's words.")
    entered_code: str
    answered: bool = Field(description="An answer is here.")
    started_at: Time | None
    completed_at: Time | None
    return_requested: bool
    reward_cents: int | None = Field(description="What the panel says that it paid, where it says so.")


class ReturnRequest(Body):
    """Why a participant is asked to return a submission; they read it."""

    why: str = Field(min_length=1, max_length=300, pattern=r"\S")


class PartOfReward(Body):
    """A share of the reward, which ends the submission."""

    percent: int = Field(ge=LEAST_PERCENT, le=MOST_PERCENT)
    note: str = Field("", max_length=1000, description="Why, for the participant.")


class PaidPart(Body):
    """What the panel's own pages say was paid."""

    cents: int = Field(ge=1, le=1_000_000)


class LetterToParticipants(Body):
    """A message: to the named participants, to all with a status, or to a group that is kept at the panel."""

    participants: list[Annotated[str, Field(min_length=1, max_length=64)]] | None = Field(
        None, min_length=1, max_length=panels.MOST
    )
    status: str | None = Field(None, min_length=1, max_length=30, examples=["AWAITING REVIEW"])
    group: Id | None = Field(None, description="The id of a group.")
    text: Text


class ParticipantLetterOutcome(BaseModel):
    """How many participants a message goes to, and which of those named did not come to the study."""

    written_to: int | None = Field(description="null: to a group, whose size the panel knows.")
    unknown: list[str]
    operations: list[OperationRef]


class ParticipantMessage(BaseModel):
    """What a participant wrote."""

    id: int
    participant: str
    category: str
    body: str
    sent_at: Time
    read_at: Time | None = Field(description="When a person here noted it as read.")


@studies.get(_ONE, scopes=[Scope.READ], role=Role.VIEWER)
def get_panel_study(request: ApiRequest, project: str, stage: str, endpoint: str) -> PanelStudyOut:
    """The study of a stage at a panel, with how many came and what became of them."""
    return _describe(_find_source_stage(stage_access(request), endpoint))


@studies.patch(
    f"{_ONE}/terms", scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, revised=True, spends=True
)
def set_study_terms(
    request: ApiRequest, project: str, stage: str, endpoint: str, body: PanelStudyTerms
) -> PanelStudyOut:
    """Set what the study pays beside whole rewards. It goes with the study when the stage opens."""
    access = stage_access(request)
    source_stage = _find_source_stage(access, endpoint)
    study = panels.study_of(source_stage)
    terms = {name: getattr(study, name) for name in PanelStudyTerms.model_fields}
    terms |= body.model_dump(exclude_none=True)
    panel_pay.set_terms(study, **terms, actor=access.user, seen=seen_values(request))
    return _describe(source_stage)


@studies.post(f"{_ONE}/screen-outs", scopes=[Scope.COLLECT, Scope.PAY], role=Role.MANAGER, spends=True)
def raise_screen_outs(
    request: ApiRequest, project: str, stage: str, endpoint: str, body: MoreScreenOuts
) -> OperationRef:
    """Let a study that is at the panel pay more screen-outs in all; their money is reserved with it."""
    access = stage_access(request)
    source_stage = _find_source_stage(access, endpoint)
    study = _study(source_stage)
    if study is None:
        raise CrowdError("The study is not at the panel yet.")
    operation = panel_pay.raise_slots(study, slots=body.screen_out_slots, actor=access.user)
    return planned(operation, source_stage.endpoint.currency)


@studies.get(f"{_ONE}/submissions", scopes=[Scope.READ], role=Role.VIEWER)
def list_submissions(
    request: ApiRequest, project: str, stage: str, endpoint: str, paging: Query[SubmissionRequest]
) -> Page[SubmissionOut]:
    """Submissions of the study, as the panel has them."""
    source_stage = _find_source_stage(stage_access(request), endpoint)
    rows = (panels.unanswered if paging.state == "unanswered" else panels.submissions_of)(source_stage)
    page = page_of(
        rows, paging, key=("pk",), within=(source_stage.pk, source_stage.endpoint.pk, paging.state)
    )
    return Page(items=[_describe_submission(row) for row in page.items], next=page.next)


@studies.post(f"{_SENT}/ask-return", scopes=[Scope.DECIDE], role=Role.MANAGER)
def ask_return(
    request: ApiRequest, project: str, stage: str, submission: int, body: ReturnRequest
) -> OperationRef:
    """Ask a participant to return a submission; the person decides. Once for each submission."""
    access = stage_access(request)
    row = _submission(access, submission)
    operation = panels.ask_to_return(row, why=body.why, actor=access.user)
    return planned(operation, row.study.endpoint.currency)


@studies.post(f"{_SENT}/pay-in-part", scopes=[Scope.DECIDE, Scope.PAY], role=Role.MANAGER, spends=True)
def pay_in_part(
    request: ApiRequest, project: str, stage: str, submission: int, body: PartOfReward
) -> OperationRef:
    """Pay a participant a share of the reward, which ends their submission. Once for each submission."""
    access = stage_access(request)
    row = _submission(access, submission)
    operation = panel_pay.pay_in_part(row, percent=body.percent, note=body.note, actor=access.user)
    return planned(operation, row.study.endpoint.currency)


@studies.post(f"{_SENT}/paid-amount", scopes=[Scope.PAY], role=Role.MANAGER, spends=True)
def state_paid_amount(
    request: ApiRequest, project: str, stage: str, submission: int, body: PaidPart
) -> SubmissionOut:
    """Book what was paid in part on the panel's own pages, where the panel does not tell it."""
    access = stage_access(request)
    panel_pay.state_amount(_submission(access, submission), cents=body.cents, actor=access.user)
    return _describe_submission(_submission(access, submission))


@studies.get(f"{_ONE}/messages", scopes=[Scope.READ], role=Role.VIEWER)
def list_participant_messages(
    request: ApiRequest, project: str, stage: str, endpoint: str, paging: Query[PageRequest]
) -> Page[ParticipantMessage]:
    """What participants wrote. What was written to them is in `list_operations`."""
    source_stage = _find_source_stage(stage_access(request), endpoint)
    page = page_of(
        _received(source_stage),
        paging,
        key=("sent_at", "pk"),
        within=(source_stage.pk, source_stage.endpoint.pk),
    )
    names = ParticipantMessage.model_fields
    items = [ParticipantMessage(**{name: getattr(row, name) for name in names}) for row in page.items]
    return Page(items=items, next=page.next)


@studies.post(f"{_ONE}/messages", scopes=[Scope.COLLECT], role=Role.MANAGER)
def write_to_participants(
    request: ApiRequest, project: str, stage: str, endpoint: str, body: LetterToParticipants
) -> ParticipantLetterOutcome:
    """Write to participants of the study. A message is sent once; one without an answer is not repeated."""
    access = stage_access(request)
    source_stage = _find_source_stage(access, endpoint)
    if sum(each is not None for each in (body.participants, body.status, body.group)) != 1:
        raise CrowdError("Name participants, or a status, or a group: one of the three.")
    study = _study(source_stage)
    if study is None:
        raise CrowdError("The study is not at the panel yet.")
    currency = source_stage.endpoint.currency
    if body.group is not None:
        group = Group.objects.filter(pk=body.group, stage__project=access.project).first()
        if group is None:
            raise Http404("There is no such group in this project.")
        operation = panels.write_to_group(study, group, text=body.text, actor=access.user)
        return ParticipantLetterOutcome(
            written_to=None, unknown=[], operations=[planned(operation, currency)]
        )
    rows = PanelSubmission.objects.filter(study=study)
    if body.status is not None:
        rows = rows.filter(status=body.status)
    else:
        rows = rows.filter(participant__in=body.participants or ())
    readers = list(rows.values_list("participant", flat=True).distinct())
    operations = panels.write_to_participants(study, readers, text=body.text, actor=access.user)
    return ParticipantLetterOutcome(
        written_to=len(readers),
        unknown=sorted(set(body.participants or ()) - set(readers)),
        operations=[planned(each, currency) for each in operations],
    )


def _find_source_stage(access: StageAccess, endpoint: str) -> Stage:
    """The stage as people of this panel meet it."""
    source_stage = next((each for each in stages_at(access.stage) if each.endpoint.name == endpoint), None)
    if source_stage is None:
        raise Http404("The stage has no such source.")
    if not source_stage.endpoint.is_panel:
        raise CrowdError(f"{source_stage.endpoint.label} is no panel.")
    return source_stage


def _study(source_stage: Stage) -> PanelStudy | None:
    return PanelStudy.objects.filter(stage=source_stage.pk, endpoint=source_stage.endpoint).first()


def _submission(access: StageAccess, pk: int) -> Any:
    rows = PanelSubmission.objects.filter(study__stage=access.stage).select_related("study__endpoint")
    row = rows.filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such submission in this stage.")
    source_stage = _find_source_stage(access, row.study.endpoint.name)
    return (
        panels.submissions_of(source_stage)
        .select_related("study__stage__project", "study__endpoint")
        .get(pk=pk)
    )


def _received(source_stage: Stage) -> QuerySet[PanelMessage]:
    study = _study(source_stage)
    return panels.received(study) if study else PanelMessage.objects.none()


def _describe(source_stage: Stage) -> PanelStudyOut:
    row = _study(source_stage)
    study = row or PanelStudy()
    sent = PanelSubmission.objects.filter(study=row).order_by("status") if row else None
    counts = dict(sent.values_list("status").annotate(n=Count("pk"))) if sent is not None else {}
    balance = latest_balance(source_stage.endpoint)
    answer = PanelStudyOut(
        endpoint=source_stage.endpoint.name,
        external_id=study.external_id,
        state=study.state if row else None,
        places=study.places,
        wanted_places=panels.wanted_places(source_stage),
        submissions=counts,
        unanswered=panels.unanswered(source_stage).count() if row else 0,
        unread_messages=_received(source_stage).filter(read_at=None).count(),
        read_at=study.synced_at,
        balance_cents=balance.available_cents if balance else None,
        pays_in_part=study.pays_in_part,
        screen_out_cents=study.screen_out_cents,
        screen_out_slots=study.screen_out_slots,
        screen_out_left=study.screen_out_left,
    )
    return answer.with_mark(panel_pay.mark_of_terms(row))


def _describe_submission(row: Any) -> SubmissionOut:
    return SubmissionOut(**{name: getattr(row, name) for name in SubmissionOut.model_fields})
