"""What a call may carry, field by field, and what it gets back: an answer, a refusal, or a page of a list.

What is not named in a body is refused. Refusals have one of the forms that are seen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from distillery_panel_simulator.prolific_state import State, Thing

#: Where a list does not say otherwise.
PAGE_SIZE = 20
MOST_PER_PAGE = 1_000
_TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Payload Too Large",
    429: "Too Many Requests",
}
_CODES = {400: 140_000, 401: 140_101, 404: 140_104, 405: 140_105, 429: 140_129}


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, body (None: an empty one) and headers of our own."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One call, read: `ids` are the parts of its path, `body` is checked and plain."""

    state: State
    ids: tuple[str, ...]
    query: Mapping[str, str]
    body: Thing
    #: `http://127.0.0.1:PORT`, for links.
    site: str
    path: str


class RefusalError(Exception):
    """A refusal: nothing was changed. `detail` is a text, several, or texts by field."""

    def __init__(self, detail: str | list[str] | dict[str, list[str]], *, status: int = 400) -> None:
        super().__init__(str(detail))
        self.detail, self.status = detail, status


def not_found(what: str = "The object") -> RefusalError:
    """What does not exist, or belongs to others."""
    return RefusalError(f"{what} was not found.", status=404)


def field_error(name: str, text: str) -> RefusalError:
    """A refusal of one field."""
    return RefusalError({name: [text]})


def error_answer(
    status: int, detail: str | list[str] | dict[str, list[str]], *, bare: bool = False
) -> Answer:
    """The contract's error. Some routes are documented with the bare detail; they get both in one object."""
    error = {
        "status": status,
        "error_code": _CODES.get(status, 140_000),
        "title": _TITLES.get(status, "Error"),
        "detail": detail,
    }
    return Answer(status, {"error": error, **error} if bare else {"error": error})


def message_answer(status: int, message: str, detail: str) -> Answer:
    """The second form of an error, which the contract does not name."""
    return Answer(status, {"message": message, "detail": detail})


def page(call: Call, count: int, fetch: Callable[[int, int], list[Thing]], *, default: str = "all") -> Thing:
    """A list: by `page` and `page_size`, or by `limit` and `offset`, as the call asks.

    `default` says what a call gets that asks for neither: a first "page", or "all". Behind the last
    page is a 404.
    """
    query = call.query
    if "limit" in query or "offset" in query:
        limit, offset = _number(query, "limit", 100, least=1), _number(query, "offset", 0, least=0)
        following = f"limit={limit}&offset={offset + limit}" if offset + limit < count else None
    elif "page" in query or "page_size" in query or default == "page":
        number, limit = _number(query, "page", 1, least=1), _number(query, "page_size", PAGE_SIZE, least=1)
        offset = (number - 1) * limit
        if offset >= count and number > 1:
            raise RefusalError("Invalid page.", status=404)
        following = f"page={number + 1}&page_size={limit}" if offset + limit < count else None
    else:
        limit, offset, following = -1, 0, None
    return {"results": fetch(limit, offset), "_links": _links(call, following), "meta": {"count": count}}


def _links(call: Call, following: str | None) -> Thing:
    parameters = "&".join(
        f"{name}={value}"
        for name, value in call.query.items()
        if name not in ("page", "page_size", "limit", "offset")
    )
    address = f"{call.site}{call.path}"
    href = f"{address}?{'&'.join(filter(None, (parameters, following)))}" if following else None
    return {"self": {"href": address}, "next": {"href": href, "title": "Next"}}


def _number(query: Mapping[str, str], name: str, default: int, *, least: int) -> int:
    text = query.get(name, str(default))
    if not text.isdecimal() or not least <= int(text) <= (
        10**9 if name in ("page", "offset") else MOST_PER_PAGE
    ):
        raise field_error(name, f"A whole number from {least} on, at most {MOST_PER_PAGE} per page.")
    return int(text)


