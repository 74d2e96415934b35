"""Models of what the API takes and gives. Written from docs/openapi.json by `generate.py`; not by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Model(BaseModel):
    """Base of all: fields that a newer installation adds are kept."""

    model_config = ConfigDict(extra="allow")


class Page(Model, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next: str | None = None


class AgreementOut(Model):
    """How far people agree in a stage now; of judging with the report, whose figures its `report` holds."""

    caution: str
    counts: dict[str, int]
    figures: dict[str, FigureOut]
    kind: str
    report: dict[str, Any] | None
    report_is_fresh: bool
    report_job: int | None
    sources: list[SourceAgreementOut] | None = None


class AlarmOut(Model):
    """Something urgent."""

    level: str
    sentence: str


class AnswerDecisions(Model):
    """One decision about up to 200 answers of a stage."""

    action: Literal["approve", "rewrite", "exclude", "reopen"]
    ids: list[int]
    reason: str = ""
    reject_work: bool = False


class AnswerHoldOut(Model):
    """An answer whose writer is held out of its query, or is a reference again."""

    answer: int
    held_out: bool


class AnswerOut(Model):
    """One answer of one person to one query."""

    checked_at: datetime | None
    created_at: datetime
    entities: list[Any]
    flags: list[FlagOut]
    held_out: bool
    id: int
    opinion: str
    person: str = ""
    query: str
    query_id: int
    query_key: str
    revises_id: int | None
    simulated: bool
    state: str
    text: str
    worker: str


class AnswerOutcome(Model):
    """Ids that were decided about, and the others with the reason; together they are those that were sent."""

    done: list[int]
    refused: list[RefusedAnswer]


class ApplyIn(Model):
    """A recipe to put in force."""

    parameters: dict[str, Any] | None = None
    recipe: str = "default"
    seed: int = 0
    seen: int | None = None


class Approval(Model):
    """A note that the worker reads."""

    note: str = ""


class ApprovalOutcome(Model):
    """How many were approved, what was not and why, and approved work with answers that still wait."""

    approved: int
    refused: list[WorkNote]
    undecided: list[WorkNote]


class AssignmentDetails(Model):
    """With what was answered, by unit."""

    arrived_at: datetime
    auto_approve_at: datetime | None
    decided_at: datetime | None
    external_id: str
    failed_checks: int
    held: bool
    hit: int
    id: int
    instructions_version: int
    note: str
    response: Any
    simulated: bool
    state: Literal["working", "stored", "submitted", "approved", "rejected", "ended", "quarantined"]
    stored_at: datetime | None
    submitted_at: datetime | None
    worker: str


class AssignmentOut(Model):
    """One worker's work on one HIT."""

    arrived_at: datetime
    auto_approve_at: datetime | None
    decided_at: datetime | None
    external_id: str
    failed_checks: int
    held: bool
    hit: int
    id: int
    instructions_version: int
    note: str
    simulated: bool
    state: Literal["working", "stored", "submitted", "approved", "rejected", "ended", "quarantined"]
    stored_at: datetime | None
    submitted_at: datetime | None
    worker: str


class AttemptOut(Model):
    """One attempt at delivery."""

    at: datetime
    milliseconds: int
    note: str
    status: int | None


class AuditEntry(Model):
    """One thing that was done; an entry is never changed."""

    action: str
    address: str
    at: datetime
    credential: str
    details: Any
    digest: str | None
    id: int
    number: int | None
    request_id: str
    subject: str
    via: str
    what: str
    who: str


class AuditState(Model):
    """How far a log is chained, and what the last verification of all logs found."""

    began_at: datetime | None
    faults: list[str]
    head: str
    length: int
    pruned: int
    pruned_at: datetime | None
    verified_on: str | None
    why_pruned: str


class AuditVerification(Model):
    """What computing every digest again found."""

    faults: list[str]
    head: str
    length: int
    pruned: int
    unsealed: int
    whole: bool


class Balance(Model):
    """What can be spent there."""

    available_cents: int
    currency: str


class BatchHours(Model):
    """When HITs of a batch can be accepted; the ETag is for changing it."""

    hours: HoursOut | None
    open_now: bool
    opens_at: datetime | None


class BatchOut(Model):
    """A template and a table that became HITs, and how far they are."""

    adds_to: int | None
    approved: int
    assignments: int
    created_at: datetime
    end_at: datetime | None
    error: str
    hours: str | None
    name: str
    number: int
    open: int
    pending: int
    publish_at: datetime | None
    published: int
    published_at: datetime | None
    rejected: int
    reward_cents: int
    schedule_note: str
    state: Literal["draft", "publishing", "published", "failed", "cancelled"]
    submitted: int
    tasks: int
    title: str
    total_cents: int


class BatchSchedule(Model):
    """When a batch is published and ended by itself; the ETag is for changing it."""

    end_at: datetime | None
    note: str
    publish_at: datetime | None


class BonusIn(Model):
    """A payment beside the reward, with a reason that the worker reads."""

    cents: int
    reason: str


class BudgetOut(Model):
    """The money of a project. It is never passed."""

    allotted_cents: int
    budget_cents: int
    currency: str | None
    left_cents: int
    reserved_cents: int
    spent_cents: int
    wage_floor_cents: int


class CallerOut(Model):
    """Whose token it is, and what it may do."""

    expires_at: datetime | None
    makes_projects: bool
    project: str | None
    scopes: list[Literal["read", "collect", "decide", "pay", "publish", "admin"]]
    staff: bool
    token: str
    username: str


class CandidateCount(Model):
    """How many answers were changed."""

    candidates: int


class CandidateImportIn(Model):
    """How a file of answers is read; the query is found by its id or its text."""

    columns: dict[str, str] | None = None
    encoding: str = ""
    format: str = "auto"
    header: bool | None = None
    header_row: int = 0
    keep_exact: bool = False
    sheet: str = ""
    strict: bool = False
    system: str = ""
    systems_from: list[str] | None = None
    upload: str


class CandidateImportOut(Model):
    """An import of answers with the report about its lines."""

    created_at: datetime
    format: str
    id: int
    name: str
    report: dict[str, Any]
    sha256: str


