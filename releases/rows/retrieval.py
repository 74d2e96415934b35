"""How every candidate passage of a query was found, and what became of it."""

import json
from collections.abc import Collection, Iterator
from typing import Any

from annotation.models import CandidatePassage, CuratedPassage
from annotation.retrieval_options import drawn_below
from releases.rows.batches import some_of
from releases.rows.redactions import fit
from releases.rows.scope import QUERIES_AT_ONCE, FoundPassages, Scope
from releases.tables import Batches, Row


def retrieval_rows(scope: Scope) -> Batches:
    """Rows of the table `retrieval` in the order of queries and ranks; two statements per batch."""
    scope.found.clear()
    for some in some_of(scope.queries, QUERIES_AT_ONCE):
        if batch := list(_rows(scope, some)):
            yield batch


def _rows(scope: Scope, queries: Collection[int]) -> Iterator[Row]:
    positions = _positions(scope, queries)
    rows = CandidatePassage.objects.using(scope.using).filter(query__in=queries)
    columns = rows.order_by("query_id", "rank").values_list(
        "pk", "query_id", "key", "rank", "score", "origin", "folded_into__key", "retrieval"
    )
    seen: set[tuple[int, str, str]] = set()
    for pk, query, key, rank, score, origin, into, kept in columns.iterator(QUERIES_AT_ONCE):
        name, split = scope.queries[query]
        found = kept if isinstance(kept, dict) else {}
        ranker = fit(found.get("ranker"))
        counts = scope.found.setdefault((origin, ranker), FoundPassages())
        counts.passages += 1
        if (query, origin, ranker) not in seen:
            seen.add((query, origin, ranker))
            counts.queries += 1
        yield (
            name,
            key,
            rank,
            positions.get(pk),
            origin,
            into or "",
            _probability(found, folded=into is not None),
            score,
            ranker,
            _number(found.get("rank")),
            _number(found.get("found_at")),
            _parts(found.get("parts")),
            _parts(found.get("raw")),
            _json(found.get("parameters")),
            _json(found.get("generation")),
            split,
        )


def _positions(scope: Scope, queries: Collection[int]) -> dict[int, int]:
    """Places of candidates in the curated set of their query, from 1."""
    rows = CuratedPassage.objects.using(scope.using).filter(curated_set__query__in=queries)
    places: dict[int, int] = {}
    found: dict[int, int] = {}
    ordered = rows.order_by("curated_set__query_id", "position")
    for query, candidate in ordered.values_list("curated_set__query_id", "candidate_id"):
        places[query] = places.get(query, 0) + 1
        found[candidate] = places[query]
    return found


def _probability(found: dict[str, Any], *, folded: bool) -> float:
    """Of being shown: 0 for what repeats another, drawn / of for what comes from below the cut, else 1."""
    if folded:
        return 0.0
    below = drawn_below(found)
    return below[0] / below[1] if below else 1.0


def _number(found: Any) -> int | None:
    return found if isinstance(found, int) else None


def _parts(found: Any) -> list[dict[str, Any]]:
    """Parts in the order of their names: databases keep the members of an object in orders of their own."""
    return [
        {"name": fit(name), "value": float(value)}
        for name, value in (sorted(found.items()) if isinstance(found, dict) else ())
        if isinstance(value, int | float)
    ]


def _json(found: Any) -> str:
    """An object as JSON with its keys in order, so that the same data are the same bytes."""
    return json.dumps(found, sort_keys=True, ensure_ascii=True) if found else ""
