"""All tables of a release from the database."""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, QuerySet

from annotation.candidates import drawn_below
from annotation.models import Answer, CandidatePassage, CuratedPassage, Query
from crowd.models import Instructions, Stage, StageSource
from crowd.selectors.people import AgreedTexts, has_consents
from crowd.texts import LANGUAGES
from judgments.models import Candidate, Judgment, System, UnitResponse
from judgments.selectors.ratings import good
from releases import tables
from releases.json_columns import NONE_MARKED, as_text, marked_in
from releases.questionnaires import questionnaires_in, response_rows
from releases.scope import AT_ONCE, QUERIES_AT_ONCE, FoundPassages, Redactions, Scope, fit, taken_answers

if TYPE_CHECKING:
    from releases.blocks import Block


def answer_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `answers` in the order of writing; two or three statements per block."""
    return (batch for block in _written(scope) for batch in block.batches())


def _written(scope: Scope) -> "Iterator[Block]":
    from releases.column_reader import answer_blocks  # pages do without numpy and Arrow

    return answer_blocks(scope)


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


def candidate_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `candidates` in the order of import.

    An answer of people that was held out is blacked out wherever the answer itself is.
    """
    rows = Candidate.objects.using(scope.using).filter(system__project=scope.project)
    columns = (
        scope.of_queries(rows)
        .order_by("pk")
        .values_list("pk", "answer_id", "answer__worker_id", "system__kind", "text", "opinion", "aside")
    )
    hidden = scope.redactions.of
    for read in tables.some_of(columns.iterator(AT_ONCE), AT_ONCE):
        released_rows = [row for row in read if row[0] in scope.candidates]
        scope.people.names(row[2] for row in released_rows if row[2] is not None)
        batch = []
        for pk, answer, writer, kind, raw, opinion, aside in released_rows:
            name, key, system, split = scope.candidates[pk]
            text = hidden(f"candidate:{pk}", "text", raw)
            if answer is not None:
                text = hidden(f"answer:{answer}", "text", text)
            people, simulated = kind == System.Kind.HUMAN, writer in scope.people.simulated
            batch.append((name, key, system, people, text, opinion, aside, simulated, split))
        if batch:
            yield batch


Records = dict[int, list[dict[str, Any]]]


def reference_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `references` in the order of the queries; three statements per batch.

    Answers that came with a query stand first, with an id made from the query's and without a worker.
    """
    for keys in tables.some_of(scope.queries, QUERIES_AT_ONCE):
        passages, answers = _passages(scope, keys), _answers(scope, keys)
        rows = Query.objects.using(scope.using).filter(pk__in=keys).order_by("pk")
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
                [*_came_with(scope, pk, place[0], came_with), *answers.get(pk, [])],
                place[1],
            )
            for pk, text, context, kind, yes_no, weight, stratum, came_with in columns
        ]


def _passages(scope: Scope, queries: Collection[int]) -> Records:
    by_query: Records = defaultdict(list)
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
        by_query[query].append(
            {
                "passage_id": key,
                "title": hidden(subject, "title", title) if scope.redactions else title,
                "url": hidden(subject, "url", url) if scope.redactions else url,
                "text": hidden(subject, "text", text) if scope.redactions else text,
            }
        )
    return by_query


def _answers(scope: Scope, queries: Collection[int]) -> Records:
    rows = Answer.objects.using(scope.using).filter(query__in=queries).order_by("query_id", "pk")
    read = list(rows.values_list("pk", "query_id", "worker_id", "text", "opinion", as_text("entities")))
    keys = [row[0] for row in read]
    accepted = scope.accepted_answers.among(keys) - scope.aside.among(keys)
    columns = [row for row in read if row[0] in accepted]
    names = scope.people.names(row[2] for row in columns)
    by_query: Records = defaultdict(list)
    for pk, query, worker, raw, opinion, marked in columns:
        text = scope.redactions.of(f"answer:{pk}", "text", raw) if scope.redactions else raw
        by_query[query].append(
            {
                "answer_id": f"a{pk}",
                "worker": names[worker],
                "text": text,
                "opinion": opinion,
                "entities": [] if marked == NONE_MARKED else marked_in(text, marked),
                "simulated": worker in scope.people.simulated,
            }
        )
    return by_query


def _came_with(scope: Scope, pk: int, key: str, texts: Any) -> Sequence[dict[str, Any]]:
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
        for number, text in enumerate(texts if isinstance(texts, list) else ())
        if isinstance(text, str) and text.strip()
    ]


def retrieval_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `retrieval` in the order of queries and ranks; two statements per batch."""
    scope.passage_counts.clear()
    for keys in tables.some_of(scope.queries, QUERIES_AT_ONCE):
        if batch := list(_rows(scope, keys)):
            yield batch


