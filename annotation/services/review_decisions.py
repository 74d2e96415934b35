"""What reviewers decide about answers: append-only rows, and the answer's state by a conditional update.

Work that waits for a person is approved with the decision about the last of its answers, whatever it is:
excluding an answer is no rejection. The other way round, approving the whole work approves its undecided
answers that have no flag. `seen` is the state that the reviewer's page showed; where somebody else decided
in the meantime, nothing changes.
"""

from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.models import Answer, AnswerFlag, AnswerReview, Query
from annotation.services import query_answers
from annotation.services.query_answers import bring_up_to_date, compute_flags
from annotation.services.reviewed_work import approve_reviewed_work
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Assignment, Stage
from crowd.services.review import message_workers, reject

State, Action = Answer.State, AnswerReview.Action
_LONGEST_REASON = 300
#: From which states an action is possible, and where it leads.
_WAYS: dict[str, tuple[frozenset[str], str]] = {
    Action.APPROVE: (frozenset({State.UNDECIDED, State.REWRITE}), State.APPROVED),
    Action.REWRITE: (frozenset({State.UNDECIDED, State.APPROVED, State.REWRITE}), State.REWRITE),
    Action.EXCLUDE: (frozenset({State.UNDECIDED, State.APPROVED, State.REWRITE}), State.EXCLUDED),
    Action.REOPEN: (frozenset({State.APPROVED, State.REWRITE, State.EXCLUDED}), State.UNDECIDED),
}


class ReviewError(CrowdError):
    """A decision that cannot be made, in words."""


def possible(state: str) -> list[str]:
    """What can be done with an answer in this state."""
    return [action for action, (states, _) in _WAYS.items() if state in states]


@transaction.atomic
def approve(*, answer: Answer, actor: Any, seen: str) -> AnswerReview:
    """The answer is good as it is."""
    made = _decide(answer, Action.APPROVE, actor, seen)
    approve_reviewed_work(answer.stage, [answer.assignment_id])
    return made


@transaction.atomic
def ask_rewrite(*, answer: Answer, actor: Any, seen: str, reason: str) -> AnswerReview:
    """Ask its author to write it again, by a message with a link; until then the answer counts."""
    made = _decide(answer, Action.REWRITE, actor, seen, reason)
    message_workers(
        stage=answer.stage,
        workers=[answer.worker],
        subject=f"Please write one answer again: {answer.stage.task_title}"[:200],
        text=_letter(answer, made),
        actor=actor,
    )
    _record(answer, "answer.rewrite_asked", actor, made.reason)
    approve_reviewed_work(answer.stage, [answer.assignment_id])
    return made


@transaction.atomic
def exclude(*, answer: Answer, actor: Any, seen: str, reason: str, reject_work: bool = False) -> AnswerReview:
    """The answer no longer counts; where its query was complete, it needs one more and is topped up.

    With `reject_work` its work is rejected for the same reason, which its author reads: it is not paid, and
    nothing else in it counts. Raises CrowdError where it cannot be rejected any more.
    """
    made = _decide(answer, Action.EXCLUDE, actor, seen, reason)
    bring_up_to_date(
        answer.stage, [answer.query_id], why=f"an answer was excluded, {made.reason}", actor=actor
    )
    _record(answer, "answer.excluded", actor, made.reason)
    if reject_work:
        reject(assignment=answer.assignment, actor=actor, reason=made.reason)
    approve_reviewed_work(answer.stage, [answer.assignment_id])
    return made


@transaction.atomic
def reopen(*, answer: Answer, actor: Any, seen: str) -> AnswerReview:
    """Take a decision back; an excluded answer counts again."""
    made = _decide(answer, Action.REOPEN, actor, seen)
    bring_up_to_date(answer.stage, [answer.query_id])
    return made


