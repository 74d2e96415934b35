"""What may stand in a study's file. Web forms are made from the same models.

Every field has a title and a description; bounds are in the field, or in its `Amount` or `Period`. Numbers,
switches and strings are typed as TOML types them: a form converts its text before it asks the model.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, LiteralString

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from core.money import AmountError, dollars, entered_cents
from crowd.panelmodels import MOST_SLOTS
from crowd.services.endpoints import is_safe

# Amounts and durations as a file or a form has them: strings outside, whole cents and seconds inside.

_UNITS = {"d": 24 * 3600, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"([0-9]{1,9})([smhd])")
_SIGNED = re.compile(r"-[0-9]+\.?[0-9]*")


def seconds(duration: str) -> int:
    """Seconds of "90s", "30m", "2h" or "7d". Raises ValueError for anything else."""
    match = _DURATION.fullmatch(duration)
    if match is None or not duration.isascii():
        raise ValueError(f"{duration!r} is not a duration such as 30m, 2h or 7d.")
    return int(match[1]) * _UNITS[match[2]]


def duration(number: int) -> str:
    """Seconds in the largest unit that holds them without a rest: 5400 is "90m"."""
    unit = next(unit for unit, size in _UNITS.items() if (number % size == 0 and number >= size) or size == 1)
    return f"{number // _UNITS[unit]}{unit}"


@dataclass(frozen=True, slots=True)
class Amount:
    """Marks a field of money: a string with at most two decimals, kept as whole cents between the bounds."""

    least: int = 0
    most: int = 1_000_000_000

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(dollars)
        )

    def read(self, value: object) -> int:
        """Whole cents; raises PydanticCustomError with words for the person."""
        if not isinstance(value, str):
            raise PydanticCustomError("wrong-type", "money is written in quotes, with two decimals")
        if _SIGNED.fullmatch(value):
            raise PydanticCustomError("out-of-bounds", "money cannot be negative")
        try:
            amount = entered_cents(value)
        except AmountError as error:
            raise PydanticCustomError("wrong-value", "{why}", {"why": str(error)}) from None
        if not self.least <= amount <= self.most:
            raise PydanticCustomError("out-of-bounds", self.bounds())
        return amount

    def bounds(self) -> str:
        """The bounds."""
        return f"from {dollars(self.least)} to {dollars(self.most)}"


@dataclass(frozen=True, slots=True)
class Period:
    """Marks a field of time: a string such as "30m", kept as seconds between the bounds."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(duration)
        )

    def read(self, value: object) -> int:
        """Seconds; raises PydanticCustomError with words for the person."""
        if not isinstance(value, str):
            raise PydanticCustomError("wrong-type", "a duration is written in quotes, with its unit")
        try:
            number = seconds(value)
        except ValueError:
            raise PydanticCustomError("wrong-value", "this is no duration") from None
        if not self.least <= number <= self.most:
            raise PydanticCustomError("out-of-bounds", self.bounds())
        return number

    def bounds(self) -> str:
        """The bounds."""
        return f"from {duration(self.least)} to {duration(self.most)}"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Marks a choice with what a form says for each of its options; files have the options themselves."""

    by_option: Mapping[str, str]


#: Largest number that every database stores in an ordinary whole-number column.
_INT = 2_147_483_647
_BIGINT = 9_223_372_036_854_775_807
_DAY = 24 * 3600
_COUNTRY = re.compile(r"[A-Z]{2}(-[A-Z0-9]{1,3})?")
_ID = re.compile(r"[A-Za-z0-9]{1,64}")
_SLUG = r"^[-a-zA-Z0-9_]+$"


def _safe(address: str) -> str:
    if address and not is_safe(address):
        raise PydanticCustomError("wrong-value", "this is no https address (http is for this machine only)")
    return address


def _whole_tenths(minutes: float) -> float:
    if abs(minutes * 10 - round(minutes * 10)) > 1e-9:
        raise PydanticCustomError("wrong-value", "minutes have at most one decimal, such as 2.5")
    return round(minutes, 1)


Address = Annotated[str, AfterValidator(_safe)]
Slug = Annotated[str, Field(min_length=1, max_length=80, pattern=_SLUG)]
Role = Literal["owner", "manager", "viewer"]


class Fields(BaseModel):
    """Base of all tables of the file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ProjectFields(Fields):
    """The project: one budget, one wage floor, one list of members."""

    slug: Slug = Field(title="Short name", description="Names the project in addresses; never changes.")
    title: str = Field(title="Title", min_length=1, max_length=200, description="For people who work on it.")
    language: str = Field(
        default="en",
        title="Language",
        max_length=35,
        pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$",
        description="Language of what is collected, a BCP 47 tag such as en or zh-Hans.",
    )
    licence: str = Field(
        default="",
        title="Licence",
        max_length=80,
        description="Licence of what will be published, such as CC-BY-4.0.",
    )
    wage_floor: Annotated[int, Amount(most=1_000_000)] = Field(
        default=1000,
        title="Wage floor",
        description="Least pay per hour of work; below it you are warned.",
    )
    budget: Annotated[int, Amount()] = Field(
        title="Budget",
        description="Most that the whole project may spend, fees included. It is never passed.",
    )
    members: dict[str, Role] = Field(
        default_factory=dict,
        title="Members",
        description="User name and role: a viewer looks, a manager works, an owner also spends and invites.",
    )


