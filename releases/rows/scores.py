"""Human scores: of the filter runs in force, of all good judgments where there is none, and imported."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan
from statistics import median, stdev
from typing import Any

from judgments.models import ImportedScore, Judgment, Score, Verdict
from judgments.selectors.ratings import good, scale_of
from releases.rows.batches import some_of
from releases.rows.ratings import numbers_of
from releases.rows.scope import JudgedStage, Scope
from releases.tables import ELSEWHERE, Batches, Row

#: Candidates of one batch: each has some ten ratings.
_AT_ONCE = 2_000


@dataclass(slots=True)
class KeptRatings:
    """The kept ratings of a candidate; `simulated` where a program gave one of them."""

    ratings: list[dict[str, Any]] = field(default_factory=list)
    simulated: bool = False


_NOTHING = KeptRatings()


def score_rows(scope: Scope) -> Batches:
    """Rows of the table `scores`, stage by stage in the order of candidates; four statements per batch."""
    for judged in scope.judged:
        yield from _of_run(scope, judged) if judged.run else _of_all(scope, judged)
    yield from _elsewhere(scope)


def _of_run(scope: Scope, judged: JudgedStage) -> Batches:
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


def _of_all(scope: Scope, judged: JudgedStage) -> Batches:
    for some in some_of(sorted(scope.candidates), _AT_ONCE):
        given = _given(scope, judged, some[0], some[-1])
        found = sorted(given)
        if found:
            figures = _figures(judged, [given[candidate].ratings for candidate in found])
            yield [
                _row(scope, judged.stage.slug, candidate, each, given[candidate])
                for candidate, each in zip(found, figures, strict=True)
            ]


def _row(scope: Scope, stage: str, candidate: int, figures: Sequence[Any], given: KeptRatings) -> Row:
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
    import numpy as np  # noqa: PLC0415 - only where something is scored

    from metrics.agreement.data import Ratings  # noqa: PLC0415 - numpy
    from metrics.agreement.scores import item_scores  # noqa: PLC0415 - numpy

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


def _elsewhere(scope: Scope) -> Batches:
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
            batch.append(_row(scope, ELSEWHERE, candidate, figures, KeptRatings(given, simulated)))
        if batch:
            yield batch
