"""What reviewers decide about answers: append-only rows, and the answer's state by a conditional update.

Work that waits for a person is approved with the decision about the last of its answers, whatever it is:
excluding an answer is no rejection, so work is paid whatever was decided about its answers. Work that a
person rejects is rejected by itself, or together with the exclusion of an answer. The other way round,
approving the whole work approves its undecided answers that have no flag. `seen` is the state that the
reviewer's page showed; where somebody else decided in the meantime, nothing changes.

Who decides on a page can undo it for some seconds. What the decision planned, an approval, a rejection or a
letter, names its review and waits that long before it is sent (`hold`). Undoing takes the plan away in the
transaction that takes the decision back, and is refused where anything of it was claimed for sending: so no
one is paid or written to because of a decision that was undone, and never twice.

Answers of some people are set aside as the candidate system `human` (paper 004, round 1). They are no
references then: what people reach when they are judged like a system is the upper bound of the comparison.
Whom the draw takes depends on the seed, the query's key and the workers' names alone, so the same data give
the same people in every installation.
"""

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Answer, AnswerFlag, AnswerNote, AnswerReview, HeldOutWorker, Query
from annotation.selectors.answers import COUNTED
from annotation.services import query_answers
from annotation.services.query_answers import bring_up_to_date, compute_flags
from annotation.writing_config import distillation_config
from core.projects.models import Project
from core.projects.services import record
from crowd.errors import CrowdError
from crowd.models import Assignment, MarketOperation, Stage, Worker
from crowd.services.review import approve as approve_assignment
from crowd.services.review import message_workers, reject
from crowd.services.stages import refuse_read_only

Kind = MarketOperation.Kind
#: Operations that decide about work.
DECIDING_OPERATIONS = (Kind.APPROVE, Kind.REJECT, Kind.UNREJECT)
_OFFERING_OPERATIONS = (Kind.PUBLISH, Kind.EXTEND, Kind.PLACES, Kind.STUDY)
#: How long pages offer to undo a decision, and how long what it planned waits: some seconds are for the way.
UNDO_S = 10
HOLD = timedelta(seconds=UNDO_S + 5)
#: Key of an operation's payload that names the review by which it was planned.
_REVIEW = "review"


def reviewed_work(stage: Stage) -> QuerySet[Assignment]:
    """Submitted work of the stage that waits for a person who has decided about all its answers.

    Work about which the marketplace was asked before is not among it: what it refused a person decides again.
    """
    undecided = Answer.objects.filter(assignment=OuterRef("pk"), state=Answer.State.UNDECIDED)
    reviewed = AnswerReview.objects.filter(answer__assignment=OuterRef("pk"))
    decisions_sent = MarketOperation.objects.filter(assignment=OuterRef("pk"), kind__in=DECIDING_OPERATIONS)
    return Assignment.objects.filter(
        Q(held=True) | Q(stage__approve_at_once=False),
        Exists(reviewed),
        ~Exists(undecided),
        ~Exists(decisions_sent),
        stage=stage,
        state=Assignment.State.SUBMITTED,
    )


def approve_reviewed_work(
    stage: Stage, assignments: Collection[int] | None = None, *, hold: bool = False
) -> int:
    """Plan to approve such work, in the name of who decided last; of these assignments, or all.

    Called again, it plans nothing more. How many were approved.
    """
    rows = reviewed_work(stage)
    if assignments is not None:
        rows = rows.filter(pk__in=assignments)
    locked = rows.select_for_update(of=("self",), no_key=True).order_by("pk").values_list("pk", flat=True)
    # Looked at again behind the locks: a decision may just have been undone.
    works = list(reviewed_work(stage).filter(pk__in=list(locked)).select_related("worker", "hit"))
    reviews = _last_reviews([work.pk for work in works])
    for work in works:
        work.stage = stage
        review = reviews[work.pk]
        _name_review([approve_assignment(assignment=work, actor=review.actor, note="")], review, hold=hold)
    return len(works)


def _last_reviews(assignments: Collection[int]) -> dict[int, AnswerReview]:
    """The last decision about an answer, by assignment."""
    reviews = AnswerReview.objects.filter(answer__assignment__in=assignments).order_by("pk")
    return {each.answer.assignment_id: each for each in reviews.select_related("actor", "answer")}


