"""Review policies: what a requester lets the marketplace decide about submitted work.

First what both policies share: their parameters, workers' answers as they compare them, a record of what they
do. Then ScoreMyKnownAnswers, which approves, rejects or extends by the questions to which the requester knows
the answer; and SimplePlurality, which does so by what most workers answered.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from defusedxml import ElementTree as SafeTree
from django.db import transaction

from marketplace.errors import Refusal, invalid_value
from marketplace.forms.questions import ANSWERS
from marketplace.heritage.models import PolicyAction, PolicyResult
from marketplace.lifecycle.holds import add_places_locked, lengthen_locked
from marketplace.lifecycle.review import approve_locked, is_feedback, reject_locked
from marketplace.models import HIT, Holding

# Workers' answers as policies compare them: sets of values, without white space around them.

Values = frozenset[str]
#: A field of a form that was filled in several times, as check boxes are, holds its values joined by this.
JOINT = "|"
_NAMESPACE = f"{{{ANSWERS}}}"


def values_of(texts: Iterable[str]) -> Values:
    """The values that are not empty, each without white space around it."""
    return frozenset(text.strip() for text in texts if text.strip())


def read_answers(xml: str) -> dict[str, Values]:
    """Values by question of QuestionFormAnswers."""
    answers: dict[str, Values] = {}
    for answer in SafeTree.fromstring(xml).iter(f"{_NAMESPACE}Answer"):
        question = answer.findtext(f"{_NAMESPACE}QuestionIdentifier", "").strip()
        texts = [
            element.text or ""
            for name in ("FreeText", "SelectionIdentifier", "OtherSelectionText")
            for element in answer.findall(f"{_NAMESPACE}{name}")
        ]
        answers[question] = values_of(texts)
    return answers


def split_values(values: Values) -> Values:
    """The values of a field that was filled in several times, one by one."""
    return values_of(part for value in values for part in value.split(JOINT))


def matches(answer: Values, key: Values) -> bool:
    """Whether an answer is exactly the key: the same values, letter by letter, none more and none less."""
    return (split_values(answer) if len(key) > 1 else answer) == key


def check_answers(answers: Mapping[str, Values], keys: Mapping[str, Values]) -> dict[str, bool]:
    """By question of the key, whether it was answered right; a question left out is an empty answer."""
    return {question: matches(answers.get(question, frozenset()), key) for question, key in keys.items()}


# Reading the parameters of a review policy, as CreateHIT carries them.

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
        values_by_key: dict[str, Sequence[str]] = {}
        for entry in entries:
            key = entry.get("Key", "").strip()
            if not 1 <= len(key) <= _MAX_QUESTION or key in values_by_key:
                raise self.refusal(
                    f"the MapEntries of {name} need different Keys of at most {_MAX_QUESTION} characters."
                )
            values_by_key[key] = entry.get("Values", [])
        if not 1 <= len(values_by_key) <= _MAX_QUESTIONS:
            raise self.refusal(f"it needs {name} with 1 to {_MAX_QUESTIONS} MapEntries.")
        return values_by_key

    def texts(self, name: str) -> list[str]:
        """A required list: several values, or one with commas."""
        values = self._given.pop(name, {}).get("Values") or []
        parts = [part.strip() for value in values for part in value.split(",") if part.strip()]
        if not 1 <= len(parts) <= _MAX_QUESTIONS or any(len(text) > _MAX_QUESTION for text in parts):
            raise self.refusal(
                f"it needs {name} with 1 to {_MAX_QUESTIONS} values of at most {_MAX_QUESTION} characters."
            )
        return list(dict.fromkeys(parts))

    def parse_integer(self, name: str, least: int, most: int) -> int | None:
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
        below = self.parse_integer(name, 0, 101)
        most = (
            self.parse_integer("ExtendMaximumAssignments", 2, 25 if default_most else 1_000_000)
            or default_most
        )
        seconds = self.parse_integer("ExtendMinimumTimeInSeconds", 0, _YEAR)
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


# A record of what a policy did, as ListReviewPolicyResultsForHIT shows it.

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

    def add_figure(
        self, action: uuid.UUID, subject: Subject, key: str, value: str, question: str = ""
    ) -> None:
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
            # The savepoint undid what is stored; the object in memory still has what the attempt set on it.
            self._hit.refresh_from_db(fields=_CHANGED)
            self.did(name, subject, refusal.message, error_code=f"AWS.MechanicalTurk.{refusal.code}")
        else:
            self.did(name, subject, result)


# ScoreMyKnownAnswers: the questions to which the requester knows the answer.

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
ASSIGNMENT_LEVEL = "Assignment"
KNOWN_SCORE = "KnownAnswerScore"
_MOST_PLACES = 5
_TOO_FEW_RIGHT = "Too few of the questions with known answers were answered correctly."


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """The policy: answers by question, and what follows from the percentage answered right."""

    keys: Mapping[str, Values]
    approve_from: int | None
    approve_reason: str
    reject_below: int | None
    reject_reason: str
    extension: Extension | None


def parse_known_answers(policy: Mapping[str, Any]) -> KnownAnswers:
    """Read the policy; raises Refusal naming what is wrong with it."""
    parameters = Parameters("AssignmentReviewPolicy", policy)
    if policy["PolicyName"] != KNOWN_ANSWERS:
        raise parameters.refusal(f"the policy for assignments is {KNOWN_ANSWERS}.")
    known_answers = KnownAnswers(
        keys={question: values_of(values) for question, values in parameters.map("AnswerKey").items()},
        approve_from=parameters.parse_integer("ApproveIfKnownAnswerScoreIsAtLeast", 0, 101),
        approve_reason=parameters.reason("ApproveReason"),
        reject_below=parameters.parse_integer("RejectIfKnownAnswerScoreIsLessThan", 0, 101),
        reject_reason=parameters.reason("RejectReason") or _TOO_FEW_RIGHT,
        extension=parameters.extension("ExtendIfKnownAnswerScoreIsLessThan", default_most=_MOST_PLACES),
    )
    parameters.finish()
    approve_from, reject_below = known_answers.approve_from, known_answers.reject_below
    if approve_from is not None and reject_below is not None and approve_from < reject_below:
        raise parameters.refusal("some scores would be approved and rejected at once.")
    return known_answers


def check_policies(assignment_policy: Mapping[str, Any] | None, hit_policy: Mapping[str, Any] | None) -> None:
    """Raise Refusal for policies of a new HIT that cannot be followed."""
    if assignment_policy is not None:
        parse_known_answers(assignment_policy)
    if hit_policy is not None:
        parse_plurality(hit_policy)


def review_known_answers(holding: Holding, hit: HIT, now: datetime) -> None:
    """Score an assignment that has just been submitted, and do what the policy of its locked HIT says.

    The figures and actions are written in the same transaction.
    """
    if hit.assignment_review_policy is None:
        return
    policy = parse_known_answers(hit.assignment_review_policy)
    right = check_answers(read_answers(holding.answer), policy.keys)
    correct = sum(right.values())
    score = 100 * correct // len(right)
    scribe = Scribe(hit, ASSIGNMENT_LEVEL, now)
    subject = of_assignment(holding)
    action = scribe.did("review", subject, f"{correct} of {len(right)} known answers are right.")
    for question, is_right in right.items():
        scribe.add_figure(action, subject, "KnownAnswerCorrect", str(int(is_right)), question)
    scribe.add_figure(action, subject, KNOWN_SCORE, str(score))
    if policy.approve_from is not None and score >= policy.approve_from:
        scribe.approve(holding, policy.approve_reason)
    elif policy.reject_below is not None and score < policy.reject_below:
        scribe.reject(holding, policy.reject_reason)
    if policy.extension and score < policy.extension.below:
        scribe.extend(policy.extension)
    scribe.save()


# SimplePlurality: what most workers answered, and what follows for those who agree and those who do not.

PLURALITY = "SimplePlurality/2011-09-01"
HIT_LEVEL = "HIT"
#: Longer answers are not compared.
_LONGEST = 256
_AGAINST_MOST = "Your answers did not agree with those of most others."


@dataclass(frozen=True, slots=True)
class Plurality:
    """The policy: which questions are compared, whose answers count, and what follows from the scores."""

    questions: Sequence[str]
    threshold: int
    without_rejected: bool
    known_score_from: int | None
    approve_from: int | None
    reject_below: int | None
    reject_reason: str
    extension: Extension | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """By question, what was agreed upon and the percentage that said so; None where nothing was."""

    agreed: Mapping[str, tuple[Values, int] | None]

    @property
    def score(self) -> int:
        """Percentage of the questions that have an agreed answer."""
        return (
            100 * sum(agreed_answer is not None for agreed_answer in self.agreed.values()) // len(self.agreed)
        )

    def right(self, answers: Mapping[str, Values]) -> tuple[int, int]:
        """How many of the agreed questions somebody answered like most, and how many otherwise."""
        agreed = {
            question: agreed_answer[0] for question, agreed_answer in self.agreed.items() if agreed_answer
        }
        right = sum(answers.get(question, frozenset()) == answer for question, answer in agreed.items())
        return right, len(agreed) - right


def parse_plurality(policy: Mapping[str, Any]) -> Plurality:
    """Read the policy; raises Refusal naming what is wrong with it."""
    parameters = Parameters("HITReviewPolicy", policy)
    if policy["PolicyName"] != PLURALITY:
        raise parameters.refusal(f"the policy for HITs is {PLURALITY}.")
    questions = parameters.texts("QuestionIds")
    threshold = parameters.parse_integer("QuestionAgreementThreshold", 0, 100)
    if threshold is None:
        raise parameters.refusal("it needs QuestionAgreementThreshold.")
    plurality = Plurality(
        questions=questions,
        threshold=threshold,
        without_rejected=parameters.flag("DisregardAssignmentIfRejected"),
        known_score_from=parameters.parse_integer("DisregardAssignmentIfKnownAnswerScoreIsLessThan", 0, 101),
        approve_from=parameters.parse_integer("ApproveIfWorkerAgreementScoreIsAtLeast", 0, 101),
        reject_below=parameters.parse_integer("RejectIfWorkerAgreementScoreIsLessThan", 0, 101),
        reject_reason=parameters.reason("RejectReason") or _AGAINST_MOST,
        extension=parameters.extension("ExtendIfHITAgreementScoreIsLessThan"),
    )
    parameters.finish()
    approve_from, reject_below = plurality.approve_from, plurality.reject_below
    if approve_from is not None and reject_below is not None and approve_from < reject_below:
        raise parameters.refusal("some scores would be approved and rejected at once.")
    return plurality


def agreement(questions: Iterable[str], answers: Sequence[Mapping[str, Values]], threshold: int) -> Agreement:
    """What these workers agree upon: the one most common answer, if more than `threshold` percent gave it.

    What all gave is agreed upon even at a threshold of 100. An answer that is too long counts as another
    than everybody else's.

    >>> coat, hat = frozenset({"coat"}), frozenset({"hat"})
    >>> agreement(["A"], [{"A": coat}, {"A": coat}, {"A": hat}], 50).agreed
    {'A': (frozenset({'coat'}), 66)}
    """
    agreed: dict[str, tuple[Values, int] | None] = {}
    for question in questions:
        answered = [each.get(question, frozenset()) for each in answers]
        counts = Counter(answer for answer in answered if sum(map(len, answer)) <= _LONGEST)
        (top, votes), *others = counts.most_common(2) or [(frozenset[str](), 0)]
        score = 100 * votes // len(answered)
        tied = bool(others) and others[0][1] == votes
        agreed[question] = (top, score) if not tied and (score > threshold or score == 100) else None
    return Agreement(agreed)


def review_plurality(hit: HIT, now: datetime) -> None:
    """Compare the work of a locked HIT that has just become Reviewable, and do what its policy says.

    The figures and actions are written in the same transaction. Workers must be locked (`lock_people`).
    """
    if hit.hit_review_policy is None:
        return
    policy = parse_plurality(hit.hit_review_policy)
    work = _considered(hit, policy)
    scribe = Scribe(hit, HIT_LEVEL, now)
    subject = of_hit(hit)
    if not work:
        scribe.did("review", subject, "There is no work to compare.")
        scribe.save()
        return
    answers = [
        {question: split_values(values) for question, values in read_answers(holding.answer).items()}
        for holding in work
    ]
    hit_agreement = agreement(policy.questions, answers, policy.threshold)
    action = scribe.did(
        "review", subject, f"{len(work)} assignments compared; agreement {hit_agreement.score}."
    )
    for question, agreed in hit_agreement.agreed.items():
        scribe.add_figure(action, subject, "AgreedAnswerFound", "true" if agreed else "false", question)
        if agreed:
            scribe.add_figure(action, subject, "AgreedAnswer", JOINT.join(sorted(agreed[0])), question)
            scribe.add_figure(action, subject, "AnswerAgreementScore", str(agreed[1]), question)
    scribe.add_figure(action, subject, "HitAgreementScore", str(hit_agreement.score))
    for holding, each in zip(work, answers, strict=True):
        right, wrong = hit_agreement.right(each)
        if not right + wrong:
            continue
        score = 100 * right // (right + wrong)
        assignment = of_assignment(holding)
        scribe.add_figure(action, assignment, "WorkerAgreementScore", str(score))
        scribe.add_figure(action, assignment, "PluralityAnswersCorrect", str(right))
        scribe.add_figure(action, assignment, "PluralityAnswersIncorrect", str(wrong))
        if policy.approve_from is not None and score >= policy.approve_from:
            scribe.approve(holding, "")
        elif policy.reject_below is not None and score < policy.reject_below:
            scribe.reject(holding, policy.reject_reason)
    if policy.extension and hit_agreement.score < policy.extension.below:
        scribe.extend(policy.extension)
    scribe.save()


def _considered(hit: HIT, policy: Plurality) -> list[Holding]:
    """Work whose answers count, by worker: the order in which workers are locked."""
    states = set(Holding.ANSWERED) - ({State.REJECTED} if policy.without_rejected else set())
    work = list(
        Holding.objects.filter(hit=hit, state__in=states).select_related("worker").order_by("worker_id")
    )
    if policy.known_score_from is None:
        return work
    scores = dict(
        PolicyResult.objects.filter(hit=hit, level=ASSIGNMENT_LEVEL, key=KNOWN_SCORE).values_list(
            "holding_id", "value"
        )
    )
    return [holding for holding in work if int(scores.get(holding.pk, 101)) >= policy.known_score_from]