@transaction.atomic
def approve_unflagged(*, stage: Stage, query: Query, actor: Any) -> int:
    """Approve every undecided answer to a query that was checked and has no flag; how many that were."""
    rows = _approve_unflagged(Answer.objects.filter(stage=stage, query=query), actor)
    approve_reviewed_work(stage, set(rows.values()))
    return len(rows)


@transaction.atomic
def approve_answers_of(assignment: Assignment, actor: Any) -> int:
    """Approve the undecided answers in work that a person approved as a whole; how many that were.

    What has flags keeps a decision of its own; answers that were not checked yet are checked first.
    """
    mine = Answer.objects.filter(assignment=assignment)
    unchecked = mine.filter(state=State.UNDECIDED, checked_at=None).values_list("query", flat=True)
    if queries := set(unchecked):
        compute_flags(assignment.stage, queries)
    return len(_approve_unflagged(mine, actor, "Its whole work was approved."))


def undecided_words(assignment: Assignment) -> str:
    """What in approved work still waits for a reviewer, in a sentence; empty where nothing does."""
    count = Answer.objects.filter(assignment=assignment, state=State.UNDECIDED).count()
    if not count:
        return ""
    some, have = ("One answer in it", "has") if count == 1 else (f"{count} answers in it", "have")
    return f"{some} still {have} flags and {'waits' if count == 1 else 'wait'} in the review for a decision."


def _approve_unflagged(answers: QuerySet[Answer], actor: Any, reason: str = "") -> dict[int, int]:
    """Approve those that are undecided, checked and without flags: their assignments, by answer."""
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    unflagged = answers.filter(~Exists(flags), state=State.UNDECIDED)
    rows: dict[int, int] = dict(
        unflagged.exclude(checked_at=None)
        .select_for_update(of=("self",), no_key=True)
        .values_list("pk", "assignment")
    )
    Answer.objects.filter(pk__in=rows).update(state=State.APPROVED)
    now = timezone.now()
    AnswerReview.objects.bulk_create(
        AnswerReview(answer_id=pk, actor=actor, action=Action.APPROVE, reason=reason, at=now) for pk in rows
    )
    return rows


def _decide(answer: Answer, action: str, actor: Any, seen: str, reason: str = "") -> AnswerReview:
    states, to = _WAYS[action]
    reason = " ".join(reason.split())
    if action in (Action.REWRITE, Action.EXCLUDE) and not reason:
        raise ReviewError("Say why in a few words: the worker or your colleagues read it.")
    if len(reason) > _LONGEST_REASON:
        raise ReviewError(f"The reason has {len(reason)} characters; {_LONGEST_REASON} fit.")
    if seen not in states:
        raise ReviewError(f"This answer is {_words(seen)}; that cannot be done with it.")
    if not Answer.objects.filter(pk=answer.pk, state=seen).update(state=to):
        raise ReviewError("Somebody decided about this answer in the meantime. Look at it again.")
    answer.state = to
    return AnswerReview.objects.create(
        answer=answer, actor=actor, action=action, reason=reason, at=timezone.now()
    )


def _words(state: str) -> str:
    return str(State(state).label) if state in State.values else "in no such state"


def _letter(answer: Answer, review: AnswerReview) -> str:
    read = "the dialogue" if answer.stage.kind == "continuation" else "the question, the passages"
    return (
        f"Thank you for your answer in “{answer.stage.task_title}”. "
        "What you do now changes nothing about its pay.\n\n"
        f"A reviewer asks you to write it again: {review.reason}\n\n"
        f"This page shows {read} and what you wrote. It works once, for "
        f"{query_answers.REWRITE_DAYS} days:\n{query_answers.rewrite_address(answer.pk)}\n\n"
        "You need not do this, and nothing more is paid for it."
    )


def _record(answer: Answer, action: str, actor: Any, why: str) -> None:
    record(
        project=answer.stage.project,
        action=action,
        subject=answer.query.key,
        actor=actor,
        details={"stage": answer.stage.slug, "worker": answer.worker.external_id, "why": why},
    )
