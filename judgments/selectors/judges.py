"""The people who judge: how much, how fast, how far they agree, and what filters say of them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

from django.db.models import Count, IntegerField, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from core.projects.models import Project
from crowd.models import Assignment, Exclusion, Stage, Worker
from judgments.models import Candidate, CheckAnswer, FilterRun, Judgment, Score, Verdict
from judgments.score_classes import score_classes
from judgments.selectors.live import live
from judgments.selectors.ratings import Stamp, checks_of, good, ratings_of_stage, scale_of, stamp_of, times_of
from metrics.agreement.quotes import wilson
from web.cache import cached

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from metrics.agreement.data import Ratings

# One judge: what they said and how fast, their checks, their record over projects that one may see.

#: Upper ends of the classes of time, in seconds of one HIT.
_CLASSES = (5, 10, 20, 40, 60, 120, 300)
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class TimePlot:
    """Time across, scores down from the highest: how many judgments of every combination."""

    classes: list[str]
    rows: list[tuple[float | int | str, list[int]]]


@dataclass(frozen=True, slots=True)
class Share:
    """A score or class of scores: how often this judge gave it, and all together, in percent of their own."""

    score: float | int | str
    count: int
    mine: float
    crowd: float


@dataclass(frozen=True, slots=True)
class ProjectRecord:
    """What somebody did in one project."""

    project: Project
    judgments: int
    removed: int
    presented: int
    failed: int
    rejected: int


def time_plot(stage: Stage, worker: Worker) -> TimePlot | None:
    """Seconds of the HIT against the score; None where there are no judgments. Of the newest 20,000."""
    active = Cast(KeyTextTransform("active_ms", "assignment__telemetry"), IntegerField())
    rows = (
        good(Judgment.objects.filter(stage=stage, worker=worker), stage)
        .order_by("-pk")
        .annotate(active=active)
        .values_list("score", "active", "assignment__arrived_at", "assignment__stored_at")[:_MOST]
    )
    counts: Counter[tuple[int, int]] = Counter()
    for score, ms, arrived, stored in rows:
        seconds = ms / 1000 if ms else (stored - arrived).total_seconds() if stored else None
        if seconds is not None:
            counts[score, sum(seconds > high for high in _CLASSES)] += 1
    if not counts:
        return None
    names = [f"≤ {high} s" if high < 60 else f"≤ {high // 60} min" for high in _CLASSES]
    names.append(f"> {_CLASSES[-1] // 60} min")
    table: list[tuple[float | int | str, list[int]]] = [
        (each.name, [sum(counts[step, column] for step in each.steps) for column in range(len(names))])
        for each in reversed(score_classes(scale_of(stage)))
    ]
    return TimePlot(names, table)


def histogram(stage: Stage, worker: Worker) -> list[Share]:
    """This judge's scores beside everybody's; of a long scale in classes."""
    scale = scale_of(stage)
    judgments = good(Judgment.objects.filter(stage=stage, worker=worker), stage)
    mine = dict(judgments.order_by().values_list("score").annotate(n=Count("pk")))
    crowd = dict(zip(scale.scores, (count for _, count in live(stage).histogram), strict=True))
    my_total, total = sum(mine.values()) or 1, sum(crowd.values()) or 1
    shares = []
    for each in score_classes(scale):
        own, all_of_it = (sum(counts.get(step, 0) for step in each.steps) for counts in (mine, crowd))
        shares.append(Share(each.name, own, 100 * own / my_total, 100 * all_of_it / total))
    return shares


def check_answers(stage: Stage, worker: Worker) -> Any:
    """Their answers to attention checks, newest first."""
    rows = CheckAnswer.objects.filter(check_item__stage=stage, worker=worker)
    return rows.select_related("check_item__query", "assignment").order_by("-pk")


def verdicts(stage: Stage, worker: Worker) -> list[Verdict]:
    """What the filters in force say about this judge as a whole."""
    runs = FilterRun.objects.in_force().filter(stage=stage)
    rows = Verdict.objects.filter(run__in=runs, worker=worker, judgment=None, response=None)
    return list(rows.order_by("pk"))


def judgments_of(stage: Stage, worker: Worker) -> Any:
    """What they judged, newest first; `with_verdicts` adds what filters say."""
    rows = good(Judgment.objects.filter(stage=stage, worker=worker), stage)
    return rows.select_related("candidate__query", "candidate__system").order_by("-pk")


def with_verdicts(stage: Stage, rows: Sequence[Judgment]) -> list[tuple[Judgment, Verdict | None]]:
    """Judgments with what the filters in force say of each."""
    verdict_rows = Verdict.objects.filter(
        run__in=FilterRun.objects.in_force().filter(stage=stage),
        removes=True,
        judgment__in=[row.pk for row in rows],
    )
    by_judgment = {verdict.judgment_id: verdict for verdict in verdict_rows}
    return [(row, by_judgment.get(row.pk)) for row in rows]


@dataclass(frozen=True, slots=True)
class StageJudgments:
    """What one judging stage said about an answer: all of its judgments, and the kept ones.

    `scores` has the scores or classes of scores in the scale's order, with how many judges gave them.
    """

    stage: Stage
    judgments: int
    mean: float
    score: Score | None
    scores: list[tuple[float | int | str, int]]
    rows: list[tuple[Judgment, Verdict | None]]


#: Judgments of a stage that the page of an answer lists.
MOST_SHOWN = 100


def stages_that_judged(candidate: Candidate) -> list[Stage]:
    """The stages that judged an answer, the newest first."""
    judged = Judgment.objects.filter(candidate=candidate).values("stage")
    return list(Stage.objects.filter(pk__in=judged).select_related("project").order_by("-pk"))


def judgments_in(candidate: Candidate, stage: Stage) -> StageJudgments:
    """What a stage that judged an answer said about it."""
    rows = Judgment.objects.filter(candidate=candidate, stage=stage)
    counts = dict(rows.order_by().values_list("score").annotate(n=Count("pk")))
    scale, total = scale_of(stage), sum(counts.values())
    mean = sum(step * count for step, count in counts.items()) / total * float(scale.unit)
    in_force = FilterRun.objects.in_force().filter(stage=stage)
    classes = [(each.name, sum(counts.get(step, 0) for step in each.steps)) for each in score_classes(scale)]
    shown = list(rows.select_related("worker").order_by("pk")[:MOST_SHOWN])
    kept = candidate.scores.filter(run__in=in_force).first()
    return StageJudgments(stage, total, mean, kept, classes, with_verdicts(stage, shown))


def record(worker: Worker, projects: Any) -> list[ProjectRecord]:
    """Their judging in these projects, in five questions however many there are."""
    keys = list(projects.values_list("pk", flat=True))
    judgment_counts = _by_project(
        Judgment.objects.filter(worker=worker, assignment__state__in=Assignment.GOOD), "stage"
    )
    removed = _by_project(
        Verdict.objects.filter(
            worker=worker, removes=True, judgment__isnull=False, run__in=FilterRun.objects.in_force()
        ),
        "run__stage",
    )
    answers = CheckAnswer.objects.filter(worker=worker, assignment__state__in=Assignment.GOOD)
    checks = {
        project: (presented, failed)
        for project, presented, failed in answers.order_by()
        .values_list("check_item__stage__project")
        .annotate(presented=Count("pk"), failed=Count("pk", filter=Q(passed=False)))
    }
    rejected = _by_project(
        Assignment.objects.filter(worker=worker, state=Assignment.State.REJECTED, stage__kind="judging"),
        "stage",
    )
    seen = [key for key in keys if key in judgment_counts or key in checks or key in rejected]
    projects_by_id = Project.objects.in_bulk(seen)
    return [
        ProjectRecord(
            projects_by_id[key],
            judgment_counts.get(key, 0),
            removed.get(key, 0),
            *checks.get(key, (0, 0)),
            rejected.get(key, 0),
        )
        for key in sorted(seen, key=lambda key: -judgment_counts.get(key, 0))
    ]


def _by_project(rows: Any, stage: str) -> dict[int, int]:
    return dict(rows.order_by().values_list(f"{stage}__project").annotate(n=Count("pk")))


#: Below so many judgments nobody is ranked.
ENOUGH = 20
_LEAST_KAPPA, _LEAST_OF_KAPPA = 0.2, 10
_FAST = 1 / 3
_SAME = 0.95

SHOWN = {
    "all": "All",
    "flagged": "Flagged",
    "removed": "Removed by filters",
    "unsure": "Too little known",
    "excluded": "Excluded",
}


@dataclass(slots=True)
class Judge:
    """One judge's figures in a stage; times in seconds of one HIT, shares 0 to 1, pay in cents an hour."""

    worker: int
    name: str
    simulated: bool
    ratings: int
    mean: float
    kappa: float | None
    kappa_n: int
    seconds: float | None
    quarter: float | None
    three_quarters: float | None
    per_hour: int | None
    presented: int
    failed: int
    removed: int
    verdict: str
    unsure: bool
    flags: tuple[str, ...]
    excluded: bool = False

    @property
    def enough(self) -> bool:
        """Enough judgments to stand in an order."""
        return self.ratings >= ENOUGH

    @property
    def passed_interval(self) -> tuple[float, float] | None:
        """Wilson's interval of the share of attention checks that they passed."""
        return wilson(self.presented - self.failed, self.presented)

    @property
    def removed_share(self) -> float:
        """Of their judgments, by the filters in force."""
        return self.removed / self.ratings if self.ratings else 0.0


