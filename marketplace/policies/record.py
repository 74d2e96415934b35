"""Review policies: their parameters, the answers they compare, and a record of what they do."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from defusedxml import ElementTree as SafeTree
from django.db import transaction

from marketplace.errors import Refusal, invalid_value
from marketplace.models import HIT, Holding, PolicyAction, PolicyResult
from marketplace.questions import ANSWERS
from marketplace.services.holds import add_places_locked, lengthen_locked
from marketplace.services.review import approve_locked, is_feedback, reject_locked

# Reading the parameters of a review policy, as CreateHIT carries them.

# Workers' answers as policies compare them: sets of values, without white space around them.

Values = frozenset[str]
#: A field of a form that was filled in several times, as check boxes are, holds its values joined by this.
JOINT = "|"
_NAMESPACE = f"{{{ANSWERS}}}"


def values_of(texts: Iterable[str]) -> Values:
    """The values that are not empty, each without white space around it."""
    return frozenset(text.strip() for text in texts if text.strip())


def read(xml: str) -> dict[str, Values]:
    """Values by question of QuestionFormAnswers."""
    found: dict[str, Values] = {}
    for answer in SafeTree.fromstring(xml).iter(f"{_NAMESPACE}Answer"):
        question = answer.findtext(f"{_NAMESPACE}QuestionIdentifier", "").strip()
        texts = [
            element.text or ""
            for name in ("FreeText", "SelectionIdentifier", "OtherSelectionText")
            for element in answer.findall(f"{_NAMESPACE}{name}")
        ]
        found[question] = values_of(texts)
    return found


def separated(values: Values) -> Values:
    """The values of a field that was filled in several times, one by one."""
    return values_of(part for value in values for part in value.split(JOINT))


def matches(answer: Values, key: Values) -> bool:
    """Whether an answer is exactly the key: the same values, letter by letter, none more and none less."""
    return (separated(answer) if len(key) > 1 else answer) == key


def right(answers: Mapping[str, Values], keys: Mapping[str, Values]) -> dict[str, bool]:
    """By question of the key, whether it was answered right; a question left out is an empty answer."""
    return {question: matches(answers.get(question, frozenset()), key) for question, key in keys.items()}


_YEAR = 31_536_000
_MAX_QUESTION = 255
#: A question of 65,535 bytes has no room for more fields; each costs a row per submission.
_MAX_QUESTIONS = 1000


@dataclass(frozen=True, slots=True)
class Extension:
    """One place more below a score, up to `most` places in all, with at least `seconds` left to take it."""

    below: int
    most: int
    seconds: int


class Parameters:
    """The parameters of one policy by name; each is taken once, and what is left over is refused."""

    def __init__(self, member: str, policy: Mapping[str, Any]) -> None:
        self._member = member
        self._given: dict[str, Mapping[str, Any]] = {}
        for parameter in policy.get("Parameters", ()):
            name = parameter.get("Key", "")
            if name in self._given:
                raise self.refusal(f"{name!r} is given twice.")
            self._given[name] = parameter

    def refusal(self, why: str) -> Refusal:
        """What is wrong with the policy, as a refusal of the whole call."""
        return invalid_value(self._member, f"{why} Nothing was created.")

    def map(self, name: str) -> dict[str, Sequence[str]]:
        """A required parameter of MapEntries: values by key."""
        entries = self._given.pop(name, {}).get("MapEntries") or []
        found: dict[str, Sequence[str]] = {}
        for entry in entries:
            key = entry.get("Key", "").strip()
            if not 1 <= len(key) <= _MAX_QUESTION or key in found:
                raise self.refusal(
                    f"the MapEntries of {name} need different Keys of at most {_MAX_QUESTION} characters."
                )
            found[key] = entry.get("Values", [])
        if not 1 <= len(found) <= _MAX_QUESTIONS:
            raise self.refusal(f"it needs {name} with 1 to {_MAX_QUESTIONS} MapEntries.")
        return found

    def texts(self, name: str) -> list[str]:
        """A required list: several values, or one with commas."""
        values = self._given.pop(name, {}).get("Values") or []
        found = [part.strip() for value in values for part in value.split(",") if part.strip()]
        if not 1 <= len(found) <= _MAX_QUESTIONS or any(len(text) > _MAX_QUESTION for text in found):
            raise self.refusal(
                f"it needs {name} with 1 to {_MAX_QUESTIONS} values of at most {_MAX_QUESTION} characters."
            )
        return list(dict.fromkeys(found))

    def whole(self, name: str, least: int, most: int) -> int | None:
        """An optional whole number."""
        text = self._one(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= most):
            raise self.refusal(f"{name} is {text[:40]!r}, not a whole number from {least} to {most}.")
        return int(text)

    def flag(self, name: str) -> bool:
        """An optional T or F."""
        text = (self._one(name) or "F").lower()
        if text not in ("t", "f", "true", "false"):
            raise self.refusal(f"{name} is {text[:40]!r}; use T or F.")
        return text.startswith("t")

    def reason(self, name: str) -> str:
        """An optional sentence for workers."""
        text = self._one(name) or ""
        if not is_feedback(text):
            raise self.refusal(f"{name} has more than 1024 characters, or control characters.")
        return text

    def extension(self, name: str, *, default_most: int | None = None) -> Extension | None:
        """The three parameters of an extension, of which `name` says below which score."""
        below = self.whole(name, 0, 101)
        most = self.whole("ExtendMaximumAssignments", 2, 25 if default_most else 1_000_000) or default_most
        seconds = self.whole("ExtendMinimumTimeInSeconds", 0, _YEAR)
        if below is None:
            return None
        if most is None or (seconds is None and not default_most):
            raise self.refusal(f"{name} needs ExtendMaximumAssignments and ExtendMinimumTimeInSeconds.")
        return Extension(below, most, seconds or 0)

    def finish(self) -> None:
        """Refuse what nobody took: a misspelt parameter must not be ignored."""
        if self._given:
            raise self.refusal(f"it does not know the parameter {min(self._given)[:80]!r}.")

    def _one(self, name: str) -> str | None:
        parameter = self._given.pop(name, None)
        if parameter is None:
            return None
        values = parameter.get("Values") or []
        if len(values) != 1:
            raise self.refusal(f"{name} takes exactly one value.")
        return str(values[0]).strip()


State = Holding.State
#: What an action may have changed on the HIT before it was refused.
_CHANGED = (
    *("max_assignments", "open_places", "held_places", "reviewing", "expires_at", "expiry_watched"),
    *("submitted", "approved", "rejected"),
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a figure or an action is about: an assignment, or the HIT itself."""

    id: str
    type: str
    holding: Holding | None = None


