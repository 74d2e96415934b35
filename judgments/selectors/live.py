"""Figures of a stage while judgments come in, from counts of scores, without reading a judgment.

And what follows from them for a study: how many answers and judges it needs, and what they cost.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, isnan
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db.models import Count, QuerySet

from core.projects.models import Project
from crowd.models import Stage
from crowd.services.publication import fee, sizes
from judgments.models import Candidate, FilterRun, Judgment, Score, System
from judgments.selectors.ratings import Stamp, good, newer_than, scale_of, stamp_of
from metrics.agreement.scale import Scale
from web.cache import cached

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from metrics.agreement.planning import ScoreSpread
    from metrics.figure import Figure

    Floats = npt.NDArray[np.float64]
    Keys = npt.NDArray[np.int64]
    Counts = npt.NDArray[np.int64]


# How often each candidate got each score, without reading a row: enough for alpha while a stage runs.

_KEPT_SECONDS = 3600


@dataclass(frozen=True, slots=True, eq=False)
class ScoreCounts:
    """(n_items, V) counts of good judgments, a column per score; `candidates` are the rows."""

    candidates: "Counts"
    counts: "Counts"
    stamp: Stamp

    @property
    def judgments(self) -> int:
        """How many there are."""
        return int(self.counts.sum())


def score_counts(stage: Stage, stamp: Stamp, low: int, size: int) -> ScoreCounts:
    """Counts of all good judgments under a stamp."""
    key = ("score-counts", stage.pk, low, size)
    return cached(key, partial(_count_scores, stage, stamp, low, size), stamp=stamp)


def _count_scores(stage: Stage, stamp: Stamp, low: int, size: int) -> ScoreCounts:
    import numpy as np  # start-up does without numpy

    grouped = (
        _good_until(stage, stamp).order_by().values_list("candidate_id", "score").annotate(n=Count("pk"))
    )
    rows = np.array(list(grouped), dtype=np.int64).reshape(-1, 3)
    candidates, at = np.unique(rows[:, 0], return_inverse=True)
    counts = np.zeros((len(candidates), size), dtype=np.int64)
    counts[at, rows[:, 1] - low] = rows[:, 2]
    return ScoreCounts(candidates, counts, stamp)


_CHUNK = 10_000
#: Upper ends of the classes of per-item standard deviations, in points of a scale of 1 to 5; on a scale that
#: is longer than labels make it they grow with it.
_SPREADS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5)
_POINTS, _LONG = 4, 6
_LEAST_ITEMS = 2


@dataclass(frozen=True, slots=True)
class SystemScore:
    """Mean of a system's item means with its 95 % interval over items (t); None where it has none."""

    system: str
    items: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Live:
    """What is known without reading rows; `systems` of all good judgments, `kept_scores` of the run."""

    stamp: Stamp
    judgments: int
    items: int
    workers: int
    alpha: dict[str, "Figure"]
    percent: "Figure"
    icc: "Figure"
    icc_mean: "Figure"
    scale: Scale
    histogram: list[tuple[float | int, int]]
    sizes: list[tuple[int, int]]
    spreads: list[tuple[str, int]]
    systems: list[SystemScore]
    kept_scores: dict[str, SystemScore]

    @property
    def per_item(self) -> float | None:
        """Judgments per item, mean."""
        return self.judgments / self.items if self.items else None


def live(stage: Stage) -> Live:
    """The figures now; cached until something changes, and a while longer where counting takes long."""
    stamp, scale = stamp_of(stage), scale_of(stage)

    def count() -> Live:
        return _build_live(stage, score_counts(stage, stamp, scale.low, scale.size), stamp)

    return cached(("live", stage.pk, stamp.run, stamp.remade), count, stamp=stamp)


def _good_until(stage: Stage, stamp: Stamp) -> QuerySet[Judgment]:
    """The good judgments of a stamp."""
    judgments = Judgment.objects.filter(stage=stage, pk__lte=stamp.last)
    return good(judgments, stage) if stamp.spoilt else judgments


