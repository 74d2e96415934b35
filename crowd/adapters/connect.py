"""CloudResearch Connect: a client of its API, version 1, and the adapter for stages, one project each.

The contract is from third parties. The vendor's own reference could not be read: what is here follows a
public third-party client of 2024 and public scripts of 2026. Nothing was tried with Connect itself.

Amounts are decimal US dollars there and whole cents here. Calls that write carry an idempotency token: the
same token does nothing a second time. For how long tokens are remembered is not known.

There are no hooks: work is read by polling. People who are at work are possibly not listed, so an arrival
is taken on the word of its address; it takes a place for the time that the project allows, and counts for
nothing until the panel lists it.
"""

import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from core.money import dollars
from crowd.adapters import base, outcomes
from crowd.adapters.panel import PanelAdapter, SignatureError
from crowd.adapters.panel_http import Answer, Document, NotFoundError, PanelClient
from crowd.models import Endpoint, PanelSubmission
from crowd.panelmodels import COMPLETED

_V1 = "/api/v1"
_PAGE = 100
#: Header by which a repeated call is known.
REPEATABLE = "IDEMPOTENCY-TOKEN"


def cents_of(amount: Any) -> int:
    """A decimal amount in cents; raises ArithmeticError or ValueError for what is none."""
    return int((Decimal(str(amount or 0)) * 100).to_integral_value())


class ConnectClient(PanelClient):
    """Calls to one account. `url` is the host's address, without `/api/v1`."""

    def __init__(self, *, url: str, key: str) -> None:
        super().__init__(url=url, headers={"X-API-KEY": key})

    def write(self, path: str, body: Document, *, token: str, envelope_key: str = "") -> base.Outcome[str]:
        """A call that changes something, under a token; `envelope_key` names what has the reference."""
        return self.change(
            "POST",
            f"{_V1}{path}",
            body,
            ref=envelope_key or "id",
            is_made=bool(envelope_key),
            headers={REPEATABLE: token},
        )

    def _success(self, answer: Answer, ref: str, *, is_made: bool) -> base.Outcome[str]:
        """What is made may come in an envelope of its own name."""
        outcome = super()._success(answer, ref, is_made=False)
        if not isinstance(outcome, base.CallSuccess) or not is_made:
            return outcome
        envelope = outcome.raw.get("project", outcome.raw)
        named = str(envelope.get(ref) or "") if isinstance(envelope, dict) else ""
        return base.CallSuccess(named, outcome.raw) if named else base.Unknown(outcomes.SOMETHING_ELSE)

    def balance_cents(self) -> int:
        """What the account can spend."""
        try:
            return cents_of(self.read(f"{_V1}/account")["accountBalance"])
        except outcomes.GARBAGE as error:
            raise base.MarketplaceDownError(outcomes.describe_garbage(error)) from error

    def projects(self) -> Iterator[Document]:
        """All projects of the account."""
        return self._all("/project", "projects")

    def project(self, project: str) -> Document:
        """One project, from the envelope or without it."""
        document = self.read(f"{_V1}/project/{project}")
        try:
            return dict(document.get("project", document))
        except outcomes.GARBAGE as error:
            raise base.MarketplaceDownError(outcomes.describe_garbage(error)) from error

    def assignments(self, project: str) -> Iterator[Document]:
        """Everything that the project lists of people's work."""
        return self._all(f"/assignments/{project}", "assignments")

    def _all(self, path: str, name: str) -> Iterator[Document]:
        query: dict[str, Any] = {"Size": _PAGE}
        while True:
            page = self.read(f"{_V1}{path}", **query)
            try:
                yield from page[name]
                following = page.get("nextToken")
            except outcomes.GARBAGE as error:
                raise base.MarketplaceDownError(outcomes.describe_garbage(error)) from error
            if not following:
                return
            query["NextToken"] = following

    def create_project(self, document: Document, *, token: str) -> base.Outcome[str]:
        """A draft; the reference is its projectId."""
        return self.write("/project", document, token=token, envelope_key="projectId")

    def change_project(self, project: str, changes: Document, *, token: str) -> base.Outcome[str]:
        """Change a project; once live, only a few things, and participants only rise."""
        return self.write(f"/project/{project}", changes, token=token)

    def move_project(self, project: str, status: str, *, token: str) -> base.Outcome[str]:
        """Live, Paused, Closed."""
        return self.write(f"/project/{project}/update-status", {"status": status}, token=token)

    def decide(
        self, project: str, action: str, assignments: Sequence[str], message: str, *, token: str
    ) -> base.Outcome[str]:
        """`approve`, `reject` or `reverse-reject` of assignments."""
        people = [{"id": each, "message": message} for each in assignments]
        return self.write(f"/assignments/{project}/{action}", {"participants": people}, token=token)

    def pay_bonus(
        self, project: str, assignment: str, cents: int, message: str, *, token: str
    ) -> base.Outcome[str]:
        """A bonus; all or nothing where the account lacks funds."""
        line = {"id": assignment, "message": message, "amount": float(dollars(cents))}
        return self.write(f"/assignments/{project}/bonus", {"bonusPayment": [line]}, token=token)

    def send_message(
        self, project: str, participant: str, subject: str, message: str, *, token: str
    ) -> base.Outcome[str]:
        """Write to one participant."""
        body = {"projectId": project, "recipientId": participant, "subject": subject, "message": message}
        return self.write("/conversations/send-message", body, token=token)