class CandidateOut(Model):
    """One answer of one system."""

    aside: str
    aside_reason: str
    created_at: datetime
    entities: list[Any]
    id: int
    judgments: int
    line: int | None
    mean: float | None
    opinion: str
    query: str
    query_id: int
    query_key: str
    simulated: bool
    system: str
    text: str


class CandidatesFound(Model):
    """Candidates of a query."""

    query: int
    shown: int


class CandidatesIn(Model):
    """How candidate passages of a query are found, as `manage.py candidates` has it."""

    below: int = 0
    k: int = 10


class CaseDecision(Model):
    """A person's decision about a query that waits."""

    decision: Literal["accept", "exclude", "curate", "unanswerable", "keep", "ask_again", "leave_out"]
    doubt: int | None = None
    passages: list[str] | None = None
    reason: str = ""


class CaseDetails(Model):
    """A query with everything that was said about it; work that does not count is marked, not left out."""

    can_be_undone: bool
    context: list[dict[str, Any]]
    curated: list[str]
    doubts: list[DoubtOut]
    id: int
    key: str
    passages: list[CasePassageOut]
    selections: list[SelectionOut]
    since: datetime | None
    status: Literal[
        "waiting",
        "tied",
        "excluded",
        "accepted",
        "disputed",
        "unanswerable",
        "curated",
        "answered",
        "withdrawn",
    ]
    text: str
    votes: list[ScreeningVoteOut]
    waiting: Literal["tied", "one-flag", "disputed", "doubt"] | None
    why: str


class CaseOut(Model):
    """A query that waits for a person's decision."""

    context: list[dict[str, Any]]
    id: int
    key: str
    since: datetime | None
    status: Literal[
        "waiting",
        "tied",
        "excluded",
        "accepted",
        "disputed",
        "unanswerable",
        "curated",
        "answered",
        "withdrawn",
    ]
    text: str
    waiting: Literal["tied", "one-flag", "disputed", "doubt"] | None
    why: str


class CasePassageOut(Model):
    """A candidate passage as editors were shown it, with who chose it."""

    below: bool
    chosen_by: list[int]
    highlights: list[str]
    key: str
    rank: int
    text: str
    title: str
    url: str


class ChosenWork(Model):
    """Work to approve at once."""

    assignments: list[int]
    note: str = ""


class CompensationRef(Model):
    """A compensation with the state of its call. A refused one was not paid and can be asked for again."""

    amount_cents: int
    at: datetime
    currency: str
    error: str
    fee_cents: int
    kind: str
    operation: str
    state: str


class ConsentTextIn(Model):
    """A new version. Except for `body`, what is left out stays as in the version before."""

    body: str
    contact: str | None = None
    language: str | None = None
    minimum_age: int | None = None
    protocol_number: str | None = None
    right_to_withdraw: str | None = None
    what_is_kept: str | None = None


class ConsentTextOut(Model):
    """One version. It never changes: who agreed to it can be shown what they read."""

    agreed: int
    body: str
    contact: str
    id: int
    in_force: bool
    language: str
    made_at: datetime
    made_by: str | None
    minimum_age: int
    protocol_number: str
    right_to_withdraw: str
    version: int
    what_is_kept: str


class ContentOut(Model):
    """What a release would hold now, and what not, by the reason; the counts add up."""

    answers: dict[str, Any]
    candidates: dict[str, Any]
    imported_scores: dict[str, Any]
    queries: dict[str, Any]
    ratings: dict[str, Any]


class CopyIn(Model):
    """The names of a copy."""

    slug: str
    title: str


class CorpusIn(Model):
    """A new corpus with its first file."""

    attribution: str = ""
    columns: dict[str, str] | None = None
    delimiter: str = ""
    encoding: str = ""
    language: str = ""
    licence: str = ""
    near: float | None = None
    repeats: Literal["report", "skip", "keep"] = "report"
    same_id: Literal["refuse", "first", "number"] = "refuse"
    sheet: str = ""
    size: int = 5
    skip_known: bool = False
    slug: str
    split: Literal["", "sentences", "words"] = ""
    stride: int = 3
    title: str = ""
    upload: str


class CorpusOut(Model):
    """Passages of one origin and language."""

    attribution: str
    created_at: datetime
    index: Readiness
    job: int | None
    language: str
    licence: str
    network: Readiness
    passages: int
    slug: str
    title: str


class CurationOut(Model):
    """How far the queries of a project are on their way to a curated set."""

    accepted: int
    curated: int
    disputed: int
    unanswerable: int
    without_candidates: int


class DecisionOutcome(Model):
    """How many were decided about; the others with the reason. Ids of no query of the project are neither."""

    done: int
    refused: list[RefusedQuery]


class DesignIn(Model):
    """Which of the distinct queries are taken; without it all."""

    by: Literal["all", "uniform", "count", "strata"] = "all"
    quotas: dict[str, int] | None = None
    seed: int = 1
    size: int = 0
    strata: Literal["count", "type"] = "count"


class DoubtOut(Model):
    """A decision whose work no longer counts, and what was built on it."""

    answers: int
    hits: int
    id: int
    raised_at: datetime
    says: str
    selections: int
    stage: str
    why: str


class EndpointIn(Model):
    """A marketplace or panel by what is known of it."""

    access_key: str = ""
    name: str
    preset: Literal["local", "link", "prolific", "aws", "aws-sandbox"]
    secret: str = ""
    url: str = ""


class EndpointMove(Model):
    """Where it really is."""

    url: str


class EndpointOut(Model):
    """A marketplace that stages can be published on."""

    created_at: datetime
    currency: str
    label: str
    name: str
    protocol: str
    real_money: bool
    url: str


class EvaluationDetails(Model):
    """An evaluation with its report."""

    best: str
    best_value: float | None
    created_at: datetime
    created_by: str | None
    files: list[EvaluationFile]
    finished_at: datetime | None
    job: int | None
    leaderboard: bool
    number: int
    plan: dict[str, Any]
    release: str
    report: dict[str, Any] | None
    state: str
    title: str
    why: str


class EvaluationFile(Model):
    """One file of a report."""

    bytes: int
    name: str
    sha256: str


