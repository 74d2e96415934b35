"""Stages at Prolific: one study each, whose participants are dealt work on our own pages.

HITs are on offer here as those of study links are; what goes to Prolific is the study with its places,
decisions on submissions, bonuses and groups. What it says of submissions is kept in `PanelSubmission` by
`crowd.services.panels`, and read from there.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from crowd.adapters import base
from crowd.adapters.outcomes import GARBAGE, READ_FAILURES, describe_garbage, outcome_of_failure, reading
from crowd.adapters.panel import PanelAdapter, UnknownKeyError, verify_arrival
from crowd.adapters.panel_http import Document, NotFoundError
from crowd.adapters.prolific_client import LEAST_REJECTION, ProlificClient
from crowd.models import Endpoint
from crowd.panelmodels import PARTIAL, SCREENED_OUT

#: Categories of a rejection; the words of one may begin with one and a colon.
CATEGORIES = (
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
)
#: The type of a code that pays a fixed sum to those who are screened out.
_FIXED_SCREEN_OUT = "FIXED_SCREENOUT"
#: What happens at Prolific to those who come back with a code, by its type.
_ACTIONS: dict[str, list[Document]] = {
    "COMPLETED": [{"action": "MANUALLY_REVIEW"}],
    "FAILED_ATTENTION_CHECK": [{"action": "MANUALLY_REVIEW"}],
    "NO_CONSENT": [{"action": "REQUEST_RETURN", "return_reason": "You did not consent to take part."}],
    "SCREENED_OUT": [{"action": "REQUEST_RETURN", "return_reason": "This study does not fit you."}],
    "OTHER": [{"action": "REQUEST_RETURN", "return_reason": "There is no task left for you."}],
}
_PAUSE_S = 30.0
#: How long the keys of secure links are kept.
_KEYS_FOR_S = 3600.0


class ProlificAdapter(PanelAdapter):
    """One workspace of an account; `access_key` of the endpoint is the workspace, its secret the token."""

    parameters = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    site = "https://app.prolific.com"

    def __init__(self, endpoint: Endpoint, token: str) -> None:
        super().__init__(endpoint)
        self._workspace, self._asks_secure_links = endpoint.access_key, endpoint.proves_arrivals
        self._client = ProlificClient(url=endpoint.url, token=token)
        self._keys: tuple[float, Document] | None = None

    def capabilities(self) -> base.Capabilities:
        """A bonus is paid at most once; the other calls only change a state."""
        return base.Capabilities(
            idempotent=frozenset({"publish", "extend"}),
            can_shrink=False,
            can_reject=True,
            reject_min_chars=LEAST_REJECTION,
            unreject_days=30,
            in_frame_submit=False,
            groups=True,
            blocks=False,
            messages=True,
            fee_tiers=False,
            currency=self._currency,
        )

    def check(self) -> base.Balance:
        """What the workspace can spend."""
        balance = self._client.balance(self._workspace)
        total, free = int(balance["total_balance"]), int(balance["available_balance"])
        return base.Balance(base.Money(free, self._currency), base.Money(total - free, self._currency))

    # Studies

    def quote_fee(self, *, reward: int, places: int) -> int | None:
        """Fee and tax on one place by the account's calculator, rounded up to a cent."""
        return -(-(self._client.total_cost(reward=reward, places=places) - reward * places) // places)

    def least_reward_per_hour(self) -> tuple[int, int] | None:
        """The least and the recommended reward an hour."""
        return self._client.least_reward_per_hour(self._workspace, self._currency)

    def read_charges(self, ref: str) -> tuple[int, int] | None:
        """What was paid for a study so far, and fee and tax on it, as the account was charged."""
        charges = self._client.cost(ref)
        with reading():
            parts = [charges["rewards"], charges["bonuses"]]
            paid = sum(int(part["rewards"]["amount"]) for part in parts)
            return paid, sum(int(part[name]["amount"]) for part in parts for name in ("fees", "tax"))

    def open_study(self, study: base.StudySpec) -> base.Outcome[str]:
        """Look for the study, make it where it is not there, and publish it where it is a draft."""
        try:
            return self._open_study(study)
        except READ_FAILURES as error:
            return outcome_of_failure(error)

    def _open_study(self, study: base.StudySpec) -> base.Outcome[str]:
        draft = self._client.find_study(study.key)
        if draft is None:
            creation = self._client.create_study(self._document(study))
            if not isinstance(creation, base.CallSuccess):
                return creation
            draft = {"id": creation.ref, "status": creation.raw.get("status", "UNPUBLISHED")}
        if draft["status"] != "UNPUBLISHED":
            return base.EarlierSuccess(str(draft["id"]))
        published = self._client.move_study(str(draft["id"]), "PUBLISH")
        if isinstance(published, base.CallRefusal) and self._lacks_funds(study):
            return base.CallRefusal("InsufficientFunds", published.text)
        return base.CallSuccess(str(draft["id"])) if isinstance(published, base.CallSuccess) else published

    def _lacks_funds(self, study: base.StudySpec) -> bool:
        cost = self._client.total_cost(reward=study.reward.minor, places=study.places)
        return self.check().available.minor < cost

    def _document(self, study: base.StudySpec) -> Document:
        return {
            "name": study.title,
            "internal_name": study.key,
            "description": study.description,
            "external_study_url": _with_placeholders(study.entry_url),
            "prolific_id_option": "url_parameters",
            "completion_codes": [_code(study, kind, code) for kind, code in study.codes.items()],
            "total_available_places": study.places,
            "estimated_completion_time": study.minutes,
            "maximum_allowed_time": study.longest_minutes,
            "reward": study.reward.minor,
            "device_compatibility": ["desktop", "tablet", "mobile"],
            "peripheral_requirements": [],
            "filters": [_filter(rule) for rule in study.eligibility],
            "metadata": study.key,
            "is_external_study_url_secure": self._asks_secure_links,
        }

    def raise_places(self, ref: str, places: int) -> base.Outcome[str]:
        """Places in all; fewer than there are is no change."""
        try:
            places_before = int(self._client.study(ref)["total_available_places"])
        except READ_FAILURES as error:
            return outcome_of_failure(error)
        if places_before >= places:
            return base.EarlierSuccess(ref)
        return self._client.change_study(ref, {"total_available_places": places})

    def raise_slots(
        self, ref: str, *, code: str, slots: int, before: int, is_first: bool
    ) -> base.Outcome[str]:
        """The one thing of a published study's codes that may change: how many screen-outs one pays.

        Whether the number there is of all screen-outs or of those that are left is not documented, so both
        are read: it is compared with how many were screened out.
        """
        try:
            _, earlier = _screen_out_of(self._client.study(ref), code)
            used = self._client.count_submissions(ref).get("SCREENED OUT", 0)
            codes, action = _screen_out_of(self._client.study(ref), code)
            number = int(action["slots"])
            if number != earlier["slots"]:
                raise base.MarketplaceDownError("A person was screened out while the number was read.")
        except READ_FAILURES as error:
            return outcome_of_failure(error)
        target = _slots_to_set(number, used, slots=slots, before=before, is_first=is_first)
        if target is None:
            return base.CallRefusal(
                "NotClear",
                f"Prolific has {number} places for paid screen-outs and {used} people who were screened out, "
                f"which does not fit the {before} there were. Set the number on its pages.",
            )
        if target == number:
            return base.EarlierSuccess(ref)
        action["slots"] = target
        return self._client.change_study(ref, {"completion_codes": codes})

    def move_study(self, ref: str, action: str) -> base.Outcome[str]:
        """Pause, start again or stop; a study that is so already is left alone."""
        moved = self._client.move_study(ref, action)
        if not isinstance(moved, base.CallRefusal):
            return moved
        try:
            status = str(self._client.study(ref)["status"])
        except (base.MarketplaceDownError, base.MarketplaceRefusedError) as error:
            return base.Unknown(str(error))
        so_already = {
            "PAUSE": ("PAUSED", "AWAITING REVIEW", "COMPLETED"),
            "START": ("ACTIVE",),
            "STOP": ("COMPLETED", "AWAITING REVIEW"),
        }
        return base.EarlierSuccess(ref) if status in so_already[action] else moved

    # Submissions

    def iter_rows(self, ref: str) -> Iterator[base.PanelRow]:
        """All submissions of a study."""
        for row in self._client.submissions(ref):
            yield _row(row)

    def find_row(self, ref: str, study: str) -> base.PanelRow | None:
        """One submission, where it is this study's."""
        try:
            submission = self._client.submission(ref)
        except NotFoundError:
            return None
        except base.MarketplaceRefusedError as error:
            raise base.MarketplaceDownError(str(error)) from error
        return _row(submission) if submission.get("study_id") == study else None

    def read_link(self, token: str, entry_url: str) -> dict[str, str]:
        """What a secure link vouches for; keys are read again once an hour, and when one is not known."""
        audiences = (entry_url, _with_placeholders(entry_url))
        if self._keys is None or self._keys[0] < time.monotonic() - _KEYS_FOR_S:
            self._keys = (time.monotonic(), self._client.signing_keys())
        try:
            return verify_arrival(token, self._keys[1], audiences=audiences)
        except UnknownKeyError:
            self._keys = (time.monotonic(), self._client.signing_keys())
            return verify_arrival(token, self._keys[1], audiences=audiences)

    def approve(self, ref: str, note: str) -> base.Outcome[str]:
        """Approve, which pays; where the person is not back yet, later."""
        return self._decide(ref, "APPROVE", "APPROVED")

    def unreject(self, ref: str, note: str) -> base.Outcome[str]:
        """Take a rejection back; the submission waits for review again and is approved."""
        back = self._decide(ref, "UNREJECT", "AWAITING REVIEW", "APPROVED")
        if isinstance(back, base.CallSuccess | base.EarlierSuccess):
            return self.approve(ref, note)
        return back

    def check_rejection(self, note: str) -> str:
        """Participants read at least a hundred characters."""
        _, reason = _category_and_words(note)
        if len(reason) >= LEAST_REJECTION:
            return ""
        return (
            f"Prolific asks for at least {LEAST_REJECTION} characters, and this has {len(reason)}. "
            "Say what was wrong with the work, so that its author understands it."
        )

    def reject(self, ref: str, note: str) -> base.Outcome[str]:
        """Reject with a category and words that the participant reads."""
        if fault := self.check_rejection(note):
            return base.CallRefusal("TooShort", fault)
        category, reason = _category_and_words(note)
        return self._decide(ref, "REJECT", "REJECTED", message=reason, rejection_category=category)

    def _decide(self, ref: str, action: str, *done: str, **more: str) -> base.Outcome[str]:
        outcome = self._client.move_submission(ref, action, **more)
        if not isinstance(outcome, base.CallRefusal):
            return base.CallSuccess(ref, outcome.raw) if isinstance(outcome, base.CallSuccess) else outcome
        try:
            status = str(self._client.submission(ref)["status"])
        except (base.MarketplaceDownError, base.MarketplaceRefusedError, *GARBAGE):
            return outcome
        if status in done:
            return base.EarlierSuccess(ref)
        if action == "APPROVE" and status in ("ACTIVE", "RESERVED", "PROCESSING", "UNKNOWN"):
            return base.CallThrottling(_PAUSE_S)
        return outcome

    def ask_return(self, ref: str, why: str) -> base.Outcome[str]:
        """Ask a participant to return a submission, in a message with the reason."""
        outcome = self._client.request_return(ref, [why])
        return base.CallSuccess(ref) if isinstance(outcome, base.CallSuccess) else outcome

    def pay_in_part(self, ref: str, *, code: str, percent: int, note: str) -> base.Outcome[str]:
        """Complete a submission for the participant with the code that pays a share of the reward."""
        data: Document = {"percentage_of_reward": percent}
        if note:
            data["message_to_participant"] = note
        outcome = self._client.move_submission(
            ref, "COMPLETE", completion_code=code, completion_code_data=data
        )
        if not isinstance(outcome, base.CallRefusal):
            return base.CallSuccess(ref, outcome.raw) if isinstance(outcome, base.CallSuccess) else outcome
        try:
            submission = self._client.submission(ref)
        except (base.MarketplaceDownError, base.MarketplaceRefusedError, *GARBAGE):
            return outcome
        return base.EarlierSuccess(ref) if submission.get("status") == "PARTIALLY APPROVED" else outcome

    # Messages

    def write_to(
        self, participants: Sequence[str], text: str, *, study: str, group: str = ""
    ) -> base.Outcome[dict[str, str]]:
        """Write to one participant, to several or to a group; none of the three may be repeated."""
        if group:
            sent = self._client.write_to_group(group, text, study)
        elif len(participants) == 1:
            sent = self._client.send_message(participants[0], text, study)
        else:
            sent = self._client.send_messages(participants, text, study)
        if isinstance(sent, base.CallSuccess | base.EarlierSuccess):
            return base.CallSuccess({})
        return sent

    def was_written(self, participants: Sequence[str], text: str, *, since: datetime) -> int | None:
        """Count those among whose messages is one of ours with this text."""
        return sum(
            any(
                each["body"] == text and each["sender_id"] != participant
                for each in self._client.messages_with(participant, since)
            )
            for participant in participants
        )

    def unread_letters(self) -> Sequence[base.Letter]:
        """What participants wrote and Prolific counts as unread."""
        with reading():
            return [
                base.Letter(
                    ref=str(each["id"]),
                    participant=str(each["sender_id"]),
                    study=str((each.get("data") or {}).get("study_id") or ""),
                    category=str((each.get("data") or {}).get("category") or ""),
                    body=str(each["body"]),
                    sent_at=_time(each, "sent_at") or _EPOCH,
                )
                for each in self._client.unread_messages()
            ]

    def subscribe(self, event_types: Sequence[str], target_url: str) -> str:
        """Subscribe to events that are not subscribed to yet; the workspace's secret."""
        secret = self._client.hook_secret(self._workspace)
        rows = self._client.subscriptions(self._workspace)
        subscribed = {
            row["event_type"] for row in rows if row["target_url"] == target_url and row["is_enabled"]
        }
        for event_type in event_types:
            if event_type not in subscribed:
                self._client.subscribe(self._workspace, event_type, target_url)
        return secret

    # Bonuses

    def prepare_bonus(self, study: str, submission: str, amount: base.Money) -> base.Outcome[str]:
        """Set one up; nothing is paid."""
        return self._client.set_up_bonuses(study, [(submission, amount.minor)])

    def pay_bonus(
        self, submission: str, worker: str, amount: base.Money, reason: str, key: str
    ) -> base.Outcome[str]:
        """Pay what was set up as `key`. Never called twice: it would pay twice."""
        paid = self._client.pay_bonuses(key)
        return base.CallSuccess(key) if isinstance(paid, base.CallSuccess) else paid

    def iter_bonuses(self, *, listing: str = "", submission: str = "") -> Iterator[base.BonusPaid]:
        """Bonuses of a submission, in amounts; Prolific tells neither their reasons nor when."""
        if not submission:
            return
        document = self._client.submission(submission)
        for minor in document.get("bonus_payments") or ():
            yield base.BonusPaid(
                submission,
                str(document["participant"]),
                base.Money(int(minor), self._currency),
                "",
                _time(document) or _EPOCH,
            )

    # Groups

    def ensure_group(self, name: str, description: str) -> base.Outcome[str]:
        """A participant group, found by its name or made."""
        try:
            group = self._client.find_group(self._workspace, name)
        except READ_FAILURES as error:
            return outcome_of_failure(error)
        return (
            base.EarlierSuccess(group)
            if group
            else self._client.create_group(self._workspace, name, description)
        )

    def grant(self, group: str, worker: str, value: int = 1) -> base.Outcome[str]:
        """Put a participant into a group."""
        added = self._client.add_to_group(group, [worker])
        return base.CallSuccess(group) if isinstance(added, base.CallSuccess) else added

    def revoke(self, group: str, worker: str) -> base.Outcome[str]:
        """Take a participant out of a group."""
        return self._client.remove_from_group(group, [worker])


def _screen_out_of(study: Document, code: str) -> tuple[list[Document], Document]:
    """All codes of a study, and the action of this one that pays a screen-out; KeyError without one."""
    codes: list[Document] = study["completion_codes"]
    for each in codes:
        for action in each["actions"]:
            if each["code"] == code and action["action"] == "FIXED_SCREEN_OUT_PAYMENT":
                return codes, action
    raise KeyError("FIXED_SCREEN_OUT_PAYMENT")


def _slots_to_set(current: int, used: int, *, slots: int, before: int, is_first: bool) -> int | None:
    """What the panel's number has to be, by either reading of it; None where the readings contradict."""
    candidates = set()
    for reading_of in (0, used):  # all screen-outs, or those that are left
        if current + reading_of == before:
            candidates.add(slots - reading_of)
        elif current + reading_of == slots:
            candidates.add(current)
    if is_first and current + used == slots and current == before:
        return slots  # nothing was sent yet, so that the number is of all
    return candidates.pop() if len(candidates) == 1 else None


def _code(study: base.StudySpec, kind: str, code: str) -> Document:
    """A completion code: who uses it, and what happens then."""
    actor, actions = "participant", _ACTIONS.get(kind, [])
    if kind == PARTIAL:
        actor, actions = "researcher", [{"action": "DYNAMIC_PAYMENT"}]
    elif kind == SCREENED_OUT and study.screen_out is not None:
        kind = _FIXED_SCREEN_OUT
        actions = [
            {
                "action": "FIXED_SCREEN_OUT_PAYMENT",
                "fixed_screen_out_reward": study.screen_out.minor,
                "slots": study.screen_out_slots,
            }
        ]
    return {"code": code, "code_type": kind, "actor": actor, "actions": actions}


def _with_placeholders(entry_url: str) -> str:
    return (
        f"{entry_url}?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}"
        "&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _time(document: Any, field: str = "completed_at") -> datetime | None:
    text = document.get(field)
    return datetime.fromisoformat(str(text).replace("Z", "+00:00")) if text else None


def _row(submission: Document) -> base.PanelRow:
    """Both forms of a submission: lists and details name the same things differently."""
    try:
        return base.PanelRow(
            ref=str(submission["id"]),
            participant=str(submission.get("participant_id") or submission["participant"]),
            status=str(submission["status"]),
            entered_code=str(submission.get("study_code") or submission.get("entered_code") or ""),
            started_at=_time(submission, "started_at"),
            completed_at=_time(submission),
            return_requested=bool(submission.get("return_requested")),
            reward=round(float(submission["reward"])) if submission.get("reward") is not None else None,
        )
    except GARBAGE as error:
        raise base.MarketplaceDownError(describe_garbage(error)) from error


def _filter(rule: base.Rule) -> Document:
    """A rule as a filter: our groups by their ids, others by the id of a filter and its choices."""
    if rule.kind == "group":
        name = "participant_group_allowlist" if rule.op == "Exists" else "participant_group_blocklist"
        return {"filter_id": name, "selected_values": [str(value) for value in rule.values]}
    return {"filter_id": str(rule.values[0]), "selected_values": [str(value) for value in rule.values[1:]]}


def _category_and_words(note: str) -> tuple[str, str]:
    category, _, reason = note.partition(":")
    return (category.strip(), reason.strip()) if category.strip() in CATEGORIES else ("OTHER", note.strip())