#: The vendor's site lets nobody pay less an hour, in cents.
_LEAST_PER_HOUR = 750
_LEAST_MINUTES = 2
_ID = re.compile(r"[0-9a-f]{32}")
_TOKENS = uuid.UUID("3d2a1a86-5c55-4a0c-9d5a-6f1c1f7a2c11")
_STATUSES = {"Pending": "AWAITING REVIEW", "Approved": "APPROVED", "Rejected": "REJECTED"}
#: What a project is called after each of our moves, and from where it cannot come back.
_MOVES = {"PAUSE": "Paused", "START": "Live", "STOP": "Closed"}
_OVER = ("Closed", "Completed", "Archived")
#: After the allowed time, before a person who is not listed is taken for gone.
_GRACE = timedelta(minutes=30)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NO = "CloudResearch Connect has no call for this, as far as is publicly known."


class ConnectAdapter(PanelAdapter):
    """One account; the endpoint's secret is the API key."""

    parameters = ("participantId", "projectId", "assignmentId")
    paid_after = timedelta(days=14)

    def __init__(self, endpoint: Endpoint, key: str) -> None:
        super().__init__(endpoint)
        self._client = ConnectClient(url=endpoint.url, key=key)

    def capabilities(self) -> base.Capabilities:
        """Bonuses carry a token; groups are kept here and asked for at the door."""
        return base.Capabilities(
            idempotent=frozenset({"publish", "extend", "pay_bonus"}),
            can_shrink=False,
            can_reject=True,
            reject_min_chars=1,
            unreject_days=30,
            in_frame_submit=False,
            groups=True,
            blocks=False,
            messages=True,
            fee_tiers=False,
            currency=self._currency,
        )

    def check(self) -> base.Balance:
        """What the account can spend; nothing is said of what is locked."""
        return base.Balance(base.Money(self._client.balance_cents(), self._currency), None)

    # Projects

    def quote_fee(self, *, reward: int, places: int) -> int | None:
        """There is no calculator: the endpoint's fee profile says the share of the account."""
        return None

    def least_reward_per_hour(self) -> tuple[int, int] | None:
        """The site's least; it recommends nothing by its API."""
        return _LEAST_PER_HOUR, _LEAST_PER_HOUR

    def read_charges(self, ref: str) -> tuple[int, int] | None:
        """No call tells what was charged."""
        return None

    def open_study(self, study: base.StudySpec) -> base.Outcome[str]:
        """Look for the project, make it where it is not there, and set it live where it is a draft."""
        try:
            return self._open(study)
        except outcomes.READ_FAILURES as error:
            return outcomes.outcome_of_failure(error)

    def _open(self, study: base.StudySpec) -> base.Outcome[str]:
        project = next(
            (each for each in self._client.projects() if each.get("internalName") == study.key), None
        )
        if project is None:
            creation = self._client.create_project(_document(study), token=_token(study.key, "create"))
            if not isinstance(creation, base.CallSuccess):
                return creation
            project = self._client.project(creation.ref)
        ref = str(project["projectId"])
        if project.get("status") != "Unpublished":
            return base.EarlierSuccess(ref)
        live = self._client.move_project(ref, "Live", token=_token(study.key, "live"))
        if isinstance(live, base.CallRefusal) and "balance" in live.text.lower():
            return base.CallRefusal("InsufficientFunds", live.text)
        return base.CallSuccess(ref) if isinstance(live, base.CallSuccess) else live

    def raise_places(self, ref: str, places: int) -> base.Outcome[str]:
        """Places in all; fewer than there are is no change."""
        try:
            places_before = int(self._client.project(ref)["participants"])
        except outcomes.READ_FAILURES as error:
            return outcomes.outcome_of_failure(error)
        if places_before >= places:
            return base.EarlierSuccess(ref)
        return self._client.change_project(
            ref, {"participants": places}, token=_token(ref, f"places {places}")
        )

    def raise_slots(
        self, ref: str, *, code: str, slots: int, before: int, is_first: bool
    ) -> base.Outcome[str]:
        """It pays no screen-outs, as far as is known."""
        return base.CallRefusal("NotThere", "Connect pays no screen-outs, as far as is publicly known.")

    def move_study(self, ref: str, action: str) -> base.Outcome[str]:
        """Pause, start again or stop; a live project is paused before it is closed."""
        target_status = _MOVES[action]
        try:
            status = str(self._client.project(ref)["status"])
            if status == target_status or status in _OVER:
                return base.EarlierSuccess(ref)
            if action == "STOP" and status == "Live":
                paused = self._client.move_project(ref, "Paused", token=uuid.uuid4().hex)
                if not isinstance(paused, base.CallSuccess):
                    return paused
        except outcomes.READ_FAILURES as error:
            return outcomes.outcome_of_failure(error)
        # The status says whether it is so already, and the same move may be right again later.
        moved = self._client.move_project(ref, target_status, token=uuid.uuid4().hex)
        return base.CallSuccess(ref) if isinstance(moved, base.CallSuccess) else moved

    # Work

    def iter_rows(self, ref: str) -> Iterator[base.PanelRow]:
        """All work that is listed; who came, is not listed and has no time left is gone."""
        listed_refs = set()
        for each in self._client.assignments(ref):
            row = _row(each)
            listed_refs.add(row.ref)
            yield row
        allowed = self._allowed(ref)
        over = timezone.now() - allowed - _GRACE
        missing = PanelSubmission.objects.filter(
            study__endpoint=self._pk, study__external_id=ref, status="ACTIVE", seen_at__lt=over
        ).exclude(external_id__in=listed_refs)
        for gone in missing.order_by("pk"):
            yield base.PanelRow(
                gone.external_id,
                gone.participant,
                "TIMED-OUT",
                "",
                gone.started_at,
                None,
                return_requested=False,
            )

    def _allowed(self, ref: str) -> timedelta:
        with outcomes.reading():
            project = self._client.project(ref)
            minutes = project.get("maxTimeInMinutes") or project["estimatedTimeInMinutes"]
            return timedelta(minutes=float(minutes))

    def find_row(self, ref: str, study: str) -> base.PanelRow | None:
        """One piece of work, where it is this project's; by its address alone where it is not listed yet."""
        try:
            listed_row = next(
                (row for row in map(_row, self._client.assignments(study)) if row.ref == ref), None
            )
        except NotFoundError:
            return None
        except base.MarketplaceRefusedError as error:
            raise base.MarketplaceDownError(str(error)) from error
        return listed_row

    def vouch(self, ref: str, participant: str) -> base.PanelRow | None:
        """An arrival that is not listed, on the word of its address; None for what is no id of Connect."""
        if not (_ID.fullmatch(participant) and _ID.fullmatch(ref)):
            return None
        return base.PanelRow(ref, participant, "ACTIVE", "", timezone.now(), None, return_requested=False)

    def approve(self, ref: str, note: str) -> base.Outcome[str]:
        """Approve, which pays and is final. `ref` is the project and the assignment, with a slash between."""
        return self._decide(ref, "approve", note, "Approved")

    def reject(self, ref: str, note: str) -> base.Outcome[str]:
        """Reject with words that the participant reads; pay and fee are refunded."""
        return self._decide(ref, "reject", note, "Rejected")

    def unreject(self, ref: str, note: str) -> base.Outcome[str]:
        """Take a rejection back, then approve."""
        back = self._decide(ref, "reverse-reject", note, "Pending", "Approved")
        return self.approve(ref, note) if isinstance(back, base.CallSuccess | base.EarlierSuccess) else back

    def _decide(self, ref: str, action: str, note: str, *done: str) -> base.Outcome[str]:
        project, _, assignment = ref.rpartition("/")
        outcome = self._client.decide(
            project, action, [assignment], note or "Thank you.", token=_token(ref, f"{action} {note}")
        )
        if not isinstance(outcome, base.CallRefusal):
            return (
                base.CallSuccess(assignment, outcome.raw)
                if isinstance(outcome, base.CallSuccess)
                else outcome
            )
        try:
            entry = next(
                (each for each in self._client.assignments(project) if each["assignmentId"] == assignment), {}
            )
        except (base.MarketplaceDownError, base.MarketplaceRefusedError, *outcomes.GARBAGE):
            return outcome
        return base.EarlierSuccess(assignment) if entry.get("status") in done else outcome

    def pay_bonus(
        self, submission: str, worker: str, amount: base.Money, reason: str, key: str
    ) -> base.Outcome[str]:
        """Pay something on top, under the operation's token. `submission` has its project before a slash."""
        project, _, assignment = submission.rpartition("/")
        paid = self._client.pay_bonus(project, assignment, amount.minor, reason, token=key)
        return base.CallSuccess(key) if isinstance(paid, base.CallSuccess) else paid

    def iter_bonuses(self, *, listing: str = "", submission: str = "") -> Iterator[base.BonusPaid]:
        """The sum of bonuses of a piece of work: single ones and their reasons are not listed."""
        mirror = PanelSubmission.objects.filter(study__endpoint=self._pk, external_id=submission)
        row = mirror.select_related("study").first()
        if row is None:
            return
        with outcomes.reading():
            for each in self._client.assignments(row.study.external_id):
                if each["assignmentId"] == submission and (cents := cents_of(each.get("bonus"))):
                    yield base.BonusPaid(
                        submission, row.participant, base.Money(cents, self._currency), "", _EPOCH
                    )

    # Messages

    def write_to(
        self, participants: Sequence[str], text: str, *, study: str, group: str = ""
    ) -> base.Outcome[dict[str, str]]:
        """Write to one participant; operations of this panel name one each."""
        if group or len(participants) != 1:
            return base.CallRefusal("NotSupported", "Connect takes messages to one participant at a time.")
        sent = self._client.send_message(
            study, participants[0], "About your work", text, token=_token(study, participants[0], text)
        )
        if isinstance(sent, base.CallSuccess | base.EarlierSuccess):
            return base.CallSuccess({})
        return sent

    def was_written(self, participants: Sequence[str], text: str, *, since: datetime) -> int | None:
        """Which messages were sent is not listed by any call that is publicly known."""
        return None

    def unread_letters(self) -> Sequence[base.Letter]:
        """What participants write is read on Connect's own pages."""
        return ()

    # What Connect does not have

    def ask_return(self, ref: str, why: str) -> base.Outcome[str]:
        """Not known; write to the participant."""
        return base.CallRefusal("NotSupported", f"{_NO} Write to the participant instead.")

    def pay_in_part(self, ref: str, *, code: str, percent: int, note: str) -> base.Outcome[str]:
        """Partial completes are addresses of enabled accounts, not calls."""
        return base.CallRefusal("NotSupported", _NO)

    def subscribe(self, event_types: Sequence[str], target_url: str) -> str:
        """There are no hooks."""
        raise base.MarketplaceRefusedError("Connect sends no hooks; its work is read every half minute.")

    def read_link(self, token: str, entry_url: str) -> dict[str, str]:
        """Links are not signed."""
        raise SignatureError("Connect signs no links.")

    def prepare_bonus(self, study: str, submission: str, amount: base.Money) -> base.Outcome[str]:
        """Not needed: a bonus carries a token."""
        return base.CallRefusal("NotSupported", "Bonuses of Connect need no preparation.")


