"""Answers: recording them, moving on queries that have all of theirs, rewriting one that was sent back."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotation.models import Answer, Query
from annotation.selectors.answers import complete, incomplete_again
from annotation.services.flags import check
from annotation.services.steps import move, reasons_by_query
from crowd.errors import CrowdError
from crowd.models import Assignment, Stage


def record_answer(*, assignment: Assignment, query: int, response: dict[str, Any]) -> Answer:
    """Keep what a worker wrote; called in the transaction that stores the assignment's response."""
    return Answer.objects.create(
        stage=assignment.stage,
        assignment=assignment,
        worker=assignment.worker,
        query_id=query,
        text=response["text"],
        opinion=response.get("opinion", ""),
        entities=response.get("entities", []),
        created_at=assignment.stored_at or timezone.now(),
    )


#: Columns that moving a query on needs; the rows are read before the first is moved.
_NEEDED = ("pk", "status", "status_reason")


@dataclass(frozen=True, slots=True)
class AnsweringCounts:
    """How many queries got all their answers, and how many lack some again."""

    answered: int
    reopened: int


def bring_up_to_date(
    stage: Stage, queries: Collection[int] | None = None, *, why: str = "", actor: Any = None
) -> AnsweringCounts:
    """Move queries on that have all their answers, and back those whose answers no longer count.

    Called again, it changes nothing more. `queries` limits it to these, `why` says what made them lack one.
    Continuations of a dialogue are no references, so stages of that kind move no query.
    """
    if stage.kind != "distillation":
        return AnsweringCounts(0, 0)
    done, lacking = complete(stage), incomplete_again(stage)
    if queries is not None:
        done, lacking = done.filter(pk__in=queries), lacking.filter(pk__in=queries)
    answered = sum(
        move(
            query=query,
            to=Query.Status.ANSWERED,
            reason=f"It has {_answers(query.counted)}.",
            stage=stage,
            details={"answers": query.counted, "wanted": stage.redundancy},
        )
        for query in list(done.only(*_NEEDED))
    )
    reason = why or "Some of its answers no longer count."
    reopened = sum(
        move(
            query=query,
            to=Query.Status.CURATED,
            reason=f"It lacks {_answers(stage.redundancy - query.counted)}: {reason}",
            stage=stage,
            actor=actor,
            details={"answers": query.counted, "wanted": stage.redundancy},
        )
        for query in list(lacking.only(*_NEEDED))
    )
    return AnsweringCounts(answered, reopened)


@transaction.atomic
def reconsider_answers(stage: Stage, changed: Mapping[int, str]) -> None:
    """Bring queries up to date whose answers began or ceased to count: why, by assignment."""
    rows = Answer.objects.filter(stage=stage, assignment__in=changed, revises=None).order_by("pk")
    reasons = reasons_by_query(rows.values_list("query", "assignment"), changed)
    for query, why in reasons.items():
        bring_up_to_date(stage, [query], why=why)


def _answers(count: int) -> str:
    return "one answer" if count == 1 else f"{count} answers"


# An answer is written again: a row of its own takes the place of the old one, which stays.

# The signed part of a link to a rewrite: for one answer, for some days.

_SALT = "annotation.rewrites"
DAYS = 14


def write_rewrite_token(answer: int) -> str:
    """The token of an answer."""
    return signing.dumps(answer, salt=_SALT)


def rewrite_address(answer: int) -> str:
    """Where its author writes it again; whole, for a message."""
    return f"{settings.TASK_URL}{reverse('rewriting:rewrite', args=[write_rewrite_token(answer)])}"


def read_rewrite_token(token: str) -> int | None:
    """The answer of a token; None where it is not ours or too old."""
    try:
        answer = signing.loads(token, salt=_SALT, max_age=DAYS * 24 * 3600)
    except (signing.BadSignature, ValueError):
        return None
    return answer if isinstance(answer, int) else None


class NotAskedError(CrowdError):
    """Nobody waits for this rewrite: it came already, or the reviewer decided otherwise."""


def rewrite_answer(*, answer: Answer, response: dict[str, Any]) -> Answer:
    """Store what its author wrote again; once. Nothing is paid again.

    Raises NotAskedError where the answer does not wait for it.
    """
    with transaction.atomic():
        waits = Answer.objects.filter(pk=answer.pk, state=Answer.State.REWRITE)
        if not waits.update(state=Answer.State.REPLACED):
            raise NotAskedError("This answer does not wait to be written again.")
        new = Answer.objects.create(
            stage=answer.stage,
            assignment=answer.assignment,
            worker=answer.worker,
            query=answer.query,
            text=response["text"],
            opinion=response.get("opinion", ""),
            entities=response.get("entities", []),
            revises=answer,
            created_at=timezone.now(),
        )
        bring_up_to_date(answer.stage, [answer.query_id])
    check(answer.stage, [answer.query_id])
    return new