class EndpointFields(Fields):
    """A marketplace to publish on. Its keys never stand in the file, only where to find them."""

    preset: Literal["local", "link", "prolific", "connect", "aws", "aws-sandbox"] | None = Field(
        default=None,
        title="Preset",
        description="A known marketplace: all the rest but keys, label, currency and burst comes from it. "
        "`local` is the marketplace of this installation; `link` is for people who come by study links and "
        "needs no keys; `prolific` takes the workspace's id as access key and an API token as secret key; "
        "`connect` (CloudResearch Connect, contract from third parties) an API key as secret key; "
        "both of AWS are announced closed 2026-09-30.",
    )
    url: Address = Field(
        default="",
        title="Address",
        max_length=300,
        description="Address of the requester protocol, without a preset, or for a local one elsewhere.",
    )
    label: str = Field(
        default="", title="Label", max_length=200, description="Its name for people; empty: the preset's."
    )
    access_key_env: str = Field(
        default="",
        title="Access key from",
        max_length=100,
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Environment variable that holds the access key when the file is applied.",
    )
    secret_key_env: str = Field(
        default="",
        title="Secret key from",
        max_length=100,
        pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$",
        description="Environment variable that holds the secret key. Leave both empty to keep stored keys.",
    )
    region: str = Field(
        default="us-east-1",
        title="Region",
        min_length=1,
        max_length=40,
        description="Region that calls sign.",
    )
    currency: str = Field(
        default="USD", title="Currency", pattern=r"^[A-Z]{3}$", description="Currency of all amounts."
    )
    real_money: StrictBool = Field(
        default=True,
        title="Real money",
        description="Opening a stage there needs its budget typed in.",
    )
    fees: Literal["none-1", "mturk-2026"] = Field(
        default="mturk-2026", title="Fees", description="Fee profile by which quotes are made."
    )
    submit_origins: tuple[Address, ...] = Field(
        default=(),
        title="Submit to",
        max_length=20,
        description="Origins to which task pages may send workers' forms; empty: that of the address.",
    )
    rate: Annotated[StrictFloat | StrictInt, Field(ge=0, le=1000)] = Field(
        default=3.0, title="Calls per second", description="Of each process; 0 is no limit."
    )
    burst: StrictInt = Field(
        default=5,
        ge=1,
        le=1000,
        title="Burst",
        description="Calls that may come at once before the rate counts.",
    )

    @model_validator(mode="after")
    def _by_preset_or_by_url(self) -> "EndpointFields":
        if self.preset is None and not self.url:
            raise PydanticCustomError("not-together", "neither a preset nor a url is given")
        spare = {"region", "real_money", "fees", "submit_origins", "rate"} & self.model_fields_set
        if self.preset is not None and spare:
            raise PydanticCustomError(
                "not-together",
                "{fields} cannot be given with a preset, which brings its own",
                {"fields": ", ".join(sorted(spare))},
            )
        if bool(self.access_key_env) != bool(self.secret_key_env):
            raise PydanticCustomError("not-together", "access_key_env and secret_key_env go together")
        return self


