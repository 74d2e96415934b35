"""What every marketplace is to us: provider-neutral data, outcomes of calls, and the adapter's interface.

Definitions follow design notes on marketplaces, section 7. All times are aware and in UTC; money is in
minor units (cents).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Literal, Protocol, TypeVar

Ref = TypeVar("Ref")


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in minor units of a currency: Money(15, "USD") is fifteen cents."""

    minor: int
    currency: str = "USD"


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may work on a task. `hide` says what those who do not fit cannot do.

    `op` is a comparator of the MTurk protocol (EqualTo, GreaterThanOrEqualTo, Exists, DoesNotExist, In, …);
    `kind` "group" takes the group's id and "raw" a qualification id of the provider in `values[0]`.
    """

    kind: Literal["country", "approval_rate", "approved_count", "group", "adult", "raw"]
    op: str
    values: tuple[str | int, ...] = ()
    hide: Literal["discover", "preview", "accept"] = "accept"


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """A task to publish. `key` names it for ever: the same key never publishes twice."""

    key: str
    title: str
    description: str
    keywords: str
    reward: Money
    work_seconds: int
    open_seconds: int
    auto_approve_seconds: int
    places: int
    entry_url: str
    frame_height: int = 0
    eligibility: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A published task as the marketplace reports it."""

    ref: str
    key: str | None
    state: Literal["open", "full", "reviewable", "closed", "archived"]
    places: int
    available: int
    pending: int
    decided: int
    expires_at: datetime
    reward: Money
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Submission:
    """One person's work on a listing. `ref` alone names no person: ids are used again after a return."""

    ref: str
    listing: str
    worker: str
    state: Literal["submitted", "approved", "rejected"]
    accepted_at: datetime | None
    submitted_at: datetime
    auto_approve_at: datetime | None
    decided_at: datetime | None
    answer: Mapping[str, str]
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class BonusPaid:
    """A bonus as the marketplace lists it."""

    submission: str
    worker: str
    amount: Money
    reason: str
    paid_at: datetime


@dataclass(frozen=True, slots=True)
class Balance:
    """What the account can spend, and what is on hold (None where the provider does not say)."""

    available: Money
    on_hold: Money | None


@dataclass(frozen=True, slots=True)
class CallSuccess(Generic[Ref]):
    """The call did what it was asked to."""

    ref: Ref
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class EarlierSuccess(Generic[Ref]):
    """An earlier call with the same key did it; `ref` where the provider says which result."""

    ref: Ref | None


@dataclass(frozen=True, slots=True)
class CallRefusal:
    """The provider said no; nothing was done and repeating will not help."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class CallThrottling:
    """Too many calls; nothing was done. Try again after so many seconds."""

    after: float


@dataclass(frozen=True, slots=True)
class Unknown:
    """No answer, or one that says nothing: it may have been done or not."""

    text: str


Outcome = CallSuccess[Ref] | EarlierSuccess[Ref] | CallRefusal | CallThrottling | Unknown


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a marketplace can do, for the pages and the planner.

    `idempotent` names the calls that may be repeated with the same key. A bonus that is not among them is
    paid at most once: prepared first, and never repeated after silence.
    """

    idempotent: frozenset[str]
    can_shrink: bool
    can_reject: bool
    reject_min_chars: int
    unreject_days: int
    in_frame_submit: bool
    groups: bool
    blocks: bool
    messages: bool
    fee_tiers: bool
    currency: str


@dataclass(frozen=True, slots=True)
class StudySpec:
    """A stage as a study of a panel. `key` names it for ever: the same key never makes two.

    `codes` are completion codes by outcome; `reward` is for one submission, `minutes` what it takes.
    """

    key: str
    title: str
    description: str
    entry_url: str
    reward: Money
    places: int
    minutes: int
    longest_minutes: int
    codes: Mapping[str, str]
    eligibility: tuple[Rule, ...] = ()
    pays_in_part: bool = False
    screen_out: Money | None = None
    screen_out_slots: int = 0