def _name_review(operations: Iterable[MarketOperation], review: AnswerReview, *, hold: bool) -> None:
    """Have planned operations say which review planned them, and wait while it can be undone."""
    for operation in operations:
        operation.payload[_REVIEW] = review.pk
        if hold:
            operation.not_before = max(operation.not_before, review.at + HOLD)
        operation.save(update_fields=["payload", "not_before"])


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
def approve(*, answer: Answer, actor: Any, seen: str, hold: bool = False) -> AnswerReview:
    """The answer is good as it is."""
    review = _decide(answer, Action.APPROVE, actor, seen)
    approve_reviewed_work(answer.stage, [answer.assignment_id], hold=hold)
    return review


@transaction.atomic
def ask_rewrite(*, answer: Answer, actor: Any, seen: str, reason: str, hold: bool = False) -> AnswerReview:
    """Ask its author to write it again, by a message with a link; until then the answer counts."""
    review = _decide(answer, Action.REWRITE, actor, seen, reason)
    letters = message_workers(
        stage=answer.stage,
        workers=[answer.worker],
        subject=f"Please write one answer again: {answer.stage.task_title}"[:200],
        text=_letter(answer, review),
        actor=actor,
    )
    _name_review(letters, review, hold=hold)
    _record(answer, "answer.rewrite_asked", actor, review.reason)
    approve_reviewed_work(answer.stage, [answer.assignment_id], hold=hold)
    return review


@transaction.atomic
def exclude(
    *,
    answer: Answer,
    actor: Any,
    seen: str,
    reason: str,
    reject_work: bool = False,
    hold: bool = False,
) -> AnswerReview:
    """The answer no longer counts; where its query was complete, it needs one more and is topped up.

    With `reject_work` its work is rejected for the same reason, which its author reads: it is not paid, and
    nothing else in it counts. Raises CrowdError where it cannot be rejected any more.
    """
    review = _decide(answer, Action.EXCLUDE, actor, seen, reason)
    bring_up_to_date(
        answer.stage, [answer.query_id], why=f"an answer was excluded, {review.reason}", actor=actor
    )
    _record(answer, "answer.excluded", actor, review.reason)
    if reject_work:
        rejection = reject(assignment=answer.assignment, actor=actor, reason=review.reason)
        _name_review([rejection], review, hold=hold)
    approve_reviewed_work(answer.stage, [answer.assignment_id], hold=hold)
    return review


@transaction.atomic
def reopen(*, answer: Answer, actor: Any, seen: str) -> AnswerReview:
    """Take a decision back; an excluded answer counts again."""
    review = _decide(answer, Action.REOPEN, actor, seen)
    bring_up_to_date(answer.stage, [answer.query_id])
    return review


@transaction.atomic
def undo(*, answer: Answer, review: int, actor: Any) -> AnswerReview:
    """Take back one's own decision of a moment ago about an undecided answer, with all that it planned.

    Raises ReviewError, and nothing changes, where it is too late: another decision came, or something of it
    was sent, or a place for another answer was offered because of it.
    """
    last = AnswerReview.objects.filter(answer=answer).order_by("-pk").first()
    if last is None or last.pk != review or last.actor_id != actor.pk or last.action == Action.REOPEN:
        raise ReviewError("There is nothing to undo: something else was decided about this answer since.")
    if last.at + HOLD < timezone.now():
        raise ReviewError(f"It is too late to undo this: {UNDO_S} seconds are over.")
    _withdraw_plans(answer, last)
    undone = _decide(answer, Action.REOPEN, actor, _WAYS[last.action][1], "undone at once")
    bring_up_to_date(answer.stage, [answer.query_id])
    _record(answer, "answer.decision_undone", actor, last.get_action_display())
    return undone


