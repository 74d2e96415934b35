"""ScoreMyKnownAnswers: approve, reject or extend by the questions to which the requester knows the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marketplace.models import HIT, Holding
from marketplace.policies import record
from marketplace.policies.record import Extension, Parameters, Values

NAME = "ScoreMyKnownAnswers/2011-09-01"
LEVEL = "Assignment"
SCORE = "KnownAnswerScore"
_PLACES = 5
_NO_REASON = "Too few of the questions with known answers were answered correctly."


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """The policy: answers by question, and what follows from the percentage answered right."""

    keys: Mapping[str, Values]
    approve_from: int | None
    approve_reason: str
    reject_below: int | None
    reject_reason: str
    extension: Extension | None


def parse(policy: Mapping[str, Any]) -> KnownAnswers:
    """Read the policy; raises Refusal naming what is wrong with it."""
    given = Parameters("AssignmentReviewPolicy", policy)
    if policy["PolicyName"] != NAME:
        raise given.refusal(f"the policy for assignments is {NAME}.")
    known = KnownAnswers(
        keys={question: record.values_of(values) for question, values in given.map("AnswerKey").items()},
        approve_from=given.whole("ApproveIfKnownAnswerScoreIsAtLeast", 0, 101),
        approve_reason=given.reason("ApproveReason"),
        reject_below=given.whole("RejectIfKnownAnswerScoreIsLessThan", 0, 101),
        reject_reason=given.reason("RejectReason") or _NO_REASON,
        extension=given.extension("ExtendIfKnownAnswerScoreIsLessThan", default_most=_PLACES),
    )
    given.finish()
    approve_from, reject_below = known.approve_from, known.reject_below
    if approve_from is not None and reject_below is not None and approve_from < reject_below:
        raise given.refusal("some scores would be approved and rejected at once.")
    return known


def review(holding: Holding, hit: HIT, now: datetime) -> None:
    """Score an assignment that has just been submitted, and do what the policy of its locked HIT says.

    The figures and actions are written in the same transaction.
    """
    if hit.assignment_review_policy is None:
        return
    policy = parse(hit.assignment_review_policy)
    right = record.right(record.read(holding.answer), policy.keys)
    correct = sum(right.values())
    score = 100 * correct // len(right)
    scribe = record.Scribe(hit, LEVEL, now)
    subject = record.of_assignment(holding)
    action = scribe.did("review", subject, f"{correct} of {len(right)} known answers are right.")
    for question, is_right in right.items():
        scribe.found(action, subject, "KnownAnswerCorrect", str(int(is_right)), question)
    scribe.found(action, subject, SCORE, str(score))
    if policy.approve_from is not None and score >= policy.approve_from:
        scribe.approve(holding, policy.approve_reason)
    elif policy.reject_below is not None and score < policy.reject_below:
        scribe.reject(holding, policy.reject_reason)
    if policy.extension and score < policy.extension.below:
        scribe.extend(policy.extension)
    scribe.save()
