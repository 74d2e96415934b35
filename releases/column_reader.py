"""Answers, ratings and the scores made of them, read as columns: tables with many rows for each query."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from math import isnan
from statistics import median, stdev
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from django.db.models import Case, IntegerField, QuerySet, Value, When
from pyarrow import compute

from annotation.models import Answer, AnswerFlag
from core.bulk_rows import integer_columns
from judgments.models import FilterRun, ImportedScore, Judgment, Score, Verdict
from judgments.selectors.ratings import good, scale_of
from metrics.agreement.data import Ratings
from metrics.agreement.scale import Scale
from metrics.agreement.scores import item_scores
from releases.blocks import Block, CodedColumn, Column, Lists, Objects, coded, constant, truths
from releases.json_columns import NONE_MARKED, as_text, aspects_of, decoded, marked_in
from releases.scope import ANSWER_LEFT_OUT, AT_ONCE, QUERY_LEFT_OUT, JudgedStage, Scope, comments_of
from releases.tables import ANSWERS, ELSEWHERE, RATINGS, SCORES, Row, some_of, with_comments

Keys = npt.NDArray[np.integer[Any]]
_RATINGS_AT_ONCE = 20_000
#: Candidates of one batch: each has some ten ratings.
_CANDIDATES_AT_ONCE = 2_000
#: Rule and reason of ratings that came when the filters had run: they are in no score.
_LATER = ("later", "came after the filters ran, which say nothing about it")
_KEPT = ("", "")


class _Candidates:
    """The answers of systems that are in a release, as columns in the order of their keys."""

    def __init__(self, scope: Scope) -> None:
        by_key = scope.candidates
        self.keys = np.fromiter(sorted(by_key), np.int64, len(by_key))
        rows = [by_key[key] for key in self.keys.tolist()]
        self._names = pa.array([row[0] for row in rows], pa.string())
        self._queries = pa.array([row[1] for row in rows], pa.string())
        self._systems, self._splits = coded([row[2] for row in rows]), coded([row[3] for row in rows])

    def places(self, keys: Keys) -> tuple[Keys, npt.NDArray[np.bool_]]:
        """Where these keys are, and which of them are here at all."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), np.bool_)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return places, self.keys[places] == keys

    def columns(self, places: Keys) -> tuple[list[Column], CodedColumn]:
        """Id, query and system of the candidates at these places, and their splits."""
        at = pa.array(places)
        system = CodedColumn(self._systems.values, self._systems.codes[places])
        split = CodedColumn(self._splits.values, self._splits.codes[places])
        return [self._names.take(at), self._queries.take(at), system], split


class _Judges:
    """Pseudonyms of the judges of some ratings, coded."""

    def __init__(self, scope: Scope, workers: Keys) -> None:
        keys, self._codes = np.unique(workers, return_inverse=True)
        keys_of_workers = keys.tolist()
        names = scope.people.names(keys_of_workers)
        self._names = [names[key] for key in keys_of_workers]
        self._simulated = np.array([key in scope.people.simulated for key in keys_of_workers], np.bool_)

    def names(self) -> CodedColumn:
        return CodedColumn(self._names, self._codes)

    def simulated(self) -> npt.NDArray[np.bool_]:
        """Which ratings programs gave."""
        flags: npt.NDArray[np.bool_] = self._simulated[self._codes]
        return flags


def _numbers(scale: Scale, scores: npt.NDArray[np.integer[Any]]) -> CodedColumn:
    """What people gave, of the units in which it is stored."""
    steps = np.array(scale.scores)
    return CodedColumn([scale.number(step) for step in scale.scores], np.searchsorted(steps, scores))


def rating_blocks(scope: Scope) -> Iterator[Block]:
    """Rows of the table `ratings`, stage by stage in the order of submission.

    Two statements per block, and one more each where judges gave scores of further aspects and where their
    comments are brought in.
    """
    candidates, brings = _Candidates(scope), scope.brings_comments()
    scope.comments = 0
    for judged_stage in scope.judged_stages:
        for why in (QUERY_LEFT_OUT, ANSWER_LEFT_OUT):
            scope.passed_over.pop((judged_stage.stage.slug, why), None)
        rows = scope.of_candidates(
            good(Judgment.objects.using(scope.using).filter(stage=judged_stage.stage), judged_stage.stage)
        )
        for read in _ratings_of(rows):
            block = _rating_block(scope, judged_stage, candidates, read, brings=brings)
            if len(block):
                yield block


