"""The answers of people that are in a release, also those held out."""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Answer, AnswerFlag, HeldOutWorker
from releases.rows.acceptance import taken_answers
from releases.rows.batches import some_of
from releases.rows.columns import as_text, decoded
from releases.rows.redactions import Redactions, fit
from releases.rows.scope import AT_ONCE, Scope
from releases.tables import Batches

APPROVED = Answer.State.APPROVED


def taken(scope: Scope) -> QuerySet[Any]:
    """Answers that go in for themselves, each with `aside`: it is held out."""
    aside = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    rows = taken_answers(scope.project, scope.using, scope.include)
    found: QuerySet[Any] = rows.annotate(aside=Exists(aside))
    return found


def answer_rows(scope: Scope) -> Batches:
    """Rows of the table `answers` in the order of writing; two or three statements per batch."""
    columns = (
        scope.of_queries(taken(scope))
        .order_by("pk")
        .values_list("pk", "query_id", "worker_id", "text", "opinion", as_text("entities"), "state", "aside")
    )
    scope.held_out = 0
    for read in some_of(columns.iterator(AT_ONCE), AT_ONCE):
        some = [row for row in read if row[1] in scope.queries]
        names = scope.people.names(row[2] for row in some)
        flags = _flags(scope, [row[0] for row in some])
        batch = []
        for pk, query, worker, raw, opinion, marked, state, aside in some:
            key, split = scope.queries[query]
            text = scope.redactions.of(f"answer:{pk}", "text", raw) if scope.redactions else raw
            scope.held_out += aside
            batch.append(
                (
                    f"a{pk}", key, names[worker], text, opinion, entities_of(decoded(marked), text),
                    state == APPROVED, flags.get(pk, []), aside, worker in scope.people.simulated, split,
                )
            )  # fmt: skip
        if batch:
            yield batch


def _flags(scope: Scope, answers: Collection[int]) -> dict[int, list[str]]:
    """What the checks noticed about these answers, by name."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = AnswerFlag.objects.using(scope.using).filter(answer__in=answers)
    for answer, name in rows.order_by("answer_id", "name").values_list("answer_id", "name"):
        found[answer].append(name)
    return found


def entities_of(marked: Any, text: str) -> list[dict[str, Any]]:
    """Spans that a writer marked, with the words as they are published; what is no span is passed over."""
    found = []
    for each in marked if isinstance(marked, list) else ():
        start, end = (each.get("start"), each.get("end")) if isinstance(each, dict) else (None, None)
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text):
            found.append({"start": start, "end": end, "text": text[start:end]})
    return found


def turns_of(pk: int, context: Any, redactions: Redactions) -> list[dict[str, Any]]:
    """Earlier turns of a query, as they are published."""
    subject = f"query:{pk}"
    return [
        {
            name: redactions.of(subject, f"context.{number}.{name}", fit(turn.get(name)))
            for name in ("text", "answer")
        }
        for number, turn in enumerate(context if isinstance(context, list) else ())
        if isinstance(turn, dict)
    ]
