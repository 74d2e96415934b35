"""What bounds a metric: how well people agree with people, floors that need no metric, references per query.

Ceilings come in two ways, both from the single ratings as they were before a filter removed any for being far
from the others: such a filter makes raters agree, also where they said nothing but noise. One leaves each
rater out in turn: their ratings stand against the mean of the others' ratings of the same answers. The other
deals the ratings of each answer into two halves at random and lets the halves' means stand against each
other; a half has fewer ratings than the score has, so the result is stepped up (Spearman 1910, Brown 1910).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metrics.figure import Figure
from metrics.metaeval.correlation import STATISTICS, column_correlation, related
from metrics.metaeval.data import NO_RATINGS, Codes, Floats, Indices, Raters, ScoredAnswers
from metrics.metaeval.executor import generator

SPLITS = 100
LEAST = 3
NOBODY = f"no rater has given different scores to {LEAST} answers that others rated too"
NO_PAIRS = f"fewer than {LEAST} answers have two ratings"
SAME = "a half of the ratings has a single value"
NEGATIVE = "the halves do not agree above chance"
#: Chance alone shows an agreement of halves in one of a hundred studies at most.
LEVEL = 0.01


def ceiling(answers: ScoredAnswers, *, seed: int, splits: int = SPLITS) -> dict[str, Any]:
    """`leave_one_out` and `split_half` as the report has them; null with a reason without single ratings."""
    raters = answers.raters
    if raters is None or not len(raters.scores):
        raters = Raters(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    return {
        "leave_one_out": leave_one_out(raters, len(answers), without=answers.no_ratings),
        "split_half": split_half(raters, len(answers), seed=seed, splits=splits, without=answers.no_ratings),
    }


def leave_one_out(raters: Raters, n: int, *, without: str = NO_RATINGS) -> dict[str, Any]:
    """By statistic, the mean over raters of the correlation of a rater with the mean of the others.

    A rater's correlation is over the answers that somebody else rated too, of which there must be three or
    more. In the mean it weighs as much as it has such answers; `n` says how many ratings that are, `raters`
    how many people. A repeated rating of an answer by the same person counts as one more rating. `without` is
    the reason where there are no ratings.
    """
    sums, counts = _totals(raters, n)
    shared = counts[raters.answers] > 1
    answers, workers, scores = raters.answers, raters.workers, raters.scores
    if not shared.all():
        answers, workers, scores = answers[shared], workers[shared], scores[shared]
    others = sums[answers]
    others -= scores
    others /= counts[answers] - 1
    order = np.lexsort((answers, workers))
    ends = np.flatnonzero(np.diff(workers[order])) + 1
    of_rater = [rows for rows in np.split(order, ends) if len(rows) >= LEAST]
    section: dict[str, Any] = {}
    for name in STATISTICS:
        correlations = [
            (related(scores[rows], others[rows], name).figure.value, len(rows)) for rows in of_rater
        ]
        section[name] = _weighted(
            [(value, size) for value, size in correlations if value is not None],
            NOBODY if len(raters.scores) else without,
        )
    return section


def split_half(
    raters: Raters, n: int, *, seed: int, splits: int = SPLITS, without: str = NO_RATINGS
) -> dict[str, Any]:
    """How two halves of the ratings agree, over answers with at least two: the mean of `splits` deals.

    Each answer's ratings are dealt at random into two halves of the same size; of an odd number one is left
    out. By statistic: `half` is the correlation of the halves' means, `value` that of two full sets of
    ratings by Spearman-Brown, k r / (1 + (k - 1) r) with k = all ratings / ratings in a half, from the mean
    r. It is null where the answers' means differ no more than noise makes them differ (one-way analysis of
    variance, p >= 0.01): the root of what is left of chance would look like agreement. `highest` is the root
    of the stepped-up Pearson's r: what a metric that knew the true scores would reach against the observed
    ones.
    """
    splittable, sizes = _splittable(raters, n)
    answers, scores = raters.answers, raters.scores
    if len(splittable) < len(scores):
        answers, scores = answers[splittable], scores[splittable]
    if len(sizes) < LEAST:
        none = Figure(None, NO_PAIRS if len(raters.scores) else without, n=len(sizes)).as_json()
        return {**dict.fromkeys(STATISTICS, none), "highest": none, "splits": 0, "ratings_per_answer": None}
    halves = _Halves(answers, scores, sizes)
    correlations: dict[str, list[float]] = {name: [] for name in STATISTICS}
    for split in range(splits):
        first, second = halves.dealt(generator(seed, "split-half", split))
        for name in STATISTICS:
            correlations[name].append(column_correlation(first, second, name))
    chance = _by_chance(answers, scores)
    longer = float(sizes.sum() / (sizes // 2).sum())
    section: dict[str, Any] = {}
    for statistic, values in correlations.items():
        defined = [value for value in values if not math.isnan(value)]
        half = math.fsum(defined) / len(defined) if defined else math.nan
        section[statistic] = _stepped(half, longer, len(sizes), chance=chance)
    full = section["pearson"]["value"]
    root = (
        Figure(math.sqrt(full), n=len(sizes))
        if full is not None
        else Figure(None, section["pearson"]["reason"])
    )
    return {**section, "highest": root.as_json(), "splits": splits, "ratings_per_answer": float(sizes.mean())}


#: Ratings that are shuffled together.
_AT_ONCE = 1 << 18


class _Halves:
    """Ratings of answers that have two or more, ready to be dealt again and again."""

    def __init__(self, answers: Codes, scores: Floats, sizes: Codes) -> None:
        order = np.lexsort((scores, answers))
        self.scores, self.sizes = scores[order], sizes
        self.starts = np.cumsum(sizes) - sizes

    def dealt(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """The mean of each half of each answer's ratings."""
        keys = rng.random(len(self.scores))
        first, second = np.zeros(len(self.sizes)), np.zeros(len(self.sizes))
        for size in np.unique(self.sizes).tolist():
            own = np.flatnonzero(self.sizes == size)
            for begin in range(0, len(own), max(1, _AT_ONCE // size)):
                block = own[begin : begin + max(1, _AT_ONCE // size)]
                first[block], second[block] = self._of(block, size, keys)
        return first, second

    def _of(self, answers: Indices, size: int, keys: Floats) -> tuple[Floats, Floats]:
        """Means of both halves of answers with so many ratings, dealt by keys; an odd one is left out."""
        places = self.starts[answers, None] + np.arange(size)
        shuffled = np.take_along_axis(
            self.scores[places], np.argsort(keys[places], axis=1, kind="stable"), axis=1
        )
        half = size // 2
        first, second = np.zeros(len(answers)), np.zeros(len(answers))
        for place in range(half):  # one after the other: the last bit of a sum depends on the order
            first += shuffled[:, place]
            second += shuffled[:, half + place]
        return first / half, second / half


def _splittable(raters: Raters, n: int) -> tuple[Codes, Codes]:
    """The ratings of answers that have two or more, and how many each such answer has."""
    _, counts = _totals(raters, n)
    rows = np.flatnonzero(counts[raters.answers] > 1).astype(np.int32)
    return rows, counts[counts > 1].astype(np.int32)


def _totals(raters: Raters, n: int) -> tuple[Floats, Codes]:
    sums = np.bincount(raters.answers, weights=raters.scores, minlength=n)
    return np.asarray(sums, np.float64), np.bincount(raters.answers, minlength=n).astype(np.int32)


def _by_chance(answers: Codes, scores: Floats) -> bool:
    """Whether ratings dealt to answers at random would differ as much between answers as these do."""
    from scipy.stats import f  # takes a while to load

    counts = np.bincount(answers)
    rated = counts > 0
    sizes = counts[rated]
    means = np.bincount(answers, weights=scores)[rated] / sizes
    between = float(sizes @ np.square(means - scores.mean())) / (len(sizes) - 1)
    apart = means[np.cumsum(rated)[answers] - 1]
    np.subtract(scores, apart, out=apart)
    within = float(np.square(apart, out=apart).sum()) / (len(scores) - len(sizes))
    if within <= 0:
        return False
    return bool(f.sf(between / within, len(sizes) - 1, len(scores) - len(sizes)) >= LEVEL)


def _stepped(half: float, longer: float, n: int, *, chance: bool) -> dict[str, Any]:
    if math.isnan(half):
        return {**Figure(None, SAME, n=n).as_json(), "half": None}
    if half <= 0 or chance:
        return {**Figure(None, NEGATIVE, n=n).as_json(), "half": half}
    return {**Figure(longer * half / (1 + (longer - 1) * half), n=n).as_json(), "half": half}


def _weighted(values_and_sizes: Sequence[tuple[float, int]], why: str) -> dict[str, Any]:
    """The weighted mean, the same for any order of the raters."""
    total = sum(size for _, size in values_and_sizes)
    if not total:
        return {**Figure(None, why, n=0).as_json(), "raters": 0}
    value = math.fsum(value * size for value, size in values_and_sizes) / total
    return {**Figure(value, n=total).as_json(), "raters": len(values_and_sizes)}


# Metrics that nobody would publish. A metric that is no better than they are has learned nothing, and a
# data set on which they do well is no benchmark.

OF_THE_OTHERS = "this floor is made of the human scores of the other answers to the question"
ONE_VALUE = "this floor has one value per system: its own human mean"


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """Scores of a floor, what they are in words, and the groupings in which they mean nothing, with why."""

    title: str
    scores: Floats
    without: Mapping[str, str] = field(default_factory=dict)


def floors(answers: ScoredAnswers) -> dict[str, Floor]:
    """The floors that these data allow, by name.

    `length`: number of tokens of the answer. `length-difference`: minus the distance between that and the
    mean length of the references. `question`: the same for every answer to a question but for its own part,
    the mean human score of the question's other answers; it knows how hard the question is and nothing of
    the answer; shares of comparisons won say nothing of the question. `system`: the mean human score of the
    system that answered; it knows who answered and nothing of the answer.
    """
    by_name = {}
    if answers.lengths is not None:
        by_name["length"] = Floor("Length of the answer", answers.lengths)
        if answers.reference_lengths is not None:
            distance = -np.abs(answers.lengths - answers.reference_lengths)
            by_name["length-difference"] = Floor("Closeness of its length to its references'", distance)
    if answers.pairs is None:
        by_name["question"] = Floor(
            "What the question's other answers got",
            _mean_of_others(answers.human, answers.questions),
            dict.fromkeys(("item", "pairs"), OF_THE_OTHERS),
        )
    by_name["system"] = Floor(
        "What the system gets on average",
        _mean(answers.human, answers.systems),
        dict.fromkeys(("by_system", "system"), ONE_VALUE),
    )
    return by_name


def _sums(human: Floats, groups: Codes) -> tuple[Floats, Floats]:
    """For each row the sum of the human scores in its group, and how many there are."""
    rated = ~np.isnan(human)
    size = int(groups.max(initial=-1)) + 1
    sums = np.bincount(groups, weights=np.where(rated, human, 0.0), minlength=size)
    counts = np.bincount(groups, weights=rated.astype(np.float64), minlength=size)
    return np.asarray(sums[groups], np.float64), np.asarray(counts[groups], np.float64)


def _mean(human: Floats, groups: Codes) -> Floats:
    sums, counts = _sums(human, groups)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _mean_of_others(human: Floats, groups: Codes) -> Floats:
    sums, counts = _sums(human, groups)
    rated = ~np.isnan(human)
    others = counts - rated
    mean = (sums - np.where(rated, human, 0.0)) / np.maximum(others, 1)
    # Equal means stay equal: what is left of a subtraction may differ in the last bits.
    return np.where(others > 0, np.round(mean, 12), np.nan)


# How many references does a query need? Correlation by their number, and planning from it.
#
# Mitra et al. 2016 ask in section 5 how to trade the number of queries for the number of answers per query.
# The curve is measured by leaving references out at random; what follows for another data set is a model of
# it.

#: Numbers of references at which the curve is measured, as far as there are as many.
STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50)
NOTHING = "not defined: too few answers, or a single value"
_MIDDLE = (2.5, 97.5)
#: The share of the limit that is near enough.
NEAR = 0.95
_NORMAL = 1.959964
_GRID = 2000


def steps_to(most: int) -> list[int]:
    """The numbers of references of a curve up to the most that there are."""
    return [*(step for step in STEPS if step < most), most]


def summarise(values: Sequence[float]) -> dict[str, Any]:
    """The mean of a correlation over samples of references, and the middle 95 % of the samples."""
    defined = [value for value in values if not math.isnan(value)]
    if not defined:
        return {"value": None, "middle": None, "n": 0, "reason": NOTHING}
    low, high = np.percentile(defined, _MIDDLE)
    return {
        "value": math.fsum(defined) / len(defined),
        "middle": [float(low), float(high)] if len(defined) > 1 else None,
        "n": len(defined),
    }


@dataclass(frozen=True, slots=True)
class ReferenceModel:
    """r(k) = limit * sqrt(k rho / (1 + (k - 1) rho)): a score from k references is Spearman-Brown reliable.

    `limit` is the correlation with ever more references, `rho` the reliability of a score from one; with
    rho 1 references do not matter. `error` is the root of the mean squared distance from the points.
    """

    limit: float
    rho: float
    error: float

    def at(self, k: float) -> float:
        """The correlation expected with k references."""
        return self.limit * math.sqrt(k * self.rho / (1 + (k - 1) * self.rho))


def fit(points: Sequence[tuple[int, float]]) -> ReferenceModel | None:
    """The model nearest to (k, r) by least squares; None for fewer than two numbers of references."""
    if len({k for k, _r in points}) < 2:
        return None
    k = np.array([each for each, _r in points], np.float64)
    r = np.array([each for _k, each in points], np.float64)
    rho = np.arange(1, _GRID + 1)[:, None] / _GRID
    shape: Floats = np.sqrt(k * rho / (1 + (k - 1) * rho))
    limits = np.clip((shape * r).sum(axis=1) / (shape * shape).sum(axis=1), -1, 1)
    errors = ((limits[:, None] * shape - r) ** 2).mean(axis=1)
    best = int(np.argmin(errors))
    return ReferenceModel(float(limits[best]), float(rho[best, 0]), math.sqrt(float(errors[best])))


def plan_references(points: Sequence[tuple[int, float]], *, questions: int) -> dict[str, Any]:
    """What a curve says of a new data set: references that are enough, and queries for as much work.

    `enough` is the least k with 95 % of the limit. `trade` holds, for the same number of references in all
    (questions times the most of the curve), the queries that k references each leave, the correlation
    expected and its 95 % interval by Fisher's z with queries for answers, wide on purpose:
    answers to a query go together. `best` is the k whose interval has the highest lower end.
    """
    model = fit(points)
    if model is None:
        return {"enough": None, "reason": "the curve has a single number of references"}
    most = max(k for k, _r in points)
    steps = [*steps_to(most), 2 * most]
    # k rho / (1 + (k - 1) rho) >= NEAR², solved for k.
    enough = math.ceil(NEAR**2 * (1 - model.rho) / (model.rho * (1 - NEAR**2)) - 1e-9)
    trade, reaches = [], {}
    for k in steps:
        questions_needed = questions * most // k
        expected = model.at(k)
        ends = reaches[k] = _fisher(expected, questions_needed)
        trade.append(
            {
                "references": k,
                "questions": questions_needed,
                "expected": expected,
                "ci": list(ends) if ends else None,
            }
        )
    lowest = [(ends[0], -k) for k, ends in reaches.items() if ends]
    return {
        "limit": model.limit,
        "reliability": model.rho,
        "error": model.error,
        "enough": max(enough, 1),
        "best": -max(lowest)[1] if lowest else None,
        "trade": trade,
    }


def _fisher(r: float, n: int) -> tuple[float, float] | None:
    if n < 4 or abs(r) >= 1:
        return None
    middle, reach = math.atanh(r), _NORMAL / math.sqrt(n - 3)
    return math.tanh(middle - reach), math.tanh(middle + reach)