class _RatingColumns(NamedTuple):
    """Ratings as they were read, in the order of their keys; `more` is 1 where there are further aspects."""

    keys: Keys
    candidates: Keys
    workers: Keys
    scores: Keys
    more: Keys

    def only(self, mask: npt.NDArray[np.bool_]) -> "_RatingColumns":
        return _RatingColumns(*(column[mask] for column in self))


def _ratings_of(rows: "QuerySet[Judgment]") -> Iterator[_RatingColumns]:
    """Some at a time."""
    more = Case(When(aspects={}, then=Value(0)), default=Value(1), output_field=IntegerField())
    columns = rows.annotate(more=more).order_by("pk")
    last, count = 0, _RATINGS_AT_ONCE
    while count == _RATINGS_AT_ONCE:
        page = columns.filter(pk__gt=last).values_list("pk", "candidate_id", "worker_id", "score", "more")
        read = integer_columns(page[:_RATINGS_AT_ONCE], "i8", "i8", "i8", "i8", "i8")
        if count := len(read[0]):
            last = int(read[0][-1])
            yield _RatingColumns(*read)


def _rating_block(
    scope: Scope, judged_stage: JudgedStage, candidates: _Candidates, read: _RatingColumns, *, brings: bool
) -> Block:
    stage, run = judged_stage.stage, judged_stage.run
    places, is_released = candidates.places(read.candidates)
    for candidate, count in zip(*np.unique(read.candidates[~is_released], return_counts=True), strict=True):
        why = scope.without.get(int(candidate), QUERY_LEFT_OUT)
        scope.passed_over[stage.slug, why] += int(count)
    keys, _, workers, scores, more = read.only(is_released)
    aspects = _aspects(scope, keys[more > 0])
    judges = _Judges(scope, workers)
    described, split = candidates.columns(places[is_released])
    reasons, why_codes = [_KEPT, _LATER], np.zeros(len(keys), np.int32)
    if run is not None and len(keys):
        reasons += _mark_removed(scope, run, keys, why_codes, len(reasons))
        why_codes[keys > run.last_judgment] = 1
    return Block(
        with_comments(RATINGS) if brings else RATINGS,
        (
            compute.binary_join_element_wise("r", pa.array(keys).cast(pa.string()), ""),
            constant(stage.slug, len(keys)),
            *described,
            judges.names(),
            _numbers(scale_of(stage), scores),
            Objects([aspects.get(key, []) for key in keys.tolist()]) if aspects else constant([], len(keys)),
            CodedColumn([not rule for rule, _ in reasons], why_codes),
            CodedColumn([rule for rule, _ in reasons], why_codes),
            CodedColumn([reason for _, reason in reasons], why_codes),
            truths(judges.simulated()),
            split,
            *([_comments(scope, keys)] if brings else []),
        ),
    )


def _comments(scope: Scope, keys: Keys) -> Column:
    """What was written beside these ratings, which are in the order of their keys."""
    by_key: dict[int, str] = {}
    if len(keys):
        rows = comments_of(scope.project, scope.using).filter(pk__gte=keys[0], pk__lte=keys[-1])
        for key, comment in rows.values_list("pk", "comment"):
            by_key[key] = scope.redactions.of(f"judgment:{key}", "text", comment)
    comments = [by_key.get(key, "") for key in keys.tolist()]
    scope.comments += sum(map(bool, comments))
    return pa.array(comments, pa.string())


def _mark_removed(
    scope: Scope, run: FilterRun, keys: Keys, codes: npt.NDArray[np.int32], first: int
) -> list[tuple[str, str]]:
    """Give each rating that the run removed the code of rule and reason; these, numbered from `first`."""
    rows = Verdict.objects.using(scope.using).filter(
        run=run, removes=True, judgment_id__gte=keys[0], judgment_id__lte=keys[-1]
    )
    removals = list(rows.values_list("judgment_id", "rule", "reason"))
    why = coded([(rule, reason) for _, rule, reason in removals])
    removed = np.array([key for key, _, _ in removals], np.int64)
    places = np.minimum(np.searchsorted(keys, removed), len(keys) - 1)
    is_removed = keys[places] == removed
    codes[places[is_removed]] = why.codes[is_removed] + first
    return list(why.values)