def _read_integer(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_read_integer)]
Text = Annotated[str, Field(max_length=20_000)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Identity = Annotated[str, Field(max_length=200)]
Device = Literal["desktop", "tablet", "mobile"]
Peripheral = Literal["audio", "camera", "download", "microphone"]
Label = Literal[
    "survey",
    "writing_task",
    "annotation",
    "decision_making_task",
    "interview",
    "other",
    "ai_annotation",
    "ai_evaluation",
    "ai_reasoning",
    "ai_fact_checking",
    "ai_safety",
    "ai_data_creation_text",
    "ai_data_creation_audio",
    "ai_data_creation_video",
    "ai_data_creation_images",
    "ai_other",
]
#: Reasons for which the panel lets work be rejected.
RejectionCategory = Literal[
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
]


class Body(BaseModel):
    """A body of a call: no field that is not documented, no number given as text."""

    model_config = ConfigDict(extra="forbid", strict=True)

    #: Fields that may be null. The others may be missing, where they have a default.
    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _refuse_nulls(cls, body: Any) -> Any:
        if isinstance(body, dict):
            for name, value in body.items():
                if value is None and name in cls.model_fields and name not in cls.nullable:
                    raise ValueError(f"{name} may not be null.")
        return body


def read_body(model: type[Body], body: Any) -> Thing:
    """The given fields, checked. Raises `RefusalError` with what is wrong, by field."""
    if not isinstance(body, dict):
        raise RefusalError("The body is not a JSON object.")
    try:
        return model.model_validate(body).model_dump(exclude_unset=True)
    except ValidationError as error:
        wrong: dict[str, list[str]] = {}
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            wrong.setdefault(".".join(str(part) for part in each["loc"]) or "body", []).append(each["msg"])
        raise RefusalError(wrong) from error


class Empty(Body):
    """No field at all."""


class PlainAction(Body):
    """What happens with a code, without more to say."""

    action: Literal["AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "DYNAMIC_PAYMENT"]


class GroupAction(Body):
    """Put into a group, take out of a group."""

    action: Literal["ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"]
    participant_group: Identity


class ReturnAction(Body):
    """Ask for a return."""

    action: Literal["REQUEST_RETURN"]
    return_reason: Text


class ScreenOutAction(Body):
    """A fixed sum instead of the reward, for so many people."""

    action: Literal["FIXED_SCREEN_OUT_PAYMENT"]
    fixed_screen_out_reward: Whole = Field(ge=0)
    slots: Whole = Field(ge=0)


class CompletionCode(Body):
    """A code and what happens with it. `code_type` may be a word of one's own."""

    nullable = frozenset({"code"})

    code: Annotated[str, Field(min_length=1, max_length=128)] | None
    code_type: Annotated[str, Field(min_length=1, max_length=64)]
    actions: list[
        Annotated[PlainAction | GroupAction | ReturnAction | ScreenOutAction, Field(discriminator="action")]
    ]
    actor: Literal["participant", "researcher"] = "participant"


class Range(Body):
    """Bounds, each of which may be missing."""

    lower: Whole | float | str | None = None
    upper: Whole | float | str | None = None


class RangeWeighting(Body):
    """The share of a range."""

    selected_range: Range
    weighting: float


class SelectFilter(Body):
    """One of several values."""

    filter_id: Identity
    selected_values: list[Identity]
    weightings: dict[str, float] | None = None


class RangeFilter(Body):
    """A value within bounds."""

    filter_id: Identity
    selected_range: Range
    weightings: dict[str, RangeWeighting] | None = None


class CompositeFilter(Body):
    """Filters of which all must fit, or one."""

    filter_id: Literal["and", "or"]
    selected_filters: list["Filter"]


Filter = SelectFilter | RangeFilter | CompositeFilter


class AccessDetail(Body):
    """One of several addresses of a study."""

    external_url: Text
    total_allocation: Whole = Field(ge=1)


class SubmissionsConfig(Body):
    """How often one person may take part, and how many people at once."""

    nullable = frozenset({"max_concurrent_submissions", "max_submissions_per_participant"})

    auto_rejection_categories: list[Literal["EXCEPTIONALLY_FAST"]] = []
    max_concurrent_submissions: Whole | None = -1
    max_submissions_per_participant: Whole | None = 1


class CollectionMetadata(Body):
    """How many people annotate the same."""

    annotators_per_task: Whole | None = Field(default=None, ge=1)


class StudyChange(Body):
    """Fields of a study, any of them."""

    nullable = frozenset(
        {
            "access_details",
            "credential_pool_id",
            "data_collection_id",
            "data_collection_metadata",
            "data_collection_method",
            "filter_set_id",
            "filter_set_version",
            "filters",
            "internal_name",
            "metadata",
            "naivety_distribution_rate",
        }
    )

    access_details: list[AccessDetail] | None = None
    completion_codes: list[CompletionCode] | None = None
    content_warning_details: Text | None = None
    content_warnings: list[Literal["sensitive", "explicit"]] | None = None
    credential_pool_id: Identity | None = None
    data_collection_id: Identity | None = None
    data_collection_metadata: CollectionMetadata | None = None
    data_collection_method: Literal["AI_TASK_BUILDER_BATCH", "AI_TASK_BUILDER_COLLECTION"] | None = None
    description: Text | None = None
    device_compatibility: list[Device] | None = None
    estimated_completion_time: Whole | None = Field(default=None, ge=1)
    external_study_url: Text | None = None
    filter_set_id: Identity | None = None
    filter_set_version: Whole | None = None
    filters: list[Filter] | None = None
    has_credentials: bool | None = None
    internal_name: Text | None = None
    is_external_study_url_secure: bool | None = None
    maximum_allowed_time: Whole | None = Field(default=None, ge=1)
    metadata: Text | None = None
    naivety_distribution_rate: float | None = None
    name: Name | None = None
    peripheral_requirements: list[Peripheral] | None = None
    project: Identity | None = None
    prolific_id_option: Literal["question", "url_parameters", "not_required"] | None = None
    reward: Whole | None = Field(default=None, ge=1)
    study_labels: list[Label] | None = None
    submissions_config: SubmissionsConfig | None = None
    total_available_places: Whole | None = Field(default=None, ge=1)


class StudyDraft(StudyChange):
    """A new study. An address may be missing where `access_details` has some."""

    name: Name
    description: Text
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    estimated_completion_time: Whole = Field(ge=1)
    reward: Whole = Field(ge=1)
    total_available_places: Whole = Field(ge=1)


class StudyTransition(Body):
    """What a study shall do."""

    action: Literal["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]
    publish_at: Identity | None = None


class CostQuestion(Body):
    """What a study would cost."""

    reward: Whole = Field(ge=1)
    total_available_places: Whole = Field(ge=1)


class CodeData(Body):
    """How much of the reward a part of the work is worth."""

    message_to_participant: Text | None = None
    percentage_of_reward: Whole | None = Field(default=None, ge=8, le=99)


class SubmissionTransition(Body):
    """What becomes of a submission."""

    action: Literal["APPROVE", "COMPLETE", "REJECT", "RETURN", "START", "SCREEN_OUT", "UNREJECT", "UNRETURN"]
    completion_code: Identity | None = None
    completion_code_data: CodeData | None = None
    message: Text | None = None
    rejection_category: RejectionCategory | None = None


class ReturnRequest(Body):
    """Why somebody shall return a submission."""

    request_return_reasons: list[Text]


class BonusList(Body):
    """Bonuses as lines `id,decimal amount`."""

    csv_bonuses: Annotated[str, Field(max_length=1_000_000)]
    study_id: Identity


class GroupDraft(Body):
    """A new group of participants."""

    name: Name
    description: Text | None = None
    organisation_id: Identity | None = None
    participant_ids: list[Identity] = []
    workspace_id: Identity | None = None


class ParticipantList(Body):
    """Participants."""

    participant_ids: list[Identity] = []


class SecretDraft(Body):
    """A workspace that wants a secret."""

    workspace_id: Identity | None = None


class SubscriptionDraft(Body):
    """A new subscription."""

    event_type: Identity
    id: Identity | None = None
    is_enabled: bool | None = None
    target_url: Annotated[str, Field(max_length=2_000)]
    workspace_id: Identity


class Confirmation(Body):
    """The secret of `X-Hook-Secret`."""

    secret: Identity


class PersonalMessage(Body):
    """To one participant."""

    body: Text
    recipient_id: Identity
    study_id: Identity


class BulkMessage(Body):
    """To several participants."""

    body: Text
    ids: list[Identity]
    study_id: Identity


class GroupMessage(Body):
    """A text for all who are in a participant group now."""

    body: Text
    participant_group_id: Identity
    study_id: Identity | None = None