def _withdraw_plans(answer: Answer, review: AnswerReview) -> None:
    """Delete what a review planned, all of which must still wait; nothing else may have followed from it.

    The rows are held, so that the dispatcher claims none of them meanwhile, and no round plans more.
    """
    Assignment.objects.select_for_update(no_key=True).get(pk=answer.assignment_id)
    mine = MarketOperation.objects.filter(
        Q(assignment=answer.assignment_id, kind__in=DECIDING_OPERATIONS)
        | Q(stage=answer.stage_id, kind=Kind.MESSAGE),
        **{f"payload__{_REVIEW}": review.pk},
    )
    planned = list(mine.select_for_update(of=("self",)))
    if any(each.state != MarketOperation.State.PLANNED or each.first_sent_at for each in planned):
        raise ReviewError("It is too late to undo this: it is on its way to the worker.")
    MarketOperation.objects.filter(pk__in=[each.pk for each in planned]).delete()
    since = MarketOperation.objects.filter(planned_at__gte=review.at)
    if since.filter(assignment=answer.assignment_id, kind__in=DECIDING_OPERATIONS).exists():
        raise ReviewError("It is too late to undo this: the work was decided about as a whole.")
    if (
        review.action == Action.EXCLUDE
        and since.filter(stage=answer.stage_id, kind__in=_OFFERING_OPERATIONS).exists()
    ):
        raise ReviewError("It is too late to undo this: another answer was asked for. Take it back instead.")


@transaction.atomic
def add_note(*, answer: Answer, author: Any, text: str) -> AnswerNote:
    """Keep a researcher's note on an answer."""
    text = " ".join(text.split())
    longest = AnswerNote._meta.get_field("text").max_length or 0
    if not text:
        raise ReviewError("Write the note first.")
    if len(text) > longest:
        raise ReviewError(f"The note has {len(text):,} characters; {longest:,} fit.")
    return AnswerNote.objects.create(answer=answer, author=author, text=text, at=timezone.now())


@transaction.atomic
def approve_unflagged(*, stage: Stage, query: Query, actor: Any, hold: bool = False) -> dict[int, int]:
    """Approve every undecided answer to a query that was checked and has no flag: reviews by answer."""
    rows = _approve_unflagged(Answer.objects.filter(stage=stage, query=query), actor)
    approve_reviewed_work(stage, set(rows.values()), hold=hold)
    reviews = AnswerReview.objects.filter(answer__in=rows).order_by("pk")
    return dict(reviews.values_list("answer", "pk"))


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
    subject, have = ("One answer in it", "has") if count == 1 else (f"{count} answers in it", "have")
    return (
        f"{subject} still {have} flags and {'waits' if count == 1 else 'wait'} in the review for a decision."
    )


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
        raise ReviewError(f"This answer is {_name_state(seen)}; that cannot be done with it.")
    if not Answer.objects.filter(pk=answer.pk, state=seen).update(state=to):
        raise ReviewError("Somebody decided about this answer in the meantime. Look at it again.")
    answer.state = to
    return AnswerReview.objects.create(
        answer=answer, actor=actor, action=action, reason=reason, at=timezone.now()
    )


def _name_state(state: str) -> str:
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


_BATCH = 500
_MOST_PEOPLE = 1000


@dataclass(frozen=True, slots=True)
class HoldoutCounts:
    """How many queries got people held out, and how many have too few answers for that."""

    queries: int
    too_few: int


def draw(*, project: Project, people: int, seed: int, actor: Any = None) -> HoldoutCounts:
    """Hold out `people` of each query that has all its answers and nobody held out yet.

    At least one answer stays a reference: a query with fewer than people + 1 is left alone and counted. What
    was drawn once never changes by another draw.
    """
    refuse_read_only(project)
    if not 1 <= people <= _MOST_PEOPLE:
        raise CrowdError(f"Hold out at least one person per query, and at most {_MOST_PEOPLE}.")
    queries = Query.objects.filter(project=project)
    done = _draw(queries.order_by("pk").values_list("pk", flat=True), people, seed)
    if done.queries:
        record(
            project=project,
            action="answers.held_out",
            actor=actor,
            details={"people": people, "seed": seed, "queries": done.queries, "too_few": done.too_few},
        )
    return done


def draw_configured(stage: Stage) -> int:
    """Hold out as many people as the stage's options say, by its seed; the number of queries drawn for."""
    people = distillation_config(stage).hold_out
    if not people:
        return 0
    mine = Answer.objects.filter(stage=stage, query=OuterRef("pk"))
    queries = Query.objects.filter(Exists(mine), project=stage.project_id)
    return _draw(queries.order_by("pk").values_list("pk", flat=True), people, stage.seed).queries