def _rows(scope: Scope, queries: Collection[int]) -> Iterator[tables.Row]:
    positions = _positions(scope, queries)
    rows = CandidatePassage.objects.using(scope.using).filter(query__in=queries)
    columns = rows.order_by("query_id", "rank").values_list(
        "pk", "query_id", "key", "rank", "score", "origin", "folded_into__key", "retrieval"
    )
    seen: set[tuple[int, str, str]] = set()
    for pk, query, key, rank, score, origin, into, stored in columns.iterator(QUERIES_AT_ONCE):
        name, split = scope.queries[query]
        details = stored if isinstance(stored, dict) else {}
        ranker = fit(details.get("ranker"))
        counts = scope.passage_counts.setdefault((origin, ranker), FoundPassages())
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
            _probability(details, folded=into is not None),
            score,
            ranker,
            _number(details.get("rank")),
            _number(details.get("found_at")),
            _parts(details.get("parts")),
            _parts(details.get("raw")),
            _json(details.get("parameters")),
            _json(details.get("generation")),
            split,
        )


def _positions(scope: Scope, queries: Collection[int]) -> dict[int, int]:
    """Places of candidates in the curated set of their query, from 1."""
    rows = CuratedPassage.objects.using(scope.using).filter(curated_set__query__in=queries)
    places: dict[int, int] = {}
    by_candidate: dict[int, int] = {}
    ordered = rows.order_by("curated_set__query_id", "position")
    for query, candidate in ordered.values_list("curated_set__query_id", "candidate_id"):
        places[query] = places.get(query, 0) + 1
        by_candidate[candidate] = places[query]
    return by_candidate


def _probability(details: dict[str, Any], *, folded: bool) -> float:
    """Of being shown: 0 for what repeats another, drawn / of for what comes from below the cut, else 1."""
    if folded:
        return 0.0
    below = drawn_below(details)
    return below[0] / below[1] if below else 1.0


def _number(stored: Any) -> int | None:
    return stored if isinstance(stored, int) else None


def _parts(stored: Any) -> list[dict[str, Any]]:
    """Parts in the order of their names: databases keep the members of an object in orders of their own."""
    return [
        {"name": fit(name), "value": float(value)}
        for name, value in (sorted(stored.items()) if isinstance(stored, dict) else ())
        if isinstance(value, int | float)
    ]


def _json(stored: Any) -> str:
    """An object as JSON with its keys in order, so that the same data are the same bytes."""
    return json.dumps(stored, sort_keys=True, ensure_ascii=True) if stored else ""


def rating_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `ratings`, stage by stage in the order of submission; two statements per block."""
    return (batch for block in _ratings(scope) for batch in block.batches())


def _ratings(scope: Scope) -> "Iterator[Block]":
    from releases.column_reader import rating_blocks  # as above

    return rating_blocks(scope)


def score_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `scores`, stage by stage in the order of candidates."""
    for part in _scores(scope):
        yield from [part] if isinstance(part, list) else part.batches()


def _scores(scope: Scope) -> "Iterator[Block | list[tables.Row]]":
    from releases.column_reader import score_parts  # as above

    return score_parts(scope)


# To which version of the consent text the person behind each row had agreed.


def _keys_of(batch: "list[tables.Row]") -> list[int]:
    """The primary keys in the ids of rows: a letter and the key, of a response then its field."""
    return [int(row[0][1:].partition(":")[0]) for row in batch]


def rows_with_consent(
    scope: Scope, rows: Callable[[Scope], tables.Batches], model: Any, agreed: Callable[[], AgreedTexts]
) -> tables.Batches:
    """The rows of a table whose first column is its id, each with one value more; one statement per batch."""
    texts = agreed()
    for batch in rows(scope):
        keys = _keys_of(batch)
        consents = _consents(scope, model, keys, texts)
        yield [(*row, consents.get(key)) for row, key in zip(batch, keys, strict=True)]


def _consents(scope: Scope, model: Any, keys: list[int], texts: AgreedTexts) -> dict[int, str | None]:
    """Keys of one batch are in order, so a range finds them without a list of thousands."""
    between = model.objects.using(scope.using).filter(
        pk__gte=min(keys), pk__lte=max(keys), assignment__stage__project=scope.project
    )
    columns = between.values_list(
        "pk",
        "assignment__stage_id",
        "assignment__external_id",
        "assignment__worker__external_id",
        "assignment__arrived_at",
    )
    return {
        pk: texts.version(stage=stage, submission=submission, worker=worker, at=at)
        for pk, stage, submission, worker, at in columns.iterator()
    }


# At which of several sources an answer or a rating was given.


def has_languages(scope: Scope) -> bool:
    """Whether some stage of the project has its texts in several languages, now or in an earlier version."""
    stages = Stage.objects.using(scope.using).filter(project=scope.project)
    versions = Instructions.objects.using(scope.using).filter(stage__in=stages)
    return (
        any(config.get(LANGUAGES) for config in stages.values_list("config", flat=True))
        or versions.filter(languages__isnull=False).exists()
    )


