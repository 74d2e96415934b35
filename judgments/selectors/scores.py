"""Candidates with their scores, by the run in force or from all good judgments, and how many have one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from math import isnan
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, QuerySet

from annotation.units import known_score
from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.models import Stage
from judgments.judging_config import judging_config
from judgments.models import Candidate, FilterRun, Judgment, Score, System
from judgments.selectors.candidates import to_judge
from judgments.selectors.live import score_counts, systems_of
from judgments.selectors.ratings import Stamp, good, scale_of
from web.cache import cached

#: Answers that are in memory at a time.
_CHUNK = 2_000

# Scores of simulated judges that know no truth: figures from them mean nothing.

NO_TRUTH = (
    "Simulated judges gave scores here, and the queries' file has no true scores (the column `truth`). "
    "Their scores are made up at random around the words that an answer shares with a reference: means, "
    "agreement and every figure from them mean nothing."
)


def random_scores_caution(stage: Stage) -> str:
    """A sentence where simulated judges had no truth to go by, else nothing."""
    return NO_TRUTH if cached(("random-scores", stage.pk), partial(_has_random_scores, stage)) else ""


def _has_random_scores(stage: Stage) -> bool:
    """Whether one of the answers that simulated judges scored has no truth; all of them are looked at."""
    if not Judgment.objects.filter(stage=stage, worker__simulated=True).exists():
        return False
    simulated = Judgment.objects.filter(stage=stage, worker__simulated=True, candidate=OuterRef("pk"))
    rows = Candidate.objects.filter(Exists(simulated), query__project=stage.project_id)
    columns = rows.order_by().values_list("query__extra", "system__name").iterator(_CHUNK)
    return any(known_score(extra, system) is None for extra, system in columns)


# Candidates with their scores, sorted and filtered.

_BY: dict[str, tuple[str, ...]] = {
    "mean": ("mean",),
    "sd": ("sd",),
    "n": ("n_kept",),
    "query": ("candidate__query",),
}
_AT_ONCE = 1000
_TEXTS = ("query__key", "query__text", "system__name", "text")
_COLUMNS = ("candidate_id", "n_raw", "n_kept", "mean", "sd", "median", "trimmed", "adjusted")


@dataclass(slots=True)
class ScoreRow:
    """A candidate with its score; undefined figures are None."""

    candidate_id: int
    n_raw: int
    n_kept: int
    mean: float | None
    sd: float | None
    median: float | None
    trimmed: float | None
    adjusted: float | None
    candidate: Candidate


def kept_scores(run: FilterRun, order: str, system: str, *, down: bool) -> QuerySet[Score, tuple[Any, ...]]:
    """Columns of a run's scores, sorted; what is undefined comes last."""
    rows = Score.objects.filter(run=run)
    if system:
        rows = rows.filter(candidate__system__name=system)
    by = [F(name).desc(nulls_last=True) if down else F(name).asc(nulls_last=True) for name in _BY[order]]
    return rows.order_by(*by, "candidate").values_list(*_COLUMNS)


def raw_scores(stage: Stage, stamp: Stamp, order: str, system: str, *, down: bool) -> list[tuple[Any, ...]]:
    """The same columns from all good judgments; nothing is adjusted without the model of the filters."""
    import numpy as np  # start-up does without numpy

    from metrics.agreement.data import Ratings
    from metrics.agreement.scores import item_scores

    scale = scale_of(stage)
    score_table = score_counts(stage, stamp, scale.low, scale.size)
    n_items, size = score_table.counts.shape
    cells = score_table.counts.ravel()
    # Means and deviations need only counts of scores, which do not know who gave them: one judge for all.
    ratings = Ratings(
        np.repeat(np.repeat(np.arange(n_items, dtype=np.int32), size), cells),
        np.zeros(score_table.judgments, dtype=np.int32),
        np.repeat(np.tile(scale.steps.astype(np.int16), n_items), cells),
        range(n_items),  # type: ignore[arg-type]  # names nobody asks for
        ("all",),
        scale,
    )
    scores = item_scores(ratings)
    columns = [
        [None if isnan(value) else value for value in column.tolist()]
        for column in (scores.mean, scores.sd, scores.median, scores.trimmed)
    ]
    n = scores.n_raw.tolist()
    nothing = [None] * n_items
    rows = list(zip(score_table.candidates.tolist(), n, n, *columns, nothing, strict=True))
    if system:
        names = systems_of(stage, score_table.candidates)
        rows = [row for row, name in zip(rows, names, strict=True) if name == system]
    return sorted(rows, key=lambda row: _key(row, order, down=down))


def _key(row: tuple[Any, ...], order: str, *, down: bool) -> tuple[Any, ...]:
    key, _, n_kept, mean, sd = row[:5]
    value = {"mean": mean, "sd": sd, "n": n_kept, "query": key}[order]
    return (1, 0, key) if value is None else (0, -value if down else value, key)