def _aspects(scope: Scope, keys: Keys) -> dict[int, list[dict[str, Any]]]:
    """Scores of further aspects, of these ratings which have some."""
    if not len(keys):
        return {}
    rows = Judgment.objects.using(scope.using).filter(pk__gte=keys[0], pk__lte=keys[-1])
    wanted_keys = frozenset(keys.tolist())
    stored = rows.exclude(aspects={}).values_list("pk", as_text("aspects"))
    return {key: aspects_of(decoded(text)) for key, text in stored if key in wanted_keys}


def score_parts(scope: Scope) -> Iterator[Block | list[Row]]:
    """Rows of the table `scores`, stage by stage in the order of candidates; four statements per part."""
    candidates = _Candidates(scope)
    for judged_stage in scope.judged_stages:
        yield from (_of_run if judged_stage.run else _of_all)(scope, judged_stage, candidates)
    yield from _elsewhere(scope)


def _of_run(scope: Scope, judged_stage: JudgedStage, candidates: _Candidates) -> Iterator[Block]:
    """Scores as the run in force stored them."""
    rows = scope.of_candidates(Score.objects.using(scope.using).filter(run=judged_stage.run))
    columns = rows.order_by("candidate_id").values_list(
        "candidate_id", "n_raw", "n_kept", "mean", "sd", "median", "trimmed", "adjusted"
    )
    for batch in some_of(columns.iterator(_CANDIDATES_AT_ONCE), _CANDIDATES_AT_ONCE):
        mine = [row for row in batch if row[0] in scope.candidates]
        if mine:
            keys, *figures = map(list, zip(*mine, strict=True))
            ratings = _CandidateRatings(scope, judged_stage, candidates, np.array(keys, np.int64))
            yield _score_block(judged_stage, candidates, ratings, figures)


def _of_all(scope: Scope, judged_stage: JudgedStage, candidates: _Candidates) -> Iterator[Block]:
    """What a run that removes nothing would have stored."""
    for start in range(0, len(candidates.keys), _CANDIDATES_AT_ONCE):
        keys = candidates.keys[start : start + _CANDIDATES_AT_ONCE]
        ratings = _CandidateRatings(scope, judged_stage, candidates, keys, rated=True)
        if len(ratings.keys):
            yield _score_block(judged_stage, candidates, ratings, _figures(judged_stage, ratings))


class _CandidateRatings:
    """The kept ratings of candidates that are in a release, each candidate's in the order of submission.

    `ends` are where each candidate's end, after a 0. With `rated` candidates without any are left out.
    """

    def __init__(
        self,
        scope: Scope,
        judged_stage: JudgedStage,
        candidates: _Candidates,
        keys: Keys,
        *,
        rated: bool = False,
    ) -> None:
        pks, about, workers, scores = integer_columns(_between(scope, judged_stage, keys), *["i8"] * 4)
        _, is_counted = candidates.places(about)
        # Who judged is in the release, also where nothing that they said is kept.
        scope.people.names(np.unique(workers[is_counted]).tolist())
        is_counted &= np.isin(about, keys)
        if judged_stage.run is not None:
            removed = integer_columns(_removed(scope, judged_stage, keys), "i8")[0]
            is_counted &= ~np.isin(pks, removed)
        judges = _Judges(scope, workers[is_counted])
        about = about[is_counted]
        self.keys = np.unique(about) if rated else keys
        firsts, after = (np.searchsorted(about, self.keys, side) for side in ("left", "right"))
        self.sizes = after - firsts
        self.ends = np.concatenate([[0], np.cumsum(self.sizes)])
        self.scores = scores[is_counted]
        self.judges = judges.names()
        of = np.repeat(np.arange(len(self.keys)), self.sizes)
        self.simulated = np.bincount(of, judges.simulated(), minlength=len(self.keys)) > 0


def _between(scope: Scope, judged_stage: JudgedStage, keys: Keys) -> QuerySet[Any, Any]:
    """Good ratings of the candidates from the first to the last of these keys."""
    rows = Judgment.objects.using(scope.using).filter(
        stage=judged_stage.stage, candidate_id__gte=keys[0], candidate_id__lte=keys[-1]
    )
    if judged_stage.run is not None:
        rows = rows.filter(pk__lte=judged_stage.run.last_judgment)
    counting = good(rows, judged_stage.stage).order_by("candidate_id", "pk")
    return counting.values_list("pk", "candidate_id", "worker_id", "score")


