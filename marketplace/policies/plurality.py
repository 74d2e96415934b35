"""SimplePlurality: what most workers answered, and what follows for those who agree and those who do not."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marketplace.models import HIT, Holding, PolicyResult
from marketplace.policies import known_answers, record
from marketplace.policies.record import Extension, Parameters, Values

NAME = "SimplePlurality/2011-09-01"
LEVEL = "HIT"
#: Longer answers are not compared.
_LONGEST = 256
_NO_REASON = "Your answers did not agree with those of most others."

State = Holding.State


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
        return 100 * sum(found is not None for found in self.agreed.values()) // len(self.agreed)

    def right(self, given: Mapping[str, Values]) -> tuple[int, int]:
        """How many of the agreed questions somebody answered like most, and how many otherwise."""
        agreed = {question: found[0] for question, found in self.agreed.items() if found}
        right = sum(given.get(question, frozenset()) == answer for question, answer in agreed.items())
        return right, len(agreed) - right


def parse(policy: Mapping[str, Any]) -> Plurality:
    """Read the policy; raises Refusal naming what is wrong with it."""
    given = Parameters("HITReviewPolicy", policy)
    if policy["PolicyName"] != NAME:
        raise given.refusal(f"the policy for HITs is {NAME}.")
    questions = given.texts("QuestionIds")
    threshold = given.whole("QuestionAgreementThreshold", 0, 100)
    if threshold is None:
        raise given.refusal("it needs QuestionAgreementThreshold.")
    plurality = Plurality(
        questions=questions,
        threshold=threshold,
        without_rejected=given.flag("DisregardAssignmentIfRejected"),
        known_score_from=given.whole("DisregardAssignmentIfKnownAnswerScoreIsLessThan", 0, 101),
        approve_from=given.whole("ApproveIfWorkerAgreementScoreIsAtLeast", 0, 101),
        reject_below=given.whole("RejectIfWorkerAgreementScoreIsLessThan", 0, 101),
        reject_reason=given.reason("RejectReason") or _NO_REASON,
        extension=given.extension("ExtendIfHITAgreementScoreIsLessThan"),
    )
    given.finish()
    approve_from, reject_below = plurality.approve_from, plurality.reject_below
    if approve_from is not None and reject_below is not None and approve_from < reject_below:
        raise given.refusal("some scores would be approved and rejected at once.")
    return plurality


def agreement(questions: Iterable[str], given: Sequence[Mapping[str, Values]], threshold: int) -> Agreement:
    """What these workers agree upon: the one most common answer, if more than `threshold` percent gave it.

    What all gave is agreed upon even at a threshold of 100. An answer that is too long counts as another
    than everybody else's.

    >>> coat, hat = frozenset({"coat"}), frozenset({"hat"})
    >>> agreement(["A"], [{"A": coat}, {"A": coat}, {"A": hat}], 50).agreed
    {'A': (frozenset({'coat'}), 66)}
    """
    agreed: dict[str, tuple[Values, int] | None] = {}
    for question in questions:
        answered = [each.get(question, frozenset()) for each in given]
        counts = Counter(answer for answer in answered if sum(map(len, answer)) <= _LONGEST)
        (top, votes), *others = counts.most_common(2) or [(frozenset[str](), 0)]
        score = 100 * votes // len(answered)
        tied = bool(others) and others[0][1] == votes
        agreed[question] = (top, score) if not tied and (score > threshold or score == 100) else None
    return Agreement(agreed)


def review(hit: HIT, now: datetime) -> None:
    """Compare the work of a locked HIT that has just become Reviewable, and do what its policy says.

    The figures and actions are written in the same transaction. Workers must be locked (`lock_people`).
    """
    if hit.hit_review_policy is None:
        return
    policy = parse(hit.hit_review_policy)
    work = _considered(hit, policy)
    scribe = record.Scribe(hit, LEVEL, now)
    subject = record.of_hit(hit)
    if not work:
        scribe.did("review", subject, "There is no work to compare.")
        scribe.save()
        return
    given = [
        {question: record.separated(values) for question, values in record.read(holding.answer).items()}
        for holding in work
    ]
    found = agreement(policy.questions, given, policy.threshold)
    action = scribe.did("review", subject, f"{len(work)} assignments compared; agreement {found.score}.")
    for question, agreed in found.agreed.items():
        scribe.found(action, subject, "AgreedAnswerFound", "true" if agreed else "false", question)
        if agreed:
            scribe.found(action, subject, "AgreedAnswer", record.JOINT.join(sorted(agreed[0])), question)
            scribe.found(action, subject, "AnswerAgreementScore", str(agreed[1]), question)
    scribe.found(action, subject, "HitAgreementScore", str(found.score))
    for holding, each in zip(work, given, strict=True):
        right, wrong = found.right(each)
        if not right + wrong:
            continue
        score = 100 * right // (right + wrong)
        assignment = record.of_assignment(holding)
        scribe.found(action, assignment, "WorkerAgreementScore", str(score))
        scribe.found(action, assignment, "PluralityAnswersCorrect", str(right))
        scribe.found(action, assignment, "PluralityAnswersIncorrect", str(wrong))
        if policy.approve_from is not None and score >= policy.approve_from:
            scribe.approve(holding, "")
        elif policy.reject_below is not None and score < policy.reject_below:
            scribe.reject(holding, policy.reject_reason)
    if policy.extension and found.score < policy.extension.below:
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
        PolicyResult.objects.filter(hit=hit, level=known_answers.LEVEL, key=known_answers.SCORE).values_list(
            "holding_id", "value"
        )
    )
    return [holding for holding in work if int(scores.get(holding.pk, 101)) >= policy.known_score_from]