def of_assignment(holding: Holding) -> Subject:
    """An assignment as a subject."""
    return Subject(holding.assignment_id, "Assignment", holding)


def of_hit(hit: HIT) -> Subject:
    """A HIT as a subject."""
    return Subject(hit.hit_id, "HIT")


class Scribe:
    """Acts for one run of a policy on a locked HIT and writes down what came of it.

    An action that a service refuses is undone and kept as Failed with its code; the others stand.
    """

    def __init__(self, hit: HIT, level: str, now: datetime) -> None:
        self._hit, self._level, self._now = hit, level, now
        self._actions: list[PolicyAction] = []
        self._results: list[PolicyResult] = []

    def did(self, name: str, subject: Subject, result: str, *, error_code: str = "") -> uuid.UUID:
        """Note an action; its id."""
        action = PolicyAction(
            hit=self._hit,
            level=self._level,
            action_id=uuid.uuid4(),
            name=name,
            target_id=subject.id,
            target_type=subject.type,
            status="Failed" if error_code else "Succeeded",
            at=self._now,
            result=result,
            error_code=error_code,
        )
        self._actions.append(action)
        return action.action_id

    def found(self, action: uuid.UUID, subject: Subject, key: str, value: str, question: str = "") -> None:
        """Note a figure that the action came to."""
        self._results.append(
            PolicyResult(
                hit=self._hit,
                holding=subject.holding,
                level=self._level,
                action_id=action,
                subject_id=subject.id,
                subject_type=subject.type,
                question_id=question,
                key=key,
                value=value,
                at=self._now,
            )
        )

    def approve(self, holding: Holding, reason: str) -> None:
        """Approve an assignment, and pay it from what is on hold."""

        def act() -> str:
            if holding.state == State.APPROVED:
                return "Already approved."
            approve_locked(holding=holding, hit=self._hit, at=self._now, feedback=reason)
            return "Approved."

        self._attempt("approve", of_assignment(holding), act)

    def reject(self, holding: Holding, reason: str) -> None:
        """Reject an assignment, and release what is on hold for it."""

        def act() -> str:
            if holding.state == State.REJECTED:
                return "Already rejected."
            reject_locked(holding=holding, hit=self._hit, feedback=reason, at=self._now)
            return "Rejected."

        self._attempt("reject", of_assignment(holding), act)

    def extend(self, extension: Extension) -> None:
        """One place more, unless the HIT has as many as the policy allows."""

        def act() -> str:
            if self._hit.max_assignments >= extension.most:
                return f"The HIT has {self._hit.max_assignments} assignments; nothing was added."
            lengthen_locked(self._hit, self._now + timedelta(seconds=extension.seconds), self._now)
            add_places_locked(self._hit, 1, self._now)
            return f"Extended to {self._hit.max_assignments} assignments."

        self._attempt("extend", of_hit(self._hit), act)

    def save(self) -> None:
        """Write everything noted, in the order in which it came about."""
        PolicyAction.objects.bulk_create(self._actions)
        PolicyResult.objects.bulk_create(self._results)

    def _attempt(self, name: str, subject: Subject, act: Callable[[], str]) -> None:
        try:
            with transaction.atomic():
                result = act()
        except Refusal as refusal:
            self._hit.refresh_from_db(fields=_CHANGED)
            self.did(name, subject, refusal.message, error_code=f"AWS.MechanicalTurk.{refusal.code}")
        else:
            self.did(name, subject, result)