class EvaluationIn(Model):
    """What is computed; what is left out has its default. Without metrics, those of the profile."""

    differences: list[str] | None = None
    draws: int = 9999
    encoder: str = ""
    encoder_digest: str = ""
    external: list[External] | None = None
    gap: float | None = None
    metrics: list[str] | None = None
    models: list[PinnedModel] | None = None
    paired_bootstrap: bool = False
    profile: str = "default"
    protocols: list[str] | None = None
    reference_samples: int = 0
    replicates: int = 1000
    seed: int = 0
    stage: str = ""
    sweeps: list[str] | None = None
    title: str = ""


class EvaluationOut(Model):
    """An evaluation of a release."""

    best: str
    best_value: float | None
    created_at: datetime
    created_by: str | None
    finished_at: datetime | None
    job: int | None
    leaderboard: bool
    number: int
    plan: dict[str, Any]
    release: str
    state: str
    title: str
    why: str


class EventOut(Model):
    """One thing that happened; it is never changed."""

    action: str
    actor: str | None
    address: str
    at: datetime
    credential: str
    details: dict[str, Any]
    id: int
    request_id: str
    subject: str
    via: str
    words: str


class EventTypeOut(Model):
    """A type of events that a webhook can ask for."""

    type: str
    words: str


class EventTypes(Model):
    """All types of events."""

    items: list[EventTypeOut]


class ExclusionOut(Model):
    """A stage that a worker is excluded from."""

    reason: str
    since: datetime
    stage: str


class External(Model):
    """A column of scores from elsewhere, by its name in the release and the digest of its file."""

    digest: str
    name: str


class ExternalScoresIn(Model):
    """A file with a column of scores, which was uploaded before (`upload_file`)."""

    column: str = ""
    direction: Literal["higher", "lower"] = "higher"
    keep: bool = True
    name: str
    release: str
    says: str = ""
    upload: str


class ExternalScoresOut(Model):
    """Values for some candidates of a release."""

    count: int
    created_at: datetime
    created_by: str | None
    digest: str
    direction: Literal["higher", "lower"]
    file_name: str
    high: float
    id: int
    kept: bool
    low: float
    missing: int
    name: str
    release: str
    says: str


class FieldDifference(Model):
    """A field, as it is and as the file has it."""

    name: str
    new: Any
    old: Any


class FigureOut(Model):
    """A number, or null with the reason."""

    reason: str
    value: float | None


class FileIn(Model):
    """How an uploaded file goes into a corpus."""

    columns: dict[str, str] | None = None
    delimiter: str = ""
    encoding: str = ""
    near: float | None = None
    repeats: Literal["report", "skip", "keep"] = "report"
    same_id: Literal["refuse", "first", "number"] = "refuse"
    sheet: str = ""
    size: int = 5
    skip_known: bool = False
    split: Literal["", "sentences", "words"] = ""
    stride: int = 3
    upload: str


class FilterPreviewOut(Model):
    """What a recipe would do now."""

    capped: int
    currency: str
    items: int
    missing_answers: int
    missing_judgments: int
    parameters: dict[str, Any]
    ratings: int
    reasons: list[dict[str, Any]]
    removed_ratings: int
    removed_workers: int
    seen: int
    sentence: str
    title: str
    top_up_cents: int
    undetermined: int
    workers: int


class FilterRunOut(Model):
    """A run of a recipe."""

    counts: dict[str, Any]
    created_at: datetime
    created_by: str | None
    ended_at: datetime | None
    id: int
    parameters: dict[str, Any]
    reason: str
    recipe: str
    seed: int
    state: str
    title: str


class FindingDecision(Model):
    """What becomes of findings: they may stay, are blacked out in releases, or are open again."""

    decision: Literal["accept", "redact", "reopen"]
    ids: list[int]
    reason: str = ""


class FindingOut(Model):
    """A place in a text that may name or lead to a person."""

    end: int
    excerpt: str
    field: str
    id: int
    reason: str
    rule: str
    start: int
    state: str
    subject: str


class FindingOutcome(Model):
    """How many were decided about; the others were in no state for it, or are no findings of the project."""

    done: int


class FlagOut(Model):
    """Something that a check noticed."""

    evidence: dict[str, Any]
    limit: float | None
    name: str
    value: float | None


class HeldOutState(Model):
    """What became of it."""

    answer: int
    held_out: bool


class HitDetails(Model):
    """A HIT together with the units that its task page shows."""

    answered: int
    expires_at: datetime | None
    external_id: str
    fee_cents: int
    number: int
    places: int
    published_at: datetime | None
    reward_cents: int
    state: Literal["planned", "open", "refused", "closed"]
    units: list[UnitOut]
    wave: int
    working: int


class HitOut(Model):
    """A task on offer to several people."""

    answered: int
    expires_at: datetime | None
    external_id: str
    fee_cents: int
    number: int
    places: int
    published_at: datetime | None
    reward_cents: int
    state: Literal["planned", "open", "refused", "closed"]
    wave: int
    working: int


class HoldOutIn(Model):
    """How many people of each query are set aside as the system `human`."""

    people: int
    seed: int


class HoldOutOut(Model):
    """How many queries got people held out, and how many have too few answers."""

    queries: int
    too_few: int


class Hooks(Model):
    """Where a panel sends its hooks."""

    address: str


class HoursIn(Model):
    """From one time of these days to another, in the local time of a zone."""

    closes: str
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]
    opens: str
    zone: str


class HoursOut(Model):
    """Hours of a batch."""

    closes: str
    days: list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]
    opens: str
    words: str
    zone: str


class InvitationIn(Model):
    """A link for one or several people, or for one address, to which it is sent by mail."""

    days: int = 7
    email: str | None = None
    max_uses: int = 1
    role: Literal["owner", "manager", "viewer"]


class InvitationOut(Model):
    """An invitation, and who accepted it."""

    accepted_by: list[str]
    email: str
    expires_at: datetime
    id: int
    made_at: datetime
    made_by: str | None
    max_uses: int
    open: bool
    revoked_at: datetime | None
    role: str
    uses: int