def _build_live(stage: Stage, score_table: ScoreCounts, stamp: Stamp) -> Live:
    from metrics.agreement.alpha import LEVELS, alpha, percent_agreement
    from metrics.agreement.data import Sums
    from metrics.agreement.reliability import one_way

    scale = scale_of(stage)
    counts, steps, unit = score_table.counts, scale.steps, float(scale.unit)
    sums = Sums(counts.sum(axis=1), counts @ steps, counts @ (steps * steps))
    given_each = counts.sum(axis=0).tolist()
    correlations = one_way(sums)
    systems = systems_of(stage, score_table.candidates)
    return Live(
        stamp=stamp,
        judgments=score_table.judgments,
        items=len(counts),
        workers=_good_until(stage, stamp).order_by().values("worker").distinct().count(),
        alpha={level: alpha(counts, scale.values, level) for level in LEVELS},
        percent=percent_agreement(counts),
        icc=correlations.single,
        icc_mean=correlations.mean,
        scale=scale,
        histogram=[(scale.number(step), given_each[step - scale.low]) for step in scale.scores],
        sizes=_sizes(sums.n),
        spreads=_spreads(sums.variance * unit**2, scale),
        systems=_by_system(systems, sums.mean * unit),
        kept_scores=_kept_scores(stamp, systems, score_table.candidates),
    )


def _sizes(n: "Keys") -> list[tuple[int, int]]:
    import numpy as np  # start-up does without numpy

    return [(size, int(count)) for size, count in enumerate(np.bincount(n)) if count]


def _spreads(variance: "Floats", scale: Scale) -> list[tuple[str, int]]:
    """How many items have a standard deviation in each class; items with one judgment are in none."""
    import numpy as np

    low, high = scale.ends
    times = (high - low) / _POINTS if high - low > _LONG else 1.0
    ends = [times * end for end in _SPREADS]
    sd = np.sqrt(variance[~np.isnan(variance)])
    classes = np.searchsorted(ends, sd - 1e-12 * max(1.0, times))
    class_counts = np.bincount(classes, minlength=len(ends) + 1).tolist()
    names = ["0"]
    names += [f"to {end:g}" for end in ends[1:]]
    names.append(f"above {ends[-1]:g}")
    return list(zip(names, class_counts, strict=True))


def systems_of(stage: Stage, candidates: "Keys") -> list[str]:
    """The system of each candidate, by name; asked for once, for it never changes."""
    key = f"judgments-systems:{stage.pk}"
    systems: dict[int, str] = cache.get(key, {})
    if not all(pk in systems for pk in candidates.tolist()):
        names = dict(System.objects.filter(project=stage.project_id).values_list("pk", "name"))
        rows = Candidate.objects.filter(system__in=names).order_by().values_list("pk", "system_id")
        systems = {pk: names[system] for pk, system in rows.iterator(chunk_size=_CHUNK)}
        cache.set(key, systems, _KEPT_SECONDS)
    return [systems[pk] for pk in candidates.tolist()]


def _by_system(systems: list[str], means: "Floats") -> list[SystemScore]:
    """Best first. Items without a mean are left out."""
    import numpy as np
    from scipy.special import stdtrit

    each: dict[str, list[float]] = defaultdict(list)
    for system, mean in zip(systems, means.tolist(), strict=True):
        if not isnan(mean):
            each[system].append(mean)
    scores = []
    for system, values in each.items():
        n, mean = len(values), float(np.mean(values))
        half = None
        if n >= _LEAST_ITEMS:
            half = float(stdtrit(n - 1, 0.975)) * float(np.std(values, ddof=1)) / n**0.5
        scores.append(
            SystemScore(
                system, n, mean, None if half is None else mean - half, None if half is None else mean + half
            )
        )
    return sorted(scores, key=lambda row: (-row.mean, row.system))


def _kept_scores(stamp: Stamp, systems: list[str], candidates: "Keys") -> dict[str, SystemScore]:
    if not stamp.run:
        return {}
    import numpy as np

    rows = Score.objects.filter(run=stamp.run).order_by().values_list("candidate_id", "mean")
    means = {pk: np.nan if mean is None else mean for pk, mean in rows.iterator(chunk_size=_CHUNK)}
    column = np.array([means.get(pk, np.nan) for pk in candidates.tolist()], dtype=np.float64)
    return {row.system: row for row in _by_system(systems, column)}


def in_force(stage: Stage) -> FilterRun | None:
    """The filter run in force."""
    return FilterRun.objects.in_force().filter(stage=stage).select_related("created_by").first()


@dataclass(frozen=True, slots=True)
class LateJudgments:
    """Judgments of a stage that came after its filters were applied, which no release counts."""

    stage: Stage
    count: int

    def __str__(self) -> str:
        count_phrase = "1 judgment is" if self.count == 1 else f"{self.count:,} judgments are"
        return f"{self.stage.title}: {count_phrase} newer than the filters, and in no score of a release."


