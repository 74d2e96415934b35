"""Queries with their curated passages and reference answers."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from annotation.models import CuratedPassage, Query
from releases.rows.answers import entities_of, taken, turns_of
from releases.rows.batches import some_of
from releases.rows.columns import as_text, decoded
from releases.rows.redactions import fit
from releases.rows.scope import QUERIES_AT_ONCE, Scope
from releases.tables import Batches

Records = dict[int, list[dict[str, Any]]]


def reference_rows(scope: Scope) -> Batches:
    """Rows of the table `references` in the order of the queries; three statements per batch.

    Answers that came with a query stand first, with an id made from the query's and without a worker.
    """
    for some in some_of(scope.queries, QUERIES_AT_ONCE):
        passages, answers = _passages(scope, some), _answers(scope, some)
        rows = Query.objects.using(scope.using).filter(pk__in=some).order_by("pk")
        columns = rows.values_list(
            "pk", "text", "context", "type", "yes_no", "weight", "stratum", "references"
        )
        yield [
            (
                (place := scope.queries[pk])[0],
                scope.redactions.of(f"query:{pk}", "text", text),
                turns_of(pk, context, scope.redactions),
                kind,
                yes_no,
                weight,
                stratum,
                passages.get(pk, []),
                [*_came_with(scope, pk, place[0], given), *answers.get(pk, [])],
                place[1],
            )
            for pk, text, context, kind, yes_no, weight, stratum, given in columns
        ]


def _passages(scope: Scope, queries: Collection[int]) -> Records:
    found: Records = defaultdict(list)
    rows = CuratedPassage.objects.using(scope.using).filter(curated_set__query__in=queries)
    columns = rows.order_by("curated_set__query_id", "position").values_list(
        "curated_set__query_id",
        "candidate_id",
        "candidate__key",
        "candidate__title",
        "candidate__url",
        "candidate__text",
    )
    hidden = scope.redactions.of
    for query, pk, key, title, url, text in columns.iterator(QUERIES_AT_ONCE):
        subject = f"passage:{pk}"
        found[query].append(
            {
                "passage_id": key,
                "title": hidden(subject, "title", title),
                "url": hidden(subject, "url", url),
                "text": hidden(subject, "text", text),
            }
        )
    return found


def _answers(scope: Scope, queries: Collection[int]) -> Records:
    rows = taken(scope).filter(query__in=queries, aside=False).order_by("query_id", "pk")
    columns = list(rows.values_list("pk", "query_id", "worker_id", "text", "opinion", as_text("entities")))
    names = scope.people.names(row[2] for row in columns)
    found: Records = defaultdict(list)
    for pk, query, worker, raw, opinion, marked in columns:
        text = scope.redactions.of(f"answer:{pk}", "text", raw)
        found[query].append(
            {
                "answer_id": f"a{pk}",
                "worker": names[worker],
                "text": text,
                "opinion": opinion,
                "entities": entities_of(decoded(marked), text),
                "simulated": worker in scope.people.simulated,
            }
        )
    return found


def _came_with(scope: Scope, pk: int, key: str, given: Any) -> Sequence[dict[str, Any]]:
    """The references of the query's own file."""
    return [
        {
            "answer_id": f"{key}#{number}",
            "worker": None,
            "text": scope.redactions.of(f"query:{pk}", f"references.{number}", fit(text)),
            "opinion": "",
            "entities": [],
            "simulated": False,
        }
        for number, text in enumerate(given if isinstance(given, list) else ())
        if isinstance(text, str) and text.strip()
    ]