def rows_with_language(scope: Scope, rows: Callable[[], tables.Batches], model: Any) -> tables.Batches:
    """The rows of a table whose first column is its id, each with the language in which it was read."""
    for batch in rows():
        keys = _keys_of(batch)
        between = model.objects.using(scope.using).filter(pk__gte=min(keys), pk__lte=max(keys))
        columns = between.filter(assignment__stage__project=scope.project).exclude(assignment__language="")
        languages = dict(columns.values_list("pk", "assignment__language"))
        yield [(*row, languages.get(key)) for row, key in zip(batch, keys, strict=True)]


def has_sources(scope: Scope) -> bool:
    """Whether some stage of the project asked people at several places."""
    return StageSource.objects.using(scope.using).filter(stage__project=scope.project).exists()


def source_rows_of(
    scope: Scope, rows: "QuerySet[Any]", *, prefix: str, size: int, of: str = "query_id"
) -> Iterator[list[tuple[Any, ...]]]:
    """Batches of id, stage, pseudonym, what the row is about, source and panel, in the order of keys."""
    several = StageSource.objects.using(scope.using).filter(stage=OuterRef("stage"))
    columns = rows.filter(Exists(several)).order_by("pk")
    read = columns.values_list(
        "pk", "stage__slug", "worker_id", of, "worker__endpoint__name", "worker__endpoint__protocol"
    ).iterator(size)
    while batch := list(islice(read, size)):
        names = scope.people.names(row[2] for row in batch)
        yield [
            (f"{prefix}{pk}", stage, names[worker], about, source, panel)
            for pk, stage, worker, about, source, panel in batch
        ]


_SOURCES_AT_ONCE = 10_000


def source_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `sources`: of answers, then of ratings stage by stage."""
    answers = scope.of_queries(taken_answers(scope.project, scope.using, scope.include))
    for batch in source_rows_of(scope, answers, prefix="a", size=AT_ONCE):
        rows = [(key, stage, worker, *where, scope.queries[of][1]) for key, stage, worker, of, *where in batch
                if of in scope.queries]  # fmt: skip
        if rows:
            yield rows
    for judged_stage in scope.judged_stages:
        judgments = scope.of_candidates(
            good(Judgment.objects.using(scope.using).filter(stage=judged_stage.stage), judged_stage.stage)
        )
        for batch in source_rows_of(scope, judgments, prefix="r", size=_SOURCES_AT_ONCE, of="candidate_id"):
            rows = [
                (key, stage, worker, *where, scope.candidates[of][3])
                for key, stage, worker, of, *where in batch
                if of in scope.candidates
            ]
            if rows:
                yield rows


_ROWS = (
    (tables.REFERENCES, reference_rows),
    (tables.ANSWERS, answer_rows),
    (tables.CANDIDATES, candidate_rows),
    (tables.SCORES, score_rows),
    (tables.RATINGS, rating_rows),
    (tables.RETRIEVAL, retrieval_rows),
)


#: Tables whose rows are a person's, with their rows.
_BY_PEOPLE = (
    (tables.ANSWERS, answer_rows, Answer),
    (tables.RATINGS, rating_rows, Judgment),
    (tables.RESPONSES, response_rows, UnitResponse),
)


def tables_of(scope: Scope) -> Mapping[str, tables.FilledTable]:
    """The tables by name. Each call of `batches` asks the database again."""
    rows_of = _ROWS if not has_sources(scope) else (*_ROWS, (tables.SOURCES, source_rows))
    if questionnaires_in(scope):
        rows_of = (*rows_of, (tables.RESPONSES, response_rows))
    by_name = {table.name: tables.FilledTable(table, partial(rows, scope)) for table, rows in rows_of}
    for table, parts in ((tables.ANSWERS, _written), (tables.SCORES, _scores), (tables.RATINGS, _ratings)):
        by_name[table.name] = replace(by_name[table.name], parts=partial(parts, scope))
    if scope.brings_comments():
        ratings = by_name[tables.RATINGS.name]
        by_name[tables.RATINGS.name] = replace(ratings, table=tables.with_comments(ratings.table))
    by_people = [(each, rows, model) for each, rows, model in _BY_PEOPLE if each.name in by_name]
    if has_consents(scope.project, scope.using):
        agreed = partial(AgreedTexts, scope.project, scope.using)
        by_name |= {
            table.name: tables.FilledTable(
                tables.with_consent(by_name[table.name].table),
                partial(rows_with_consent, scope, rows, model, agreed),
            )
            for table, rows, model in by_people
        }
    if has_languages(scope):
        for name, model in [(table.name, model) for table, _, model in by_people]:
            filled = by_name[name]
            by_name[name] = tables.FilledTable(
                tables.with_language(filled.table),
                partial(rows_with_language, scope, filled.batches, model),
            )
    return by_name