def list_late_judgments(project: Project) -> list[LateJudgments]:
    """The stages of a project in which such judgments wait for the filters to be applied again."""
    runs = FilterRun.objects.in_force().filter(stage__project=project).select_related("stage")
    counts = ((run.stage, newer_than(run.stage, run.last_judgment)) for run in runs.order_by("stage"))
    return [LateJudgments(stage, count) for stage, count in counts if count]


# How many answers and judges a study needs, and what they cost at a stage's reward and fees.

#: Judges per answer that the table of two systems shows.
JUDGES = (1, 2, 3, 5, 7, 10, 15)
MOST_JUDGES = 20


@dataclass(frozen=True, slots=True)
class Design:
    """So many judges per answer need so many questions, which both systems answer."""

    judges: int
    questions: int
    judgments: int
    cents: int
    cheapest: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """Reliability of the mean of n judgments, None with a reason, and what all answers cost with n each."""

    n: int
    reliability: float | None
    reason: str
    width: float
    cents: int
    is_of_stage: bool


def cost(stage: Stage, answers: int, judges: int) -> int:
    """Cents for so many judges for each of so many answers: rewards and fees, HITs split as they would be."""
    per_hit = sum(size * (stage.reward_cents + fee(stage, size)) for size in sizes(stage, judges))
    return ceil(answers / stage.units_per_hit) * per_hit


def designs(stage: Stage, spread: "ScoreSpread", difference: float, power: float) -> list[Design]:
    """Designs that find a true difference of two systems' means with this power."""
    from metrics.agreement.planning import items_for_systems

    design_list = []
    for judges in JUDGES:
        questions = items_for_systems(spread, ratings=judges, difference=difference, power=power)
        answers = 2 * questions
        design_list.append(Design(judges, questions, answers * judges, cost(stage, answers, judges)))
    return _with_cheapest(design_list)


def pair_designs(stage: Stage, share: float, ties: float, correlation: float, power: float) -> list[Design]:
    """Designs that find which of two systems is preferred; a pair is a question that both answered."""
    from metrics.agreement.planning import comparisons_for_pairs

    design_list = []
    for judges in JUDGES:
        comparisons = comparisons_for_pairs(
            share, ties=ties, judges=judges, correlation=correlation, power=power
        )
        pairs = -(-comparisons // judges)
        design_list.append(Design(judges, pairs, pairs * judges, cost(stage, pairs, judges)))
    return _with_cheapest(design_list)


def _with_cheapest(design_list: list[Design]) -> list[Design]:
    least = min(each.cents for each in design_list)
    return [replace(each, cheapest=each.cents == least) for each in design_list]


def steps(stage: Stage, one: float | None, answers: int) -> list[Step]:
    """Reliability at 1 to 20 judges from the agreement of single judgments (Spearman-Brown)."""
    from metrics.agreement.planning import reliability_table

    return [
        Step(
            step.n,
            step.reliability.value,
            step.reliability.reason,
            round(100 * (step.reliability.value or 0), 2),
            cost(stage, answers, step.n),
            step.n == stage.redundancy,
        )
        for step in reliability_table(one, MOST_JUDGES)
    ]


def spread_of_stage(stage: Stage, now: Live) -> "ScoreSpread | Figure | None":
    """What the stage's own judgments show, of its two systems with most answers; None for fewer."""
    import numpy as np  # start-up does without numpy

    from metrics.agreement.data import Sums
    from metrics.agreement.planning import ScoreSpread, spread_of

    names = [row.system for row in sorted(now.systems, key=lambda row: (-row.items, row.system))[:2]]
    if len(names) < 2:
        return None
    scale = scale_of(stage)
    score_table = score_counts(stage, now.stamp, scale.low, scale.size)
    systems = systems_of(stage, score_table.candidates)
    queries = dict(
        Candidate.objects.filter(system__project=stage.project_id, system__name__in=names)
        .order_by()
        .values_list("pk", "query_id")
    )
    rows: dict[str, dict[int, int]] = {name: {} for name in names}
    for at, (key, system) in enumerate(zip(score_table.candidates.tolist(), systems, strict=True)):
        if system in rows:
            rows[system][queries[key]] = at
    common = sorted(set(rows[names[0]]) & set(rows[names[1]]))

    def sums(name: str) -> Sums:
        counts = score_table.counts[np.array([rows[name][query] for query in common], dtype=np.int64)]
        values = scale.steps
        return Sums(counts.sum(axis=1), counts @ values, counts @ (values * values))

    spread, unit = spread_of(sums(names[0]), sums(names[1])), float(scale.unit)
    if not isinstance(spread, ScoreSpread):
        return spread
    return ScoreSpread(spread.sd_difference * unit, spread.sd_rating * unit)
