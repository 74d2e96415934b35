"""Answers come in, and queries that have all of theirs go on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Answer, Query
from annotation.selectors.answers import complete, incomplete_again
from annotation.services.recounts import reasons_by_query
from annotation.services.steps import move
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