def _token(*parts: str) -> str:
    """The same call has the same token, in every copy of the database."""
    return uuid.uuid5(_TOKENS, "\n".join(parts)).hex


def _document(study: base.StudySpec) -> Document:
    return {
        "name": study.title,
        "internalName": study.key,
        "summary": study.description,
        "instructions": study.description,
        "projectUrl": study.entry_url,
        "payment": study.reward.minor / 100,
        "estimatedTimeInMinutes": max(_LEAST_MINUTES, study.minutes),
        "maxTimeInMinutes": max(_LEAST_MINUTES, study.longest_minutes),
        "participants": study.places,
        "deviceRequirements": ["Desktop", "Tablet", "Mobile"],
        "completionSettings": {"projectCompletionType": "CompletionCode", "value": study.codes[COMPLETED]},
    }


def _moment(text: Any) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _row(assignment: Document) -> base.PanelRow:
    """One piece of work in the words that all panels are kept in; an unfinished one is active."""
    with outcomes.reading():
        completed = _moment(assignment.get("completionTime"))
        status = _STATUSES[str(assignment["status"])]
        return base.PanelRow(
            ref=str(assignment["assignmentId"]),
            participant=str(assignment["participantId"]),
            status="ACTIVE" if status == "AWAITING REVIEW" and completed is None else status,
            entered_code=str((assignment.get("completion") or {}).get("completionCode") or ""),
            started_at=_moment(assignment.get("startTime")),
            completed_at=completed,
            return_requested=False,
        )
