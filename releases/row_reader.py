"""All tables of a release from the database."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import isnan
from statistics import median, stdev
from typing import Any, TypeVar

from django.db.models import Exists, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast

from annotation.candidates import drawn_below
from annotation.models import Answer, AnswerFlag, CandidatePassage, CuratedPassage, HeldOutWorker, Query
from crowd.selectors.people import AgreedTexts, has_consents
from judgments.models import Candidate, FilterRun, ImportedScore, Judgment, Score, System, Verdict
from judgments.selectors.ratings import good, scale_of
from metrics.agreement.scale import Scale
from releases import tables
from releases.scope import (
    ANSWER_LEFT_OUT,
    AT_ONCE,
    QUERIES_AT_ONCE,
    QUERY_LEFT_OUT,
    FoundPassages,
    JudgedStage,
    Redactions,
    Scope,
    fit,
    has_sources,
    rows_with_consent,
    source_rows_of,
    taken_answers,
)

# Rows, some at a time.

Item = TypeVar("Item")


def some_of(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` rows; the last one is shorter."""
    source = iter(rows)
    while taken := list(islice(source, size)):
        yield taken


# JSON columns that are empty in nearly all rows, without decoding each of them.

_EMPTY = len("[]")


def as_text(name: str) -> Cast:
    """A JSON column as the database writes it; `decoded` reads it."""
    return Cast(name, TextField())


def decoded(text: str | None) -> Any:
    """The value of a column that was read with `as_text`; None for an empty list or object."""
    return json.loads(text) if text is not None and len(text) > _EMPTY else None


# The answers of people that are in a release, also those held out.

APPROVED = Answer.State.APPROVED


def taken(scope: Scope) -> QuerySet[Any]:
    """Answers that go in for themselves, each with `aside`: it is held out."""
    aside = HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))
    rows = taken_answers(scope.project, scope.using, scope.include)
    found: QuerySet[Any] = rows.annotate(aside=Exists(aside))
    return found


def answer_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `answers` in the order of writing; two or three statements per batch."""
    columns = (
        scope.of_queries(taken(scope))
        .order_by("pk")
        .values_list(
            "pk",
            "query_id",
            "worker_id",
            "text",
            "opinion",
            as_text("entities"),
            "state",
            "aside",
            "stage__kind",
        )
    )
    scope.held_out = 0
    for read in some_of(columns.iterator(AT_ONCE), AT_ONCE):
        some = [row for row in read if row[1] in scope.queries]
        names = scope.people.names(row[2] for row in some)
        flags = _flags(scope, [row[0] for row in some])
        batch = []
        for pk, query, worker, raw, opinion, marked, state, aside, kind in some:
            key, split = scope.queries[query]
            text = scope.redactions.of(f"answer:{pk}", "text", raw) if scope.redactions else raw
            scope.held_out += aside
            batch.append(
                (
                    f"a{pk}", key, names[worker], text, opinion, entities_of(decoded(marked), text),
                    state == APPROVED, flags.get(pk, []), aside, kind,
                    worker in scope.people.simulated, split,
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


# The ratings of the answers that are in a release, with what the filters in force decided about each.

_RATINGS_AT_ONCE = 10_000
#: Rule and reason of ratings that came when the filters had run: they are in no score.
LATER = ("later", "came after the filters ran, which say nothing about it")
_KEPT = ("", "")


def rating_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `ratings`, stage by stage in the order of submission; two statements per batch."""
    for judged in scope.judged:
        yield from _of_stage(scope, judged)


def _of_stage(scope: Scope, judged: JudgedStage) -> tables.Batches:
    stage, run = judged.stage, judged.run
    numbers = numbers_of(scale_of(stage))
    for why in (QUERY_LEFT_OUT, ANSWER_LEFT_OUT):
        scope.passed_over.pop((stage.slug, why), None)
    rows = scope.of_candidates(good(Judgment.objects.using(scope.using).filter(stage=stage), stage))
    rows = rows.order_by("pk")
    columns = rows.values_list("pk", "candidate_id", "worker_id", "score", as_text("aspects"))
    for some in some_of(columns.iterator(_RATINGS_AT_ONCE), _RATINGS_AT_ONCE):
        names = scope.people.names({row[2] for row in some if row[1] in scope.candidates})
        removed = verdicts_about(scope, run, [row[0] for row in some])
        last = run.last_judgment if run else some[-1][0]
        batch = []
        for pk, candidate, worker, score, aspects in some:
            if candidate not in scope.candidates:
                scope.passed_over[stage.slug, scope.without.get(candidate, QUERY_LEFT_OUT)] += 1
                continue
            name, key, system, split = scope.candidates[candidate]
            rule, reason = removed.get(pk, _KEPT) if pk <= last else LATER
            batch.append(
                (
                    f"r{pk}", stage.slug, name, key, system, names[worker], numbers[score],
                    aspects_of(decoded(aspects)), not rule, rule, reason,
                    worker in scope.people.simulated, split,
                )
            )  # fmt: skip
        if batch:
            yield batch