def _draw(queries: Any, people: int, seed: int) -> HoldoutCounts:
    nobody = ~Exists(_list_drawn_workers().filter(query=OuterRef("pk")))
    open_to = list(queries.filter(nobody, status=Query.Status.ANSWERED))
    drawn_count = too_few = 0
    for start in range(0, len(open_to), _BATCH):
        done = _draw_batch(open_to[start : start + _BATCH], people, seed)
        drawn_count, too_few = drawn_count + done.queries, too_few + done.too_few
    return HoldoutCounts(drawn_count, too_few)


def _list_drawn_workers() -> QuerySet[HeldOutWorker]:
    """Who is held out with an answer that could be a reference; continuations of a dialogue never could."""
    answers = Answer.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    return HeldOutWorker.objects.filter(Exists(answers.exclude(stage__kind="continuation")))


@transaction.atomic
def _draw_batch(pks: Sequence[int], people: int, seed: int) -> HoldoutCounts:
    """The queries are held meanwhile, so that two draws at once do not both draw for one."""
    locked = Query.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=pks)
    keys = dict(locked.values_list("pk", "key"))
    for pk in _list_drawn_workers().filter(query__in=keys).values_list("query", flat=True):
        keys.pop(pk, None)
    writers: dict[int, dict[tuple[str, str], int]] = defaultdict(dict)
    answers = Answer.objects.filter(COUNTED, query__in=keys).exclude(stage__kind="continuation")
    rows = answers.values_list("query", "worker__endpoint__name", "worker__external_id", "worker")
    for query, endpoint, name, worker in rows:
        writers[query][endpoint, name] = worker
    now, held_out = timezone.now(), []
    able = {pk: workers_by_name for pk, workers_by_name in writers.items() if len(workers_by_name) > people}
    for pk, workers_by_name in able.items():
        rng = random.Random(f"holdout:{seed}:{keys[pk]}")
        held_out += [
            HeldOutWorker(query_id=pk, worker_id=workers_by_name[name], seed=seed, created_at=now)
            for name in rng.sample(sorted(workers_by_name), people)
        ]
    HeldOutWorker.objects.bulk_create(held_out, batch_size=1000)
    return HoldoutCounts(len(able), len(keys) - len(able))


@transaction.atomic
def hold_out(*, query: Query, worker: Worker, actor: Any) -> HeldOutWorker:
    """A person holds somebody's answer to a query out; at least one answer stays a reference."""
    refuse_read_only(query.project)
    Query.objects.select_for_update(of=("self",), no_key=True).get(pk=query.pk)
    counted = set(Answer.objects.filter(COUNTED, query=query).values_list("worker", flat=True))
    aside = set(HeldOutWorker.objects.filter(query=query).values_list("worker", flat=True))
    if worker.pk not in counted:
        raise CrowdError("Only somebody whose answer counts can be held out.")
    if not counted - aside - {worker.pk}:
        raise CrowdError("At least one answer stays a reference.")
    row, new = HeldOutWorker.objects.get_or_create(
        query=query, worker=worker, defaults={"created_at": timezone.now()}
    )
    if new:
        _record_holdout(query, [worker], actor, "answers.held_out")
    return row


@transaction.atomic
def take_back(*, query: Query, worker: Worker, stage: Stage, actor: Any) -> None:
    """Somebody's answer is a reference again.

    Where the stage's options hold people out by themselves, the last one cannot be taken back: the next round
    would draw again.
    """
    refuse_read_only(query.project)
    Query.objects.select_for_update(of=("self",), no_key=True).get(pk=query.pk)
    others = HeldOutWorker.objects.filter(query=query).exclude(worker=worker)
    if distillation_config(stage).hold_out and not others.exists():
        raise CrowdError(
            "The stage's options hold people out of every query. Hold out somebody else first, then take "
            "this one back."
        )
    if HeldOutWorker.objects.filter(query=query, worker=worker).delete()[0]:
        _record_holdout(query, [worker], actor, "answers.taken_back")


def _record_holdout(query: Query, workers: Iterable[Worker], actor: Any, action: str) -> None:
    record(
        project=query.project,
        action=action,
        subject=query.key,
        actor=actor,
        details={"workers": [worker.external_id for worker in workers]},
    )