def _removed(scope: Scope, judged_stage: JudgedStage, keys: Keys) -> QuerySet[Any, Any]:
    """Those of them that the run in force removed."""
    verdicts = Verdict.objects.using(scope.using).filter(
        run=judged_stage.run,
        removes=True,
        judgment__stage=judged_stage.stage,
        judgment__candidate_id__gte=keys[0],
        judgment__candidate_id__lte=keys[-1],
    )
    return verdicts.values_list("judgment_id")


def _score_block(
    judged_stage: JudgedStage,
    candidates: _Candidates,
    ratings: _CandidateRatings,
    figures: Sequence[list[Any]],
) -> Block:
    described, split = candidates.columns(candidates.places(ratings.keys)[0])
    numbers = _numbers(scale_of(judged_stage.stage), ratings.scores)
    return Block(
        SCORES,
        (
            constant(judged_stage.stage.slug, len(ratings.keys)),
            *described,
            *figures,
            Lists(ratings.ends, {"worker": ratings.judges, "score": numbers}),
            truths(ratings.simulated),
            split,
        ),
    )


def _figures(judged_stage: JudgedStage, ratings: _CandidateRatings) -> list[list[Any]]:
    """What a filter run would have stored; nothing is adjusted without the model of the filters."""
    count = len(ratings.keys)
    items = np.repeat(np.arange(count, dtype=np.int32), ratings.sizes)
    nobody = np.zeros(len(ratings.scores), dtype=np.int32)
    scores = item_scores(
        Ratings(
            items,
            nobody,
            ratings.scores.astype(np.int16),
            range(count),  # type: ignore[arg-type]  # names that are not read
            ("all",),
            scale_of(judged_stage.stage),
        )
    )
    columns = [
        [None if isnan(value) else value for value in column.tolist()]
        for column in (scores.mean, scores.sd, scores.median, scores.trimmed)
    ]
    sizes = ratings.sizes.tolist()
    return [sizes, sizes, *columns, [None] * count]


def _elsewhere(scope: Scope) -> Iterator[list[Row]]:
    """Scores that were collected elsewhere."""
    every = ImportedScore.objects.using(scope.using).filter(candidate__system__project=scope.project)
    rows = scope.of_candidates(every).order_by("candidate_id")
    columns = rows.values_list("candidate_id", "mean", "n", "ratings", "simulated")
    for imported_rows in some_of(columns.iterator(_CANDIDATES_AT_ONCE), _CANDIDATES_AT_ONCE):
        batch = []
        for candidate, mean, n, stored, simulated in imported_rows:
            if candidate not in scope.candidates:
                continue
            name, key, system, split = scope.candidates[candidate]
            ratings = [each for each in stored if isinstance(each, int | float)]
            count = n if n is not None else len(ratings) or None
            ratings_of_nobody = [
                {"worker": None, "score": int(each) if each == int(each) else each} for each in ratings
            ]
            batch.append(
                (
                    ELSEWHERE,
                    name,
                    key,
                    system,
                    count,
                    count,
                    mean,
                    stdev(ratings) if len(ratings) > 1 else None,
                    float(median(ratings)) if ratings else None,
                    None,
                    None,
                    ratings_of_nobody,
                    simulated,
                    split,
                )
            )
        if batch:
            yield batch


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
        accepted = scope.accepted_answers.among([row[0] for row in read])
        released_rows = [row for row in read if row[1] in scope.queries and row[0] in accepted]
        if released_rows:
            yield _answer_block(scope, released_rows)


def _answer_block(scope: Scope, answer_rows: Sequence[Row]) -> Block:
    keys, queries, workers, texts, opinions, marked, states, kinds = zip(*answer_rows, strict=True)
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
    by_answer: dict[int, list[str]] = defaultdict(list)
    # A range, which also has flags of others, is asked for far faster than thousands of keys.
    rows = AnswerFlag.objects.using(scope.using).filter(answer__gte=answers[0], answer__lte=answers[-1])
    for answer, name in rows.order_by("answer_id", "name").values_list("answer_id", "name"):
        by_answer[answer].append(name)
    return by_answer