class JobDetails(Model):
    """One piece of background work."""

    attempts: int
    created_at: datetime
    error: str
    finished_at: datetime | None
    id: int
    kind: str
    progress_done: int
    progress_note: str
    progress_total: int
    result: Any
    started_at: datetime | None
    state: Literal["queued", "running", "done", "failed", "cancelled"]


class JobRef(Model):
    """A job that does what takes long; `GET /projects/{project}/jobs/{job}` says how far it is."""

    job: int


class LetterToParticipants(Model):
    """A message: to the named participants, to all with a status, or to a group that is kept at the panel."""

    group: int | None = None
    participants: list[str] | None = None
    status: str | None = None
    text: str


class LinkChanges(Model):
    """Fields to change; what is left out stays. Where a link leads and what people get cannot change."""

    expires_at: datetime | None = None
    most_per_address: int | None = None
    most_tasks: int | None = None
    quota: int | None = None
    returns: dict[str, ReturnWay] | None = None
    returns_at_once: bool | None = None
    title: str | None = None


class LinkIn(Model):
    """A new link."""

    code_word: str = ""
    compensation: Literal["nothing", "credit", "panel", "money"] = "nothing"
    expires_at: datetime | None = None
    granted: str = ""
    id_parameters: list[str] | None = None
    id_required: bool = False
    kept_parameters: list[str] | None = None
    languages: list[str] | None = None
    most_per_address: int = 0
    most_tasks: int = 0
    quota: int = 100
    returns: dict[str, ReturnWay] | None = None
    returns_at_once: bool = False
    secret: str = ""
    target: str
    title: str


class LinkOut(Model):
    """An address by which people join."""

    address: str | None
    agreed: int
    closed: str
    closed_at: datetime | None
    compensation: Literal["nothing", "credit", "panel", "money"]
    done: int
    expires_at: datetime | None
    granted: str
    id: int
    id_parameters: list[str]
    languages: list[str]
    leads_to: str
    made_at: datetime
    most_per_address: int
    most_tasks: int
    opened: int
    quota: int
    returns: dict[str, Any]
    returns_at_once: bool
    target: str
    title: str


class LinkTarget(Model):
    """Something that a link can lead to."""

    label: str
    target: str


class LinkTargets(Model):
    """All that links of a project can lead to."""

    items: list[LinkTarget]


class MatchOut(Model):
    """Two workers of different marketplaces who may be the same person. They are never merged."""

    decided_at: datetime | None
    decided_by: str | None
    first: MatchedWorker
    found_at: datetime
    id: int
    in_common: list[Literal["id", "email", "payee"]]
    second: MatchedWorker
    verdict: Literal["open", "same", "different"]


class MatchVerdict(Model):
    """Whether they are one person or two."""

    verdict: Literal["same", "different"]


class MatchedWorker(Model):
    """One of two workers."""

    endpoint: str
    id: int
    worker: str


class MemberIn(Model):
    """A role: viewers look, managers work, owners also spend and invite."""

    role: Literal["owner", "manager", "viewer"]


class MemberOut(Model):
    """A member of the project."""

    role: Literal["owner", "manager", "viewer"]
    username: str


class MessageOut(Model):
    """A message with its attempts."""

    at: datetime
    attempts: list[AttemptOut]
    ended_at: datetime | None
    id: int
    message_id: str
    next_attempt_at: datetime | None
    payload: dict[str, Any]
    sequence: int | None
    state: Literal["waiting", "sent", "gave_up"]
    type: str


class MessagesRead(Model):
    """Messages that were read."""

    messages: list[int]


class MorePlaces(Model):
    """How many more people."""

    places: int


class MoreScreenOuts(Model):
    """How many screen-outs the study pays in all; more than before."""

    screen_out_slots: int


class MoreTime(Model):
    """How much longer."""

    hours: int


class MovedWork(Model):
    """How many HITs expire there, whose free places the others get."""

    hits: int


class MovementOut(Model):
    """One movement of a stage's budget; it is never changed."""

    assignment: int | None
    at: datetime
    cents: int
    currency: str
    fee_cents: int
    hit: int | None
    id: int
    kind: Literal["reserve", "release", "spend", "refund"]
    reason: str


class NewInvitation(Model):
    """The link, which no later answer has; where it was sent by mail, only its recipient has it."""

    link: str | None
    sent: bool


class NoticeMail(Model):
    """Which notices of a project the token's person gets by e-mail."""

    post: Literal["all", "pressing", "none"]


class NoticeMailChanges(Model):
    """What comes by e-mail from now on."""

    post: Literal["all", "pressing", "none"]


class NoticeOut(Model):
    """Something that needs a person. It is over when it is no longer so; nothing has to be dismissed."""

    address: str
    id: int
    kind: str
    level: Literal["news", "warning", "alarm"]
    over_at: datetime | None
    project: str | None
    raised_at: datetime
    read: bool
    sentence: str


class NoticesRead(Model):
    """How many were unread until now, and how many are left."""

    marked: int
    unread: int


class NoticesToRead(Model):
    """Which notices were read; left out: all that are open."""

    notices: list[int] | None = None


class OpeningTerms(Model):
    """Where money is real: the stage's budget, as a person confirmed it."""

    confirm_budget_cents: int | None = None


class OperationOut(Model):
    """One call that changes something at a marketplace, from plan to certainty."""

    amount_cents: int
    assignment: int | None
    attempts: int
    currency: str
    error_code: str
    error_text: str
    fee_cents: int
    finished_at: datetime | None
    hit: int | None
    id: str
    kind: Literal[
        "publish",
        "extend",
        "deadline",
        "close",
        "archive",
        "approve",
        "reject",
        "unreject",
        "bonus",
        "group",
        "grant",
        "message",
        "study",
        "places",
        "move",
        "return",
        "partial",
    ]
    needs_person: bool
    planned_at: datetime
    stage: str | None
    state: Literal["planned", "claimed", "sent", "confirmed", "refused", "unknown"]
    target: str


class OperationRef(Model):
    """A call that is planned; it is sent in the next round at the marketplace."""

    amount_cents: int
    currency: str
    fee_cents: int
    kind: str
    operation: str
    state: str