def judges(stage: Stage) -> list[Judge]:
    """All who gave a good judgment; kept until judgments or filters change. Exclusions are of now."""
    stamp = stamp_of(stage)
    check_count = CheckAnswer.objects.filter(check_item__stage=stage).count()
    judge_rows = cached(
        ("judges", stage.pk, stamp.run, stamp.remade),
        partial(_count_judges, stage, stamp),
        stamp=(stamp, check_count),
    )
    excluded = set(Exclusion.objects.filter(scope=f"stage:{stage.pk}").values_list("worker_id", flat=True))
    return [replace(row, excluded=True) if row.worker in excluded else row for row in judge_rows]


def _count_judges(stage: Stage, stamp: Stamp) -> list[Judge]:
    import numpy as np  # start-up does without numpy

    from metrics.agreement.filters import duplicates
    from metrics.agreement.kappa import pooled

    columns = ratings_of_stage(stage)
    ratings = columns.ratings
    if not len(ratings):
        return []
    kappas = pooled(ratings.only(~duplicates(ratings)))
    unit = float(ratings.scale.unit)
    # A response with several parts has a rating for each, and is one piece of work.
    _, first = np.unique(columns.judgments, return_index=True)
    n = np.bincount(ratings.workers[first], minlength=ratings.n_workers)
    rated = np.bincount(ratings.workers, minlength=ratings.n_workers)
    sums = np.bincount(ratings.workers, weights=ratings.scores, minlength=ratings.n_workers)
    most = _most_common_share(ratings)
    times = times_of(stage)
    usual = median([second for seconds_list in times.values() for second in seconds_list]) if times else None
    checks = checks_of(stage)
    removed, verdicts, unsure = _verdicts(stamp)
    simulated = set(
        Worker.objects.filter(assignments__stage=stage, simulated=True).values_list("pk", flat=True)
    )
    judge_rows = []
    for code, worker in enumerate(columns.workers.tolist()):
        presented, failed = checks.get(worker, (0, 0))
        seconds_list = times.get(worker, [])
        middle = median(seconds_list) if seconds_list else None
        quarters = quantiles(seconds_list, n=4) if len(seconds_list) > 1 else [None, None, None]
        kappa = float(kappas.kappa[code])
        row = Judge(
            worker=worker,
            name=ratings.worker_names[code],
            simulated=worker in simulated,
            ratings=int(n[code]),
            mean=float(sums[code] / rated[code]) * unit,
            kappa=None if isnan(kappa) else kappa,
            kappa_n=int(kappas.n[code]),
            seconds=middle,
            quarter=quarters[0],
            three_quarters=quarters[2],
            per_hour=int(stage.reward_cents * 3600 / max(1.0, middle)) if middle is not None else None,
            presented=presented,
            failed=failed,
            removed=removed[worker],
            verdict=verdicts.get(worker, ""),
            unsure=worker in unsure,
            flags=(),
        )
        row.flags = tuple(_flags(row, usual, float(most[code])))
        judge_rows.append(row)
    return judge_rows