class RuleFields(Fields):
    """Who may work: one rule; all of a stage's rules must hold."""

    kind: Literal["country", "approval_rate", "approved_count", "adult", "passed", "group", "raw"] = Field(
        title="What is asked",
        description="`passed` names a stage of the project that is a test, and asks for those who passed "
        "it; `group` and `raw` name a qualification by its id in the first value.",
    )
    op: Literal[
        "EqualTo",
        "NotEqualTo",
        "LessThan",
        "LessThanOrEqualTo",
        "GreaterThan",
        "GreaterThanOrEqualTo",
        "Exists",
        "DoesNotExist",
        "In",
        "NotIn",
    ] = Field(title="Comparison", description="How the worker's value compares with yours.")
    values: tuple[StrictInt | str, ...] = Field(
        default=(),
        title="Values",
        max_length=31,
        description='Countries such as "US" or "US-PA", or whole numbers.',
    )
    hide: Literal["discover", "preview", "accept"] = Field(
        default="accept",
        title="Hide",
        description="What those who do not fit cannot do: not even see it, see but not open, or not accept.",
    )

    @model_validator(mode="after")
    def _values_fit(self) -> "RuleFields":
        compared = self.values
        if self.kind == "passed":
            if self.op != "Exists" or len(compared) != 1 or not isinstance(compared[0], str):
                raise _wrong("passed takes Exists and the short name of one stage")
            return self
        if self.kind in ("group", "raw"):
            name, compared = (self.values or ("",))[0], self.values[1:]
            if not isinstance(name, str) or not _ID.fullmatch(name):
                raise _wrong("the first value is the qualification's id, a string of letters and digits")
        if self.kind == "country":
            if self.op not in ("EqualTo", "NotEqualTo", "In", "NotIn"):
                raise _wrong("countries compare by EqualTo, NotEqualTo, In or NotIn")
            if not all(isinstance(value, str) and _COUNTRY.fullmatch(value) for value in compared):
                raise _wrong('countries are strings such as "US" or "US-PA"')
        elif not all(isinstance(value, int) for value in compared):
            raise _wrong("numbers to compare with are whole numbers, without quotes")
        if self.op in ("Exists", "DoesNotExist"):
            if compared:
                raise _wrong(f"{self.op} compares with nothing")
        elif not compared or (len(compared) > 1 and self.op not in ("In", "NotIn")):
            raise _wrong(f"{self.op} compares with one value")
        return self


def _wrong(sentence: LiteralString) -> PydanticCustomError:
    return PydanticCustomError("wrong-value", sentence)


class SourceFields(Fields):
    """One of several sources of a stage's people: an endpoint, and its part of the work."""

    endpoint: str = Field(
        title="Marketplace",
        min_length=1,
        max_length=60,
        pattern=_SLUG,
        description="An endpoint, as in the stage. One of the sources is the stage's own `endpoint`.",
    )
    share: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = Field(
        default=None,
        title="Share",
        description="Its weight among the sources that share what counts leave: 1 and 1 are half each, 70 "
        "and 30 are percent.",
    )
    answers: Annotated[StrictInt, Field(ge=0, le=_INT)] | None = Field(
        default=None,
        title="Answers",
        description="So many answers and no more, all units together, instead of a share.",
    )
    reward: Annotated[int, Amount(most=1_000_000)] | None = Field(
        default=None,
        title="Reward",
        description="Paid there for each HIT; left out: the stage's reward.",
    )
    move_after: Annotated[int, Period(60, 365 * _DAY)] | None = Field(
        default=None,
        title="Give to others after",
        description="What has been on offer there for so long without being taken goes to the other "
        "sources; left out: it stays until it expires.",
    )

    @model_validator(mode="after")
    def _share_or_answers(self) -> "SourceFields":
        if (self.share is None) == (self.answers is None):
            raise PydanticCustomError("not-together", "give either share or answers")
        return self


class PanelFields(Fields):
    """What a study at Prolific pays beside whole rewards."""

    screen_out: Annotated[int, Amount(least=1, most=1_000_000)] | None = Field(
        default=None,
        title="Paid to each who is screened out",
        description="Less than the reward; left out: people who do not fit are asked to return, unpaid. "
        "Fixed once the study is there.",
    )
    screen_outs: StrictInt = Field(
        default=0,
        ge=0,
        le=MOST_SLOTS,
        title="At most so many screen-outs",
        description="Their money is set aside with the study. The number can be raised while the study runs, "
        "where it has paid screen-outs from the beginning.",
    )
    pays_in_part: StrictBool = Field(
        default=False,
        title="A part of the reward can be paid",
        description="Only where the panel enabled it for your workspace. Fixed once the study is there.",
    )

    @model_validator(mode="after")
    def _amount_and_number(self) -> "PanelFields":
        if (self.screen_out is None) != (not self.screen_outs):
            raise PydanticCustomError("not-together", "give both screen_out and screen_outs, or neither")
        return self


class TaskFields(Fields):
    """What workers read in the marketplace's list."""

    title: str = Field(
        title="Title", min_length=1, max_length=128, description="The line that people see first."
    )
    description: str = Field(
        title="Description",
        min_length=1,
        max_length=2000,
        description="What is to be done, in a sentence or two.",
    )
    keywords: str = Field(
        default="",
        title="Keywords",
        max_length=1000,
        description="Words to be found by, with commas between.",
    )