class OwnTextIn(Model):
    """A new version of the terms or of the text about privacy."""

    body: str
    kind: Literal["terms", "privacy"]


class OwnTextOut(Model):
    """A version of a text that everyone can read, such as below the consent of a study."""

    body: str
    id: int
    in_force: bool
    kind: Literal["terms", "privacy"]
    made_at: datetime
    made_by: str | None
    version: int


class PaceOut(Model):
    """Submissions per hour, and when what is missing would be in at that pace."""

    latest: datetime | None
    likely: datetime
    per_hour: float
    soonest: datetime


class PaidPart(Model):
    """What the panel's own pages say was paid."""

    cents: int


class PanelReading(Model):
    """How reading went."""

    words: str


class PanelStudyOut(Model):
    """The study of a stage at a panel; the ETag is for changing its terms."""

    balance_cents: int | None
    endpoint: str
    external_id: str
    pays_in_part: bool
    places: int
    read_at: datetime | None
    screen_out_cents: int
    screen_out_left: int
    screen_out_slots: int
    state: Literal["asked", "open", "paused", "stopped"] | None
    submissions: dict[str, int]
    unanswered: int
    unread_messages: int
    wanted_places: int


class PanelStudyTerms(Model):
    """What the study pays beside whole rewards, set before it is at the panel. What is left out stays."""

    pays_in_part: bool | None = None
    screen_out_cents: int | None = None
    screen_out_slots: int | None = None


class PartOfReward(Model):
    """A share of the reward, which ends the submission."""

    note: str = ""
    percent: int


class ParticipantLetterOutcome(Model):
    """How many participants a message goes to, and which of those named did not come to the study."""

    operations: list[OperationRef]
    unknown: list[str]
    written_to: int | None


class ParticipantMessage(Model):
    """What a participant wrote."""

    body: str
    category: str
    id: int
    participant: str
    read_at: datetime | None
    sent_at: datetime


class PassageOut(Model):
    """A candidate passage of a query."""

    folded: bool
    key: str
    origin: str
    position: int | None
    rank: int
    score: float | None
    text: str
    title: str
    url: str


class PayOut(Model):
    """What an hour of the work really pays."""

    assignments: int
    below_floor: bool
    cents_per_hour: int | None
    floor_cents: int
    median_seconds: float | None
    simulated: bool


class PinnedModel(Model):
    """A model of learned metrics: its name in METRIC_MODELS, and its digest when it was chosen."""

    digest: str
    kind: str
    name: str


class ProgressOut(Model):
    """Counts, pay, alarms and money of a stage."""

    alarms: list[AlarmOut]
    answered: int
    answers_missing: int
    assignments: dict[str, int]
    counted_at: datetime | None
    currency: str
    done: bool
    expired_places: int
    fees_cents: int
    held: int
    hits: dict[str, int]
    open_places: int
    pace: PaceOut | None
    pay: PayOut
    places: int
    rewards_cents: int
    simulated: int
    status: str
    units_missing: int
    waiting_decisions: int
    waiting_operations: int


class ProjectChanges(Model):
    """Fields to change; what is left out stays."""

    budget_cents: int | None = None
    language: str | None = None
    licence: str | None = None
    title: str | None = None
    wage_floor_cents: int | None = None


class ProjectIn(Model):
    """A new project; the token's person owns it."""

    budget_cents: int = 0
    language: str = "en"
    licence: str = ""
    slug: str
    title: str
    wage_floor_cents: int = 1000


class ProjectOut(Model):
    """One campaign."""

    budget_cents: int
    closed_at: datetime | None
    created_at: datetime
    currency: str | None
    language: str
    licence: str
    read_only: bool
    reserved_cents: int
    role: str
    slug: str
    spent_cents: int
    title: str
    wage_floor_cents: int


class ProjectReason(Model):
    """Why, for the log of events."""

    why: str = ""


class ProjectStatus(Model):
    """How the stages of a project are doing; of large ones some seconds ago."""

    project: str
    stages: list[StageProgress]


class Publication(Model):
    """How many HITs are being published."""

    hits: int


class PublicationTotal(Model):
    """The total, as a person confirmed it."""

    confirm_total_cents: int


class QueryDecisions(Model):
    """A decision by hand about up to 200 queries."""

    decision: Literal["accept", "exclude", "take_back"]
    ids: list[int]
    reason: str


class QueryDetails(Model):
    """A query with its passages and its way."""

    answers: int
    by_hand: bool
    context: list[dict[str, Any]]
    conversation: str
    count: int
    id: int
    key: str
    line: int | None
    passages: list[PassageOut]
    references: list[Any]
    screening_votes: int
    selections: int
    source: str
    status: str
    status_reason: str
    steps: list[StepOut]
    stratum: str
    text: str
    turn: int | None
    type: str
    weight: float
    yes_no: bool


class QueryImportIn(Model):
    """How a file becomes queries."""

    columns: dict[str, str] | None = None
    design: DesignIn | None = None
    encoding: str = ""
    format: str = "auto"
    header: bool | None = None
    header_row: int = 0
    longest: int = 300
    sheet: str = ""
    shortest: int = 2
    start_at: Literal["screening", "curation", "distillation"] = "screening"
    strict: bool = False
    upload: str
    without: list[str] | None = None


class QueryImportLook(Model):
    """The beginning of a file as it would be read."""

    columns: list[str]
    description: str
    encoding: str
    faults: int
    format: str
    hints: list[str]
    mapping: dict[str, str]
    read: int
    records: list[dict[str, Any]]
    refusals: list[Refusal]
    sheets: list[str]
    whole: bool


class QueryImportOut(Model):
    """A finished import with the report about its lines."""

    created_at: datetime
    format: str
    id: int
    name: str
    report: dict[str, Any]
    sha256: str
    state: str


class QueryOut(Model):
    """A query, and how much people have said about it so far."""

    answers: int
    by_hand: bool
    context: list[dict[str, Any]]
    conversation: str
    count: int
    id: int
    key: str
    line: int | None
    references: list[Any]
    screening_votes: int
    selections: int
    source: str
    status: str
    status_reason: str
    stratum: str
    text: str
    turn: int | None
    type: str
    weight: float
    yes_no: bool