def _most_common_share(ratings: "Ratings") -> "npt.NDArray[np.float64]":
    """Share of the score that each worker gave most often."""
    import numpy as np

    size = ratings.scale.size
    cells = ratings.workers.astype(np.int64) * size + (ratings.scores - ratings.scale.low)
    table = np.bincount(cells, minlength=ratings.n_workers * size).reshape(-1, size)
    shares: npt.NDArray[np.float64] = table.max(axis=1) / np.maximum(1, table.sum(axis=1))
    return shares


def _flags(row: Judge, usual: float | None, same: float) -> list[str]:
    """What somebody should look at, whatever filters are in force."""
    flags = []
    if row.kappa is not None and row.kappa_n >= _LEAST_OF_KAPPA and row.kappa < _LEAST_KAPPA:
        flags.append("low kappa")
    if row.failed >= 2:
        flags.append("failed checks")
    if usual and row.seconds is not None and row.seconds < usual * _FAST:
        flags.append("very fast")
    if row.ratings >= _LEAST_OF_KAPPA and same >= _SAME:
        flags.append("always the same score")
    return flags


def _verdicts(stamp: Stamp) -> tuple[Counter[int], dict[int, str], set[int]]:
    """By the run in force: judgments removed per worker, rules that removed workers, who is undetermined."""
    mine = Verdict.objects.filter(run=stamp.run)
    removed = Counter(
        dict(
            mine.filter(removes=True)
            .exclude(judgment=None, response=None)
            .order_by()
            .values_list("worker_id")
            .annotate(n=Count("pk"))
        )
    )
    about = (
        mine.filter(judgment=None, response=None).order_by("pk").values_list("worker_id", "rule", "removes")
    )
    verdicts = {worker: rule for worker, rule, removes in about if removes}
    return removed, verdicts, {worker for worker, _, removes in about if not removes}


def filter_judges(rows: Sequence[Judge], show: str, text: str = "") -> list[Judge]:
    """Judges of a kind, or whose name has the words; those with few judgments come last."""
    filters: dict[str, Callable[[Judge], bool]] = {
        "all": lambda row: True,
        "flagged": lambda row: bool(row.flags),
        "removed": lambda row: bool(row.verdict),
        "unsure": lambda row: row.unsure,
        "excluded": lambda row: row.excluded,
    }
    matching = [row for row in rows if filters[show](row) and text.lower() in row.name.lower()]
    return sorted(matching, key=lambda row: (not row.enough, 0 if row.enough else -row.ratings, row.worker))