def numbers_of(scale: Scale) -> dict[int, float | int]:
    """What people gave, by the units in which it is stored."""
    return {step: scale.number(step) for step in scale.scores}


def verdicts_about(
    scope: Scope, run: FilterRun | None, judgments: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """Rule and reason for those of the judgments that the run removed; they are in the order of keys."""
    if run is None:
        return {}
    rows = Verdict.objects.using(scope.using).filter(
        run=run, removes=True, judgment_id__gte=judgments[0], judgment_id__lte=judgments[-1]
    )
    return {pk: (rule, reason) for pk, rule, reason in rows.values_list("judgment_id", "rule", "reason")}


def aspects_of(given: Any) -> list[dict[str, Any]]:
    """Scores of further aspects by name, which databases give back in different orders."""
    pairs: Iterable[tuple[Any, Any]] = sorted(given.items()) if isinstance(given, dict) else ()
    return [{"name": fit(name), "score": score} for name, score in pairs if isinstance(score, int)]


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
    for read in some_of(columns.iterator(AT_ONCE), AT_ONCE):
        some = [row for row in read if row[0] in scope.candidates]
        scope.people.names(row[2] for row in some if row[2] is not None)
        batch = []
        for pk, answer, writer, kind, raw, opinion, aside in some:
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


def retrieval_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `retrieval` in the order of queries and ranks; two statements per batch."""
    scope.found.clear()
    for some in some_of(scope.queries, QUERIES_AT_ONCE):
        if batch := list(_rows(scope, some)):
            yield batch


def _rows(scope: Scope, queries: Collection[int]) -> Iterator[tables.Row]:
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


#: Candidates of one batch: each has some ten ratings.
_AT_ONCE = 2_000


@dataclass(slots=True)
class KeptRatings:
    """The kept ratings of a candidate; `simulated` where a program gave one of them."""

    ratings: list[dict[str, Any]] = field(default_factory=list)
    simulated: bool = False


_NOTHING = KeptRatings()


def score_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `scores`, stage by stage in the order of candidates; four statements per batch."""
    for judged in scope.judged:
        yield from _of_run(scope, judged) if judged.run else _of_all(scope, judged)
    yield from _elsewhere(scope)


def _of_run(scope: Scope, judged: JudgedStage) -> tables.Batches:
    rows = scope.of_candidates(Score.objects.using(scope.using).filter(run=judged.run))
    rows = rows.order_by("candidate_id")
    columns = rows.values_list(
        "candidate_id", "n_raw", "n_kept", "mean", "sd", "median", "trimmed", "adjusted"
    )
    for some in some_of(columns.iterator(_AT_ONCE), _AT_ONCE):
        given = _given(scope, judged, some[0][0], some[-1][0])
        yield [
            _row(scope, judged.stage.slug, candidate, figures, given.get(candidate, _NOTHING))
            for candidate, *figures in some
            if candidate in scope.candidates
        ]


def _of_all(scope: Scope, judged: JudgedStage) -> tables.Batches:
    for some in some_of(sorted(scope.candidates), _AT_ONCE):
        given = _given(scope, judged, some[0], some[-1])
        found = sorted(given)
        if found:
            figures = _figures(judged, [given[candidate].ratings for candidate in found])
            yield [
                _row(scope, judged.stage.slug, candidate, each, given[candidate])
                for candidate, each in zip(found, figures, strict=True)
            ]


def _row(scope: Scope, stage: str, candidate: int, figures: Sequence[Any], given: KeptRatings) -> tables.Row:
    name, key, system, split = scope.candidates[candidate]
    return (stage, name, key, system, *figures, given.ratings, given.simulated, split)


def _given(scope: Scope, judged: JudgedStage, first: int, last: int) -> dict[int, KeptRatings]:
    """The kept ratings of the candidates between two keys, in the order of submission."""
    stage, run = judged.stage, judged.run
    between = Judgment.objects.using(scope.using).filter(
        stage=stage, candidate_id__gte=first, candidate_id__lte=last
    )
    removed: frozenset[int] = frozenset()
    if run is not None:
        between = between.filter(pk__lte=run.last_judgment)
        verdicts = Verdict.objects.using(scope.using).filter(
            run=run,
            removes=True,
            judgment__stage=stage,
            judgment__candidate_id__gte=first,
            judgment__candidate_id__lte=last,
        )
        removed = frozenset(pk for pk in verdicts.values_list("judgment_id", flat=True) if pk is not None)
    columns = good(between, stage).order_by("pk").values_list("pk", "candidate_id", "worker_id", "score")
    rows = [row for row in columns if row[1] in scope.candidates]
    names = scope.people.names({row[2] for row in rows})
    found: dict[int, KeptRatings] = defaultdict(KeptRatings)
    numbers = numbers_of(scale_of(stage))
    for pk, candidate, worker, score in rows:
        if pk not in removed:
            found[candidate].ratings.append({"worker": names[worker], "score": numbers[score]})
            found[candidate].simulated |= worker in scope.people.simulated
    return found


def _figures(judged: JudgedStage, given: Sequence[list[dict[str, Any]]]) -> Iterator[tuple[Any, ...]]:
    """What a filter run would have stored; nothing is adjusted without the model of the filters."""
    import numpy as np  # only where something is scored

    from metrics.agreement.data import Ratings
    from metrics.agreement.scores import item_scores

    sizes = [len(each) for each in given]
    items = np.repeat(np.arange(len(given), dtype=np.int32), sizes)
    scale = scale_of(judged.stage)
    numbers = np.array([one["score"] for each in given for one in each], dtype=np.float64)
    scores = np.rint(numbers / float(scale.unit)).astype(np.int16)
    nobody = np.zeros(len(scores), dtype=np.int32)
    found = item_scores(Ratings(items, nobody, scores, range(len(given)), ("all",), scale))  # type: ignore[arg-type]  # names nobody asks for
    columns = [
        [None if isnan(value) else value for value in column.tolist()]
        for column in (found.mean, found.sd, found.median, found.trimmed)
    ]
    return zip(sizes, sizes, *columns, [None] * len(sizes), strict=True)


def _elsewhere(scope: Scope) -> tables.Batches:
    every = ImportedScore.objects.using(scope.using).filter(candidate__system__project=scope.project)
    rows = scope.of_candidates(every)
    columns = rows.order_by("candidate_id").values_list("candidate_id", "mean", "n", "ratings", "simulated")
    for some in some_of(columns.iterator(_AT_ONCE), _AT_ONCE):
        batch = []
        for candidate, mean, n, listed, simulated in some:
            if candidate not in scope.candidates:
                continue
            ratings = [each for each in listed if isinstance(each, int | float)]
            count = n if n is not None else len(ratings) or None
            figures = (
                count,
                count,
                mean,
                stdev(ratings) if len(ratings) > 1 else None,
                float(median(ratings)) if ratings else None,
                None,
                None,
            )
            given = [{"worker": None, "score": int(each) if each == int(each) else each} for each in ratings]
            batch.append(_row(scope, tables.ELSEWHERE, candidate, figures, KeptRatings(given, simulated)))
        if batch:
            yield batch


def source_rows(scope: Scope) -> tables.Batches:
    """Rows of the table `sources`: of answers, then of ratings stage by stage."""
    answers = scope.of_queries(taken(scope))
    for batch in source_rows_of(scope, answers, prefix="a", size=AT_ONCE):
        kept = [(key, stage, worker, *where, scope.queries[of][1]) for key, stage, worker, of, *where in batch
                if of in scope.queries]  # fmt: skip
        if kept:
            yield kept
    for judged in scope.judged:
        given = scope.of_candidates(
            good(Judgment.objects.using(scope.using).filter(stage=judged.stage), judged.stage)
        )
        for batch in source_rows_of(scope, given, prefix="r", size=_RATINGS_AT_ONCE, of="candidate_id"):
            kept = [
                (key, stage, worker, *where, scope.candidates[of][3])
                for key, stage, worker, of, *where in batch
                if of in scope.candidates
            ]
            if kept:
                yield kept


_ROWS = (
    (tables.REFERENCES, reference_rows),
    (tables.ANSWERS, answer_rows),
    (tables.CANDIDATES, candidate_rows),
    (tables.SCORES, score_rows),
    (tables.RATINGS, rating_rows),
    (tables.RETRIEVAL, retrieval_rows),
)


def tables_of(scope: Scope) -> Mapping[str, tables.FilledTable]:
    """The tables by name. Each call of `batches` asks the database again."""
    rows_of = _ROWS if not has_sources(scope) else (*_ROWS, (tables.SOURCES, source_rows))
    found = {table.name: tables.FilledTable(table, partial(rows, scope)) for table, rows in rows_of}
    if has_consents(scope.project, scope.using):
        agreed = partial(AgreedTexts, scope.project, scope.using)
        found |= {
            table.name: tables.FilledTable(
                tables.with_consent(table), partial(rows_with_consent, scope, rows, model, agreed)
            )
            for table, rows, model in (
                (tables.ANSWERS, answer_rows, Answer),
                (tables.RATINGS, rating_rows, Judgment),
            )
        }
    return found