class QueueOut(Model):
    """One kind of decision that waits for a person."""

    count: int
    label: str
    name: str
    pressing: bool
    what: str


class QuoteOut(Model):
    """What publishing everything that is missing would cost."""

    affordable: bool
    assignments: int
    budget_left_cents: int
    cautions: list[str]
    confirm_budget_cents: int | None
    currency: str
    fee_cents: int
    hits: int
    left_out: dict[str, int]
    reward_cents: int
    screen_out_cents: int
    top_up_cents: int
    total_cents: int
    units: int
    work_seconds: int | None


class ReadCount(Model):
    """How many were unread until now."""

    marked: int


class Readiness(Model):
    """An index or a network."""

    note: str
    state: str


class Reason(Model):
    """Why, for the log of events."""

    why: str = ""


class ReasonForLog(Model):
    """A reason for the log of events."""

    reason: str


class ReasonForWorker(Model):
    """A reason that the worker reads."""

    reason: str


class ReasonIn(Model):
    """Why."""

    reason: str


class RecallOut(Model):
    """Which share of the passages that editors would choose is above the cut, from those drawn below it."""

    above: int
    below: int
    high: float | None
    low: float | None
    missed: float
    queries: int
    recall: float | None
    sentence: str


class RecipeIn(Model):
    """A recipe, such as default, kpqa-2021, adem-2017 or none, with parameters of its rules."""

    parameters: dict[str, Any] | None = None
    recipe: str = "default"


class Refusal(Model):
    """A line that would be refused."""

    line: int
    reason: str


class RefusedAnswer(Model):
    """An answer that stays as it was, and why."""

    id: int
    why: str


class RefusedQuery(Model):
    """A query that could not be decided about, and why."""

    text: str
    why: str


class Rejection(Model):
    """A reason that the worker reads."""

    reason: str


class ReleaseDetails(Model):
    """A release with its files and what it holds."""

    built_at: datetime | None
    bytes: int
    created_at: datetime
    created_by: str | None
    digest: str
    error: str
    files: list[ReleaseFileOut]
    imported: bool
    job: int | None
    notes: str
    options: dict[str, Any]
    public: bool
    simulated: bool
    state: str
    tables: list[dict[str, Any]]
    version: str
    withdrawn_at: datetime | None
    withdrawn_reason: str


class ReleaseFileOut(Model):
    """One file."""

    bytes: int | None
    format: str
    path: str
    rows: int | None
    sha256: str


class ReleaseIn(Model):
    """What goes in and how; what is left out has its default."""

    answers: dict[str, str] | None = None
    formats: list[str] | None = None
    include: list[str] | None = None
    notes: str = ""
    seed: int = 0
    shares: list[Any] | None = None
    version: str = ""


class ReleaseOut(Model):
    """One version of the data set; once it is ready it never changes."""

    built_at: datetime | None
    bytes: int
    created_at: datetime
    created_by: str | None
    digest: str
    error: str
    imported: bool
    job: int | None
    notes: str
    public: bool
    simulated: bool
    state: str
    version: str
    withdrawn_at: datetime | None
    withdrawn_reason: str


class RequesterLinkIn(Model):
    """A new link of a requester; `granted` is the id of a qualification type."""

    code_word: str = ""
    compensation: Literal["nothing", "credit", "panel", "money"] = "nothing"
    expires_at: datetime | None = None
    granted: str = ""
    granted_value: int | None = None
    id_parameters: list[str] | None = None
    id_required: bool = False
    id_source: str = ""
    kept_parameters: list[str] | None = None
    languages: list[str] | None = None
    most_per_address: int = 0
    most_tasks: int = 0
    quota: int = 100
    returns: dict[str, ReturnWay] | None = None
    returns_at_once: bool = False
    secret: str = ""
    target: str
    title: str


class RequesterMemberIn(Model):
    """What the person may do."""

    role: Literal["owner", "manager", "reviewer", "payer", "viewer"]


class RequesterMemberOut(Model):
    """A person who acts for the requester beside its owner."""

    role: Literal["owner", "manager", "reviewer", "payer", "viewer"]
    since: datetime
    username: str


class RequesterOut(Model):
    """A requester of the marketplace."""

    available_cents: int
    created_at: datetime
    held_cents: int
    name: str
    requester: str
    role: str


class Resolution(Model):
    """What became of it. `ref`: the HIT's id at the marketplace, where one was published."""

    happened: bool
    ref: str = ""
    why: str


class ReturnRequest(Model):
    """Why a participant is asked to return a submission; they read it."""

    why: str


class ReturnWay(Model):
    """How people leave: a completion code, and where their browser goes."""

    address: str = ""
    code: str = ""


class RosterAdded(Model):
    """How many are new."""

    added: int
    known: int
    repeated: int


class RosterIn(Model):
    """People to put on the list; those on it already stay as they are."""

    people: list[RosterPerson]


class RosterMail(Model):
    """Personal links for those who have none yet, or reminders for those who have finished nothing."""

    what: Literal["invitations", "reminders"]


class RosterMailPlan(Model):
    """What is being sent, by a job."""

    words: str


class RosterPerson(Model):
    """A person to put on the list."""

    email: str
    name: str = ""


class RosterPersonOut(Model):
    """A person of the list, and how far they are."""

    address: str
    done: int
    email: str
    id: int
    invited_at: datetime | None
    name: str
    reminded_at: datetime | None


class RuleFields(Model):
    """Who may work: one rule; all of a stage's rules must hold."""

    hide: Literal["discover", "preview", "accept"] = "accept"
    kind: Literal["country", "approval_rate", "approved_count", "adult", "passed", "group", "raw"]
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
    ]
    values: list[int | str] | None = None


class ScheduleIn(Model):
    """Times within a year from now; null takes one away."""

    confirm_total_cents: int = 0
    end_at: datetime | None = None
    publish_at: datetime | None = None