@dataclass(frozen=True, slots=True)
class Letter:
    """A message of a participant, as the panel has it."""

    ref: str
    participant: str
    study: str
    category: str
    body: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A submission as a panel lists it, with its own word for the status; `reward` in cents where it says."""

    ref: str
    participant: str
    status: str
    entered_code: str
    started_at: datetime | None
    completed_at: datetime | None
    return_requested: bool
    reward: int | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """Somebody at our task page, as the address claims.

    `submission` and `worker` are empty in a preview. `submit_to` is where the marketplace wants the form.
    `proven`: the marketplace signed the claim so that we can tell; most marketplaces sign nothing.
    """

    listing: str
    submission: str
    worker: str
    submit_to: str
    is_preview: bool
    proven: bool = False


@dataclass(frozen=True, slots=True)
class PostForm:
    """How our page hands a finished assignment to the marketplace: a form posted by the worker's browser.

    Without fields nobody has to be told anything, and the browser just goes to `url`.
    """

    url: str
    fields: Mapping[str, str]


class Marketplace(Protocol):
    """The interface. Calls that change something return an Outcome; reads raise `MarketplaceDownError`."""

    @property
    def endpoint_url(self) -> str:
        """Where calls really go."""

    def capabilities(self) -> Capabilities:
        """What this marketplace can do."""

    def check(self) -> Balance:
        """The account's balance; proves that keys and endpoint work."""

    def publish(self, task: TaskSpec) -> Outcome[str]:
        """Put a task on offer; the result is the listing's reference."""

    def get_listing(self, ref: str) -> Listing | None:
        """One listing; None where it does not exist (any more)."""

    def iter_listings(self) -> Iterator[Listing]:
        """All listings, newest first."""

    def find_by_key(self, key: str) -> Listing | None:
        """The listing that was published with this key, by listing all."""

    def extend(self, ref: str, places: int, key: str) -> Outcome[str]:
        """More places for a listing."""

    def set_deadline(self, ref: str, when: datetime) -> Outcome[str]:
        """Let a listing end later."""

    def close(self, ref: str) -> Outcome[str]:
        """Expire a listing; work in progress may still be finished."""

    def archive(self, ref: str) -> Outcome[str]:
        """Delete a listing whose work is all decided. Rejections become final."""

    def iter_submissions(self, ref: str, states: Sequence[str] = ()) -> Iterator[Submission]:
        """Submitted work of a listing, in order of submission."""

    def get_submission(self, ref: str) -> Submission | None:
        """One submission; None where nobody submitted it."""

    def approve(self, ref: str, note: str) -> Outcome[str]:
        """Approve submitted work, which pays it."""

    def reject(self, ref: str, note: str) -> Outcome[str]:
        """Reject submitted work, with a reason for the worker."""

    def unreject(self, ref: str, note: str) -> Outcome[str]:
        """Approve what was rejected."""

    def pay_bonus(self, submission: str, worker: str, amount: Money, reason: str, key: str) -> Outcome[str]:
        """Pay something on top."""

    def iter_bonuses(self, *, listing: str = "", submission: str = "") -> Iterator[BonusPaid]:
        """Bonuses paid, of a listing or of a submission."""

    def ensure_group(self, name: str, description: str) -> Outcome[str]:
        """A group of workers; the result is its id."""

    def grant(self, group: str, worker: str, value: int = 1) -> Outcome[str]:
        """Put a worker into a group."""

    def revoke(self, group: str, worker: str) -> Outcome[str]:
        """Take a worker out of a group."""

    def block(self, worker: str, why: str) -> Outcome[str]:
        """Keep a worker from all our tasks."""

    def unblock(self, worker: str, why: str) -> Outcome[str]:
        """Lift a block."""

    def message(self, workers: Sequence[str], subject: str, text: str) -> Outcome[dict[str, str]]:
        """Write to workers; the result is the reasons for those who could not be reached."""

    def arrival(self, query: Mapping[str, str]) -> Arrival:
        """Read the address by which somebody came to our task page."""

    def finish(self, arrival: Arrival, fields: Mapping[str, str]) -> PostForm:
        """How the finished assignment goes back."""


class Panel(Marketplace, Protocol):
    """A marketplace that sends people to our address: a stage is one study there, and work is dealt here."""

    #: Parameters of the address that name the person, the study and the submission.
    parameters: tuple[str, str, str]
    #: Where people go on with a code at the real panel; empty where only its own pages know.
    site: str

    def check_rejection(self, note: str) -> str:
        """Why it would not take this reason of a rejection, with the remedy; empty where it would."""

    def vouch(self, ref: str, participant: str) -> "PanelRow | None":
        """Somebody of whom the panel's lists say nothing yet; None where they would."""

    def quote_fee(self, *, reward: int, places: int) -> int | None:
        """Fee and tax on one place's reward by the account's own calculator, rounded up; None without one."""

    def least_reward_per_hour(self) -> tuple[int, int] | None:
        """The least and the recommended reward an hour; None where the panel says none."""

    def read_charges(self, ref: str) -> tuple[int, int] | None:
        """What a study was charged: rewards with bonuses, and fee with tax; None where that is not said."""

    def open_study(self, study: StudySpec) -> Outcome[str]:
        """Make and publish a study, or find the one that was; the result is its reference."""

    def raise_places(self, ref: str, places: int) -> Outcome[str]:
        """Let a study have so many places in all."""

    def raise_slots(self, ref: str, *, code: str, slots: int, before: int, is_first: bool) -> Outcome[str]:
        """Let a study pay so many screen-outs in all, of which there were `before`; a repeat changes nothing.

        `is_first` says that nothing was sent for it yet.
        """

    def move_study(self, ref: str, action: str) -> Outcome[str]:
        """PAUSE, START or STOP."""

    def iter_rows(self, ref: str) -> Iterator[PanelRow]:
        """All submissions of a study."""

    def find_row(self, ref: str, study: str) -> PanelRow | None:
        """One submission of this study; None where it has none of that id."""

    def ask_return(self, ref: str, why: str) -> Outcome[str]:
        """Ask a person to give a submission back, which they decide; each call writes to them."""

    def pay_in_part(self, ref: str, *, code: str, percent: int, note: str) -> Outcome[str]:
        """End a submission with a share of its reward, in whole percent; a repeat changes nothing."""

    def write_to(
        self, participants: Sequence[str], text: str, *, study: str, group: str = ""
    ) -> Outcome[dict[str, str]]:
        """Write to participants, or to all of a group; each call writes to them."""

    def was_written(self, participants: Sequence[str], text: str, *, since: datetime) -> int | None:
        """How many of these have this message since then; None where the panel lists no messages."""

    def unread_letters(self) -> Sequence[Letter]:
        """What participants wrote and the panel counts as unread."""

    def subscribe(self, event_types: Sequence[str], target_url: str) -> str:
        """Have the panel send these events to an address; the secret that signs them."""

    def read_link(self, token: str, entry_url: str) -> dict[str, str]:
        """What a signed link vouches for; raises `SignatureError` where it proves nothing."""

    def prepare_bonus(self, study: str, submission: str, amount: Money) -> Outcome[str]:
        """Set a bonus up, which pays nothing; `pay_bonus` takes the result as its key."""


class MarketplaceDownError(Exception):
    """A read failed: no answer, or one that says nothing. Try later."""


class MarketplaceRefusedError(Exception):
    """A read was refused, such as for wrong keys."""