class StageFields(Fields):
    """One kind of work asked of people."""

    slug: Slug = Field(title="Short name", description="Names the stage in its project; never changes.")
    title: str = Field(
        title="Title", min_length=1, max_length=200, description="For the people of the project."
    )
    kind: str = Field(
        title="Kind", min_length=1, max_length=40, description="What kind of work it is, such as `poll`."
    )
    endpoint: str = Field(
        title="Marketplace",
        min_length=1,
        max_length=60,
        pattern=_SLUG,
        description="Where it is published: an endpoint of this file, or one that the installation has.",
    )
    sources: tuple[SourceFields, ...] = Field(
        default=(),
        max_length=12,
        title="Sources",
        description="Several endpoints for the same units, two or more tables `[[stages.sources]]`; none: "
        "its own endpoint alone.",
    )
    panel: PanelFields | None = Field(
        default=None,
        title="At Prolific",
        description="What its study at Prolific pays beside whole rewards, a table `[stages.panel]`; left "
        "out: stays as it is.",
    )
    reward: Annotated[int, Amount(most=1_000_000)] = Field(
        title="Reward", description="Paid for each HIT that a person does. The fee comes on top."
    )
    redundancy: StrictInt = Field(
        ge=1, le=10_000, title="People per unit", description="Different people who answer each unit."
    )
    units_per_hit: StrictInt = Field(
        default=1, ge=1, le=1000, title="Units per HIT", description="Units that a person answers in one HIT."
    )
    checks_per_hit: StrictInt = Field(
        default=0,
        ge=0,
        le=100,
        title="Checks per HIT",
        description="Attention checks mixed into each HIT; the kind's config has them.",
    )
    max_hits_per_worker: Annotated[StrictInt, Field(ge=1, le=_INT)] | None = Field(
        default=None,
        title="HITs per person",
        description="Most HITs that one person may do; left out: no limit.",
    )
    expected_minutes: Annotated[StrictFloat, Field(ge=0.1, le=600), AfterValidator(_whole_tenths)] | None = (
        Field(
            default=None,
            title="Minutes that one HIT takes",
            description="Your guess, for the quote and the hourly pay before anybody worked; left out: none.",
        )
    )
    work_time: Annotated[int, Period(30, 365 * _DAY)] = Field(
        default=3600, title="Time to work", description="From accepting a HIT to submitting it, at most."
    )
    open_for: Annotated[int, Period(30, 365 * _DAY)] = Field(
        default=7 * _DAY, title="On offer for", description="How long a published HIT can be accepted."
    )
    auto_approve_after: Annotated[int, Period(0, 30 * _DAY)] = Field(
        default=3 * _DAY,
        title="Approved automatically after",
        description="Work that is undecided by then is approved and paid by the marketplace.",
    )
    budget: Annotated[int, Amount()] = Field(
        title="Budget",
        description="Most that the stage may spend, fees and bonuses included. It is never passed.",
    )
    seed: StrictInt = Field(
        default=1,
        ge=-_BIGINT,
        le=_BIGINT - 1_000_000,
        title="Seed",
        description="Decides every random choice; the same seed makes the same HITs.",
    )
    eligibility: tuple[RuleFields, ...] = Field(
        default=(),
        max_length=8,
        title="Who may work",
        description="Rules that all must hold; see below. The marketplace takes ten, and two are ours.",
    )
    apart_from: tuple[Slug, ...] = Field(
        default=(),
        max_length=20,
        title="Apart from",
        description="Short names of stages of the project whose workers do nothing in this one.",
    )
    approve: Literal["at-once", "by-hand"] = Field(
        default="at-once",
        title="Approval",
        description="All good-faith work as soon as it is in, or each by a person.",
    )
    hold_failed_checks: StrictBool = Field(
        default=False,
        title="Hold failed checks",
        description="A person decides on work that failed attention checks.",
    )
    task: TaskFields | None = Field(
        default=None,
        title="In the list",
        description="What workers read in the marketplace's list; left out: texts that the kind makes.",
    )
    config: dict[str, Any] = Field(
        default_factory=dict,
        title="Options of the kind",
        description="Checked by the kind; see its own table.",
    )


class StudyFields(Fields):
    """The whole file."""

    project: ProjectFields = Field(title="Project", description="The project.")
    endpoints: dict[Annotated[str, Field(pattern=_SLUG, max_length=60)], EndpointFields] = Field(
        default_factory=dict, title="Marketplaces", description="Marketplaces by name."
    )
    stages: tuple[StageFields, ...] = Field(
        default=(),
        max_length=1000,
        title="Stages",
        description="Stages in the order in which they are shown.",
    )