def with_candidates(rows: Sequence[tuple[Any, ...]]) -> list[ScoreRow]:
    """Rows with their candidates, queries and systems, in one question."""
    candidates = Candidate.objects.select_related("query", "system").in_bulk([row[0] for row in rows])
    return [ScoreRow(*(*row, candidates[row[0]])) for row in rows]


def written_scores(
    rows: QuerySet[Any, tuple[Any, ...]] | Sequence[tuple[Any, ...]],
) -> Iterator[list[tuple[Any, ...]]]:
    """All rows as (candidate, query's key and text, system, answer, figures …), some at a time."""
    if isinstance(rows, QuerySet):
        key, *figures = _COLUMNS
        source = rows.values_list(key, *(f"candidate__{name}" for name in _TEXTS), *figures)
        wide = source.iterator(chunk_size=_AT_ONCE)
        while block := list(islice(wide, _AT_ONCE)):
            yield block
        return
    for start in range(0, len(rows), _AT_ONCE):
        batch = rows[start : start + _AT_ONCE]
        texts_rows = Candidate.objects.filter(pk__in=[row[0] for row in batch]).values_list("pk", *_TEXTS)
        texts = {pk: rest for pk, *rest in texts_rows}
        yield [(row[0], *texts[row[0]], *row[1:]) for row in batch]


def find_simulated(stage: Stage, candidates: Iterable[int]) -> set[int]:
    """Those of the candidates of which a program gave at least one of the judgments in place of a person."""
    rows = Judgment.objects.filter(stage=stage, candidate__in=list(candidates), worker__simulated=True)
    return set(rows.order_by().values_list("candidate_id", flat=True).distinct())


def comments_on(stage: Stage, candidates: Sequence[int]) -> dict[int, list[str]]:
    """What judges wrote beside their scores of the candidates, in the order of their work."""
    rows = Judgment.objects.filter(stage=stage, candidate__in=candidates).exclude(comment="").order_by("pk")
    comments: dict[int, list[str]] = {}
    for candidate, comment in rows.values_list("candidate_id", "comment"):
        comments.setdefault(candidate, []).append(comment)
    return comments


def systems(stage: Stage) -> list[str]:
    """Names of the project's systems that have answers."""
    answered = Exists(Candidate.objects.filter(system=OuterRef("pk")))
    return sorted(System.objects.filter(answered, project=stage.project_id).values_list("name", flat=True))


# How many queries have all their answers of systems scored.

KIND = "judging"


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """Queries that have answers of systems to judge: all of them, and those with every answer scored.

    Answers of systems that no judging stage asks about do not count.
    """

    queries: int
    scored: int


def count_judged_queries(project: Project) -> JudgedQueries | None:
    """Counts of a project; None where no system has answers. Where counting takes long, of a while ago.

    An answer is scored when its score was imported or the filters in force left it one; in a stage without
    filters, when it has as many judgments as the stage asks for (the least number, where it asks until it is
    sure).
    """
    if not Candidate.objects.filter(system__project=project).exists():
        return None
    key = (
        "judged-queries",
        project.pk,
        last_event(project, "candidate"),
        last_event(project, "filter"),
    )
    return cached(key, partial(_count_judged, project))


def _count_judged(project: Project) -> JudgedQueries:
    """Count queries, and those of which an answer lacks a score.

    What is missing is asked for by EXISTS, which PostgreSQL joins at any size: by NOT IN it looks through all
    scores for each answer as soon as their keys outgrow its `work_mem`.
    """
    stages = list(Stage.objects.filter(project=project, kind=KIND).order_by("pk"))
    runs = dict(FilterRun.objects.in_force().filter(stage__in=stages).values_list("stage", "pk"))
    rows = to_judge(project).order_by()
    systems_by_stage = [judging_config(stage).systems for stage in stages]
    if systems_by_stage and all(systems_by_stage):
        rows = rows.filter(system__name__in={name for names in systems_by_stage for name in names})
    every = rows.aggregate(n=Count("query", distinct=True))["n"]
    scores = Score.objects.filter(run__in=list(runs.values()), mean__isnull=False, candidate=OuterRef("pk"))
    unscored = rows.filter(~Exists(scores), imported_score=None)
    unfiltered = [stage for stage in stages if stage.pk not in runs]
    if not unfiltered:
        return JudgedQueries(every, every - unscored.aggregate(n=Count("query", distinct=True))["n"])
    enough = {pk for stage in unfiltered for pk in _asked_enough(stage)}
    lacking = {query for pk, query in unscored.values_list("pk", "query").iterator() if pk not in enough}
    return JudgedQueries(every, every - len(lacking))


def _asked_enough(stage: Stage) -> Iterator[int]:
    """Candidates with as many good judgments as a stage without filters asks for."""
    config = judging_config(stage)
    enough = stage.redundancy if config.redundancy_mode == "fixed" else config.least_judgments
    rows = good(Judgment.objects.filter(stage=stage), stage).order_by().values("candidate")
    judgment_counts = rows.annotate(n=Count("pk")).filter(n__gte=enough)
    return judgment_counts.values_list("candidate", flat=True).iterator()
