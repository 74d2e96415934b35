"""Answers of people, read as columns: there are many for each query."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from annotation.models import Answer, AnswerFlag
from releases.blocks import Block, Column, Objects, coded, constant, truths
from releases.json_columns import NONE_MARKED, as_text, marked_in
from releases.scope import AT_ONCE, Scope
from releases.tables import ANSWERS, Row, some_of

APPROVED = Answer.State.APPROVED


def answer_blocks(scope: Scope) -> Iterator[Block]:
    """Rows of the table `answers` in the order of writing; two or three statements per block."""
    rows = scope.of_queries(Answer.objects.using(scope.using).filter(query__project=scope.project))
    if scope.statuses:
        rows = rows.filter(query__status__in=scope.statuses)
    columns = rows.order_by("pk").values_list(
        "pk", "query_id", "worker_id", "text", "opinion", as_text("entities"), "state", "stage__kind"
    )
    scope.held_out = 0
    for read in some_of(columns.iterator(AT_ONCE), AT_ONCE):
        taken = scope.taken.among([row[0] for row in read])
        some = [row for row in read if row[1] in scope.queries and row[0] in taken]
        if some:
            yield _block(scope, some)


def _block(scope: Scope, some: Sequence[Row]) -> Block:
    keys, queries, workers, texts, opinions, marked, states, kinds = zip(*some, strict=True)
    names = scope.people.names(workers)
    if scope.redactions:
        texts = tuple(
            scope.redactions.of(f"answer:{key}", "text", text) for key, text in zip(keys, texts, strict=True)
        )
    held_out = scope.aside.among(keys)
    aside = [key in held_out for key in keys]
    scope.held_out += len(held_out)
    entities = [
        [] if each == NONE_MARKED else marked_in(text, each) for text, each in zip(texts, marked, strict=True)
    ]
    flags = _flags(scope, keys)
    described = [scope.queries[query] for query in queries]
    return Block(
        ANSWERS,
        (
            pa.array([f"a{key}" for key in keys]),
            pa.array([key for key, _ in described]),
            coded([names[worker] for worker in workers]),
            pa.array(texts),
            coded(opinions),
            _lists(entities),
            truths(np.array([state == APPROVED for state in states])),
            _lists([flags.get(key, []) for key in keys]),
            truths(np.array(aside)),
            coded(kinds),
            truths(np.array([worker in scope.people.simulated for worker in workers])),
            coded([split for _, split in described]),
        ),
    )


def _lists(values: Sequence[list[Any]]) -> Column:
    """Lists of which nearly all are empty."""
    return Objects(values) if any(values) else constant([], len(values))


def _flags(scope: Scope, answers: Sequence[int]) -> dict[int, list[str]]:
    """What the checks noticed about these answers, by name; they are in the order of keys."""
    found: dict[int, list[str]] = defaultdict(list)
    # A range, which also has flags of others, is asked for far faster than thousands of keys.
    rows = AnswerFlag.objects.using(scope.using).filter(answer__gte=answers[0], answer__lte=answers[-1])
    for answer, name in rows.order_by("answer_id", "name").values_list("answer_id", "name"):
        found[answer].append(name)
    return found