class ScreeningVoteOut(Model):
    """One editor's form about a query."""

    adult: bool
    answerable: bool
    assignment: int
    counts: bool
    excluded_kind: Literal["", "directions", "list", "topic"]
    intent: Literal["informational", "navigational", "transactional"]
    person: str = ""
    sensitive: bool
    simulated: bool
    stage: str
    unambiguous: bool
    worker: str


class SearchIn(Model):
    """Questions of a conversation, oldest first; the last one is answered."""

    corpora: list[str] | None = None
    options: dict[str, str | float | int | bool | None] | None = None
    questions: list[str]


class SearchOut(Model):
    """What answers the last question."""

    edges: dict[str, list[str]]
    generations: dict[str, Any]
    ids: list[str]
    nodes: dict[str, list[str]]
    notes: list[str]
    paragraphs: list[list[str]]
    parameters: dict[str, Any]
    query: dict[str, Any]
    ranker: str
    results: list[dict[str, Any]]
    top_sentences: dict[str, list[int]]


class SearchSendIn(Model):
    """A conversation whose last question becomes a query with candidate passages."""

    corpora: list[str] | None = None
    keep: int = 10
    options: dict[str, str | float | int | bool | None] | None = None
    questions: list[str]


class SelectionOut(Model):
    """One editor's choice among the candidate passages of a query."""

    answerable: bool
    assignment: int
    conflicts: list[dict[str, Any]]
    counts: bool
    highlights: list[dict[str, Any]]
    passages: list[str]
    person: str = ""
    simulated: bool
    stage: str
    worker: str


class SentQueryOut(Model):
    """The query that came of a question."""

    new: bool
    query: int
    shown: int


class SimulationIn(Model):
    """Who works."""

    mix: str = "clean"
    seed: int = 1
    workers: int = 20


class SourceAgreementOut(Model):
    """How far the people of one source of a stage agree."""

    alpha: FigureOut
    answers: int
    people: int
    shared: int
    source: str


class SourceIn(Model):
    """A source and its quota: a share, or a number of answers."""

    endpoint: str
    most_answers: int | None = None
    move_after_seconds: int | None = None
    reward_cents: int | None = None
    share: int | None = None


class SourceOpening(Model):
    """Where money is real in a running stage: its budget, as a person confirmed it."""

    confirm_budget_cents: int | None = None
    why: str = ""


class SourceOut(Model):
    """A source, how far its part is, and what it costs."""

    answers: int
    at_work: int
    below_wage_floor: bool
    cents_per_hour: int | None
    endpoint: str
    fee_cents: int
    given_to_others: int
    label: str
    most_answers: int | None
    move_after_seconds: int | None
    on_offer: int
    protocol: str
    real_money: bool
    reserved_cents: int
    reward_cents: int | None
    share: int | None
    spent_cents: int
    status: Literal["open", "paused", "closed"]
    undecided: int


class SourceReason(Model):
    """Why, for the log of events."""

    why: str = ""


class SourcesIn(Model):
    """All sources of the stage; its own endpoint is among them. An empty list: its own endpoint alone."""

    confirm_budget_cents: int | None = None
    sources: list[SourceIn]


class SpenderOut(Model):
    """A project or a person who may spend from an endpoint; one of both is null."""

    created_at: datetime
    project: str | None
    user: str | None


class StageChanges(Model):
    """Fields to change; what is left out stays. Terms under which people work already cannot change."""

    apart_from: list[str] | None = None
    approve: Literal["at-once", "by-hand"] | None = None
    auto_approve_seconds: int | None = None
    budget_cents: int | None = None
    checks_per_hit: int | None = None
    config: dict[str, Any] | None = None
    eligibility: list[RuleFields] | None = None
    endpoint: str | None = None
    expected_seconds: int | None = None
    hold_failed_checks: bool | None = None
    max_hits_per_worker: int | None = None
    open_seconds: int | None = None
    redundancy: int | None = None
    reward_cents: int | None = None
    seed: int | None = None
    task: TaskFields | None = None
    title: str | None = None
    units_per_hit: int | None = None
    work_seconds: int | None = None


class StageCheck(Model):
    """Whether it could be opened by what it says, and what to know before."""

    cautions: list[str]
    problems: list[str]
    ready: bool


class StageIn(Model):
    """A draft. Without `task`, its kind makes the texts of the marketplace's list."""

    apart_from: list[str] | None = None
    approve: Literal["at-once", "by-hand"] = "at-once"
    auto_approve_seconds: int = 259200
    budget_cents: int = 0
    checks_per_hit: int = 0
    config: dict[str, Any] | None = None
    eligibility: list[RuleFields] | None = None
    endpoint: str
    expected_seconds: int | None = None
    hold_failed_checks: bool = False
    kind: str
    max_hits_per_worker: int | None = None
    open_seconds: int = 604800
    redundancy: int
    reward_cents: int
    seed: int = 1
    slug: str
    task: TaskFields | None = None
    title: str
    units_per_hit: int = 1
    work_seconds: int = 3600


class StageOut(Model):
    """One kind of work asked of people, with its terms and money."""

    apart_from: list[str]
    approve: Literal["at-once", "by-hand"]
    auto_approve_seconds: int
    budget_cents: int
    checks_per_hit: int
    config: dict[str, Any]
    created_at: datetime
    currency: str
    eligibility: list[dict[str, Any]]
    endpoint: str
    expected_seconds: int | None
    hold_failed_checks: bool
    instructions_version: int
    kind: str
    max_hits_per_worker: int | None
    open_seconds: int
    opened_at: datetime | None
    real_money: bool
    redundancy: int
    reserved_cents: int
    reward_cents: int
    seed: int
    slug: str
    spent_cents: int
    status: Literal["draft", "open", "paused", "closed"]
    task_description: str
    task_keywords: str
    task_title: str
    title: str
    units_per_hit: int
    work_seconds: int


class StageProgress(Model):
    """How much of what a stage published is done."""

    done: int
    held: int
    kind: str
    stage: str
    status: str
    total: int
    waiting_operations: int


class StageQuote(Model):
    """What publishing a draft would cost."""

    affordable: bool
    assignments: int
    cautions: list[str]
    fee_cents: int
    hits: int
    reward_cents: int
    screen_out_cents: int
    total_cents: int
    units: int


class StageSources(Model):
    """Where the people of a stage come from; the ETag is for changing it."""

    currency: str
    items: list[SourceOut]
    own_endpoint: str


class StageWorker(Model):
    """A worker of a stage, with what was counted there."""

    compensation: CompensationRef | None = None
    done: int
    endpoint: str
    excluded: str | None
    failed_checks: int
    held: int
    id: int
    last_seen_at: datetime | None
    rejected: int
    simulated: bool
    worker: str


class StepOut(Model):
    """One step of a query's way."""

    actor: str | None
    after: str
    at: datetime
    before: str
    reason: str
    stage: str | None


class StudyChange(Model):
    """What becomes of the project, an endpoint or a stage."""

    action: Literal["add", "change", "unchanged"]
    fields: list[FieldDifference]
    name: str
    what: Literal["project", "endpoint", "stage"]


class StudyOut(Model):
    """What a file changes, or changed. It opens no stage."""

    cautions: list[StudyProblem]
    changes: list[StudyChange]
    notes: list[str]
    outcome: Literal["checked", "applied", "nothing to change"]
    project: str
    quotes: dict[str, StageQuote]


class StudyProblem(Model):
    """Something about a line of the file."""

    code: str
    field: str
    line: int
    remedy: str
    what: str


class SubmissionOut(Model):
    """One person's submission as the panel has it."""

    answered: bool
    completed_at: datetime | None
    entered_code: str
    external_id: str
    id: int
    participant: str
    return_requested: bool
    reward_cents: int | None
    started_at: datetime | None
    status: str


class SystemOut(Model):
    """Something that answers queries, with what became of its answers."""

    answers: int
    empty: int
    exact: int
    id: int
    judged: int
    judgments: int
    kind: str
    mean: float | None
    name: str
    query_out: int
    to_judge: int
    withdrawn: int


class TaskFields(Model):
    """What workers read in the marketplace's list."""

    description: str
    keywords: str = ""
    title: str


class TopUpIn(Model):
    """What the person confirmed."""

    most_cents: int


class UndoIn(Model):
    """Why filters are undone."""

    reason: str


class UnitOut(Model):
    """A unit in a HIT."""

    role: Literal["unit", "overlap", "check"]
    unit: str
    wording: str


class UploadOut(Model):
    """A file that was received, and is kept for a week."""

    bytes: int
    name: str
    sha256: str


class WebhookChanges(Model):
    """Fields to change; what is left out stays. Waiting messages go to the new address."""

    address: str | None = None
    events: list[str] | None = None
    name: str | None = None


class WebhookIn(Model):
    """A new webhook."""

    address: str = ""
    events: list[str]
    name: str
    shape: Literal["standard", "slack", "teams", "email"] = "standard"


class WebhookOut(Model):
    """A webhook: where messages go, and how delivery does."""

    address: str | None
    created_at: datetime
    created_by: str | None
    disabled_at: datetime | None
    events: list[str]
    failing_since: datetime | None
    host: str
    id: int
    messages: int
    name: str
    next_attempt_at: datetime | None
    shape: Literal["standard", "slack", "teams", "email"]
    state: Literal["active", "paused", "disabled"]
    two_secrets_until: datetime | None
    why_disabled: str


class WebhookWithSecret(Model):
    """A webhook with its new secret. No later answer has the secret."""

    address: str | None
    created_at: datetime
    created_by: str | None
    disabled_at: datetime | None
    events: list[str]
    failing_since: datetime | None
    host: str
    id: int
    messages: int
    name: str
    next_attempt_at: datetime | None
    secret: str
    shape: Literal["standard", "slack", "teams", "email"]
    state: Literal["active", "paused", "disabled"]
    two_secrets_until: datetime | None
    why_disabled: str


class WithdrawIn(Model):
    """Why a release is withdrawn. Its page shows the reason."""

    reason: str


class WorkNote(Model):
    """Something about a worker's work."""

    why: str
    worker: str


class WorkPace(Model):
    """Time and pay of one HIT: the median and the quartiles."""

    cents_per_hour: int | None
    quarter: float | None
    seconds: float | None
    three_quarters: float | None


class WorkerAccess(Model):
    """A worker, and what they are excluded from now."""

    exclusions: list[ExclusionOut]
    id: int
    worker: str


class WorkerDetails(Model):
    """With the figures of each stage, and what they are excluded from."""

    by_stage: list[WorkerInStage]
    checks_failed: int
    checks_interval: list[float] | None
    checks_shown: int
    done: int
    enough: bool
    excluded: int
    exclusions: list[ExclusionOut]
    flags: list[str]
    held: int
    id: int
    judgments: int
    kappa: float | None
    kappa_items: int
    last_seen_at: datetime | None
    pace: WorkPace
    person: str | None = None
    pseudonym: str | None
    rejected: int
    removed: int
    removed_share: float | None
    simulated: bool
    stages: int
    units: int
    worker: str


class WorkerInStage(Model):
    """The same worker in one stage."""

    checks_failed: int
    checks_shown: int
    done: int
    excluded: str | None
    flags: list[str]
    held: int
    last_seen_at: datetime | None
    pace: WorkPace
    rejected: int
    stage: str
    units: int


class WorkerLetter(Model):
    """A message to workers of the stage; `workers` left out: to all of them."""

    subject: str
    text: str
    workers: list[int] | None = None


class WorkerLetterOutcome(Model):
    """How many a message goes to, and who cannot be reached. It is sent in the marketplace's next round."""

    operations: list[OperationRef]
    unknown: list[int]
    unreachable: list[WorkNote]
    written_to: int


class WorkerOut(Model):
    """A worker over all stages of the project."""

    checks_failed: int
    checks_interval: list[float] | None
    checks_shown: int
    done: int
    enough: bool
    excluded: int
    flags: list[str]
    held: int
    id: int
    judgments: int
    kappa: float | None
    kappa_items: int
    last_seen_at: datetime | None
    pace: WorkPace
    person: str | None = None
    pseudonym: str | None
    rejected: int
    removed: int
    removed_share: float | None
    simulated: bool
    stages: int
    units: int
    worker: str
