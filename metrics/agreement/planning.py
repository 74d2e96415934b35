"""How many judgments a study needs, before money is spent; and simulated crowds, to try filters on.

Words: `reliability` is the squared correlation of a mean with what endless raters would say; power is the
chance that a study of this size finds a difference that is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, copysign, inf, sqrt

import numpy as np
import numpy.typing as npt

from metrics.agreement import data
from metrics.agreement.scale import Scale
from metrics.figure import Figure

NO_AGREEMENT = "not defined: without agreement above chance no number of ratings helps"
NO_COMMON_ITEMS = "not defined: fewer than two items have ratings for both systems"
MOST_ITEMS = 10_000_000
"""Beyond this the answer is None: no study."""
TOO_MANY = f"not found: more than {MOST_ITEMS:,} items"


@dataclass(frozen=True, slots=True)
class Step:
    """Reliability of the mean of n ratings per item."""

    n: int
    reliability: Figure


def spearman_brown(one: float, n: float) -> float:
    """Reliability of the mean of n ratings when one rating has reliability `one` (Spearman 1910, Brown 1910).

    n may be a fraction: half a study has n = 0.5.
    """
    return n * one / (1 + (n - 1) * one)


def reliability_table(one: float | None, most: int = 20) -> list[Step]:
    """Reliability at n = 1 ... `most`, from the agreement of single ratings: interval alpha or ICC(1)."""
    if one is None or one <= 0:
        return [Step(n, Figure(None, NO_AGREEMENT)) for n in range(1, most + 1)]
    return [Step(n, Figure(spearman_brown(one, n))) for n in range(1, most + 1)]


def ratings_for(one: float | None, reliability: float) -> Figure:
    """Ratings per item (a whole number) until the mean has this reliability; 0 < reliability < 1."""
    if one is None or one <= 0:
        return Figure(None, NO_AGREEMENT)
    if one >= 1:
        return Figure(1.0)
    needed = reliability * (1 - one) / (one * (1 - reliability))
    return Figure(float(max(1, ceil(needed - 1e-9))))


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """What the size of a comparison depends on, in points of the scale.

    `sd_difference`: how much the true difference of two systems varies from item to item. `sd_rating`: how
    much ratings of the same answer vary (the root of the pooled variance inside items).
    """

    sd_difference: float
    sd_rating: float


def variance_of_difference(spread: ScoreSpread, ratings: int) -> float:
    """Variance of one item's difference of two means of so many ratings each."""
    return spread.sd_difference**2 + 2 * spread.sd_rating**2 / ratings


def items_for_systems(
    spread: ScoreSpread, *, ratings: int, difference: float, power: float = 0.8, level: float = 0.05
) -> int:
    """Items that two systems must both answer so that a true difference of their means is found.

    N = (z(1 - level/2) + z(power))^2 (sd_difference^2 + 2 sd_rating^2 / ratings) / difference^2, the paired
    z test, two-sided. Add items, not raters: raters lower only the second term. ValueError without a
    difference, a rating, or a power and level between 0 and 1.
    """
    if difference == 0 or ratings < 1 or not (0 < level < power < 1):
        raise ValueError("needs a difference, at least one rating, and 0 < level < power < 1")
    from scipy.special import ndtri

    reach = float(ndtri(1 - level / 2) + ndtri(power))
    return max(2, ceil(reach**2 * variance_of_difference(spread, ratings) / difference**2 - 1e-9))


def comparisons_for_pairs(
    share: float, *, ties: float, judges: int, correlation: float, power: float = 0.8, level: float = 0.05
) -> int:
    """Comparisons that show which of two systems is preferred: the sign test, two-sided, without ties.

    `share` of those who decide choose the better one, `ties` of all do not decide. Decisions needed by the
    normal approximation: ((z(1 - level/2) / 2 + z(power) sqrt(share (1 - share))) / (share - 1/2))^2, divided
    by the share without ties. Several judges of one pair agree by `correlation`, so that each comparison
    tells less: times 1 + (judges - 1) correlation. ValueError for a share of one half or ties alone.
    """
    if not 0 < share < 1 or share == 0.5 or not 0 <= ties < 1 or judges < 1:
        raise ValueError("needs a share other than one half, fewer ties than comparisons, and a judge")
    from scipy.special import ndtri

    reach = float(ndtri(1 - level / 2)) / 2 + float(ndtri(power)) * sqrt(share * (1 - share))
    decided = (reach / (share - 0.5)) ** 2
    return max(2, ceil(decided / (1 - ties) * (1 + (judges - 1) * correlation) - 1e-9))


def power_for_systems(
    spread: ScoreSpread, *, items: int, ratings: int, difference: float, level: float = 0.05
) -> float:
    """Chance that so many items show a true difference of two systems: the paired z test, two-sided."""
    from scipy.special import ndtr, ndtri

    critical = float(ndtri(1 - level / 2))
    shift = abs(difference) * sqrt(items / variance_of_difference(spread, ratings))
    return float(ndtr(shift - critical) + ndtr(-shift - critical))


def spread_of(first: data.Sums, second: data.Sums) -> ScoreSpread | Figure:
    """The spread from a pilot: sums of two systems, row i of both being the same question.

    The variance of the observed differences holds the raters' scatter too; that part is subtracted (not below
    0).
    """
    both = (first.n > 0) & (second.n > 0)
    if int(both.sum()) < 2:
        return Figure(None, NO_COMMON_ITEMS)
    together = data.Sums(
        np.concatenate([first.n, second.n]),
        np.concatenate([first.s, second.s]),
        np.concatenate([first.q, second.q]),
    )
    rating = data.pooled_variance(together)
    if rating is None:
        return Figure(None, data.NO_PAIRS)
    differences = first.mean[both] - second.mean[both]
    scatter = rating * float((1 / first.n[both] + 1 / second.n[both]).mean())
    return ScoreSpread(sqrt(max(float(differences.var(ddof=1)) - scatter, 0.0)), sqrt(rating))


# Which of two metrics agrees better with people: the test of Williams, and how many items it needs.
#
# Both metrics score the same items, so their correlations with the human scores depend on each other. Test:
# Williams, JRSS B 21 (1959), in the form of Steiger, Psychological Bulletin 87 (1980), formula 7; for
# metrics first used by Graham & Baldwin (EMNLP 2014).

LEAST_ITEMS = 4
FEW_ITEMS = "not defined: fewer than four items"
IMPOSSIBLE = "not defined: three correlations like these cannot occur together"
SAME_METRIC = "not defined: the two metrics score all items alike"
SAME_CORRELATION = "not defined: both metrics correlate with people alike, there is nothing to find"


@dataclass(frozen=True, slots=True)
class Three:
    """Pearson correlations: people with metric a, people with metric b, the metrics with each other."""

    human_a: float
    human_b: float
    between: float

    @property
    def determinant(self) -> float:
        """Of the 3 x 3 correlation matrix; below zero no data can have these correlations."""
        a, b, c = self.human_a, self.human_b, self.between
        return 1 - a * a - b * b - c * c + 2 * a * b * c


@dataclass(frozen=True, slots=True)
class Williams:
    """Statistic t with `df` degrees of freedom, and its two-sided probability."""

    t: float
    df: int
    p: float


def williams(three: Three, n: int) -> Williams | Figure:
    """Test on n items that both metrics correlate equally with people."""
    from scipy.special import stdtr

    reason = _reason(three, n)
    if reason:
        return Figure(None, reason)
    t = _statistic(three, n)
    return Williams(t, n - 3, 2 * float(stdtr(n - 3, -abs(t))))


def power_for_metrics(three: Three, n: int, *, level: float = 0.05) -> Figure:
    """Chance that n items show which metric is better if the true correlations are these.

    Near enough: the statistic is taken as normal around its value at the true correlations. The correlations
    must be those with the human scores of the study, not with endless raters: see `attenuated`.
    """
    from scipy.special import ndtr, stdtrit

    reason = _reason(three, n)
    if reason:
        return Figure(None, reason)
    critical = float(stdtrit(n - 3, 1 - level / 2))
    shift = abs(_statistic(three, n))
    return Figure(float(ndtr(shift - critical) + ndtr(-shift - critical)))


def items_for_metrics(three: Three, *, power: float = 0.8, level: float = 0.05) -> Figure:
    """The fewest items with this power (a whole number)."""
    reason = _reason(three, LEAST_ITEMS)
    if not reason and three.human_a == three.human_b:
        reason = SAME_CORRELATION
    if reason:
        return Figure(None, reason)

    def enough(n: int) -> bool:
        reached = power_for_metrics(three, n, level=level).value
        return reached is not None and reached >= power

    low, high = LEAST_ITEMS - 1, LEAST_ITEMS
    while not enough(high):
        low, high = high, high * 2
        if low > MOST_ITEMS:
            return Figure(None, TOO_MANY)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return Figure(float(high))


def attenuated(correlation: float, reliability: float) -> float:
    """The correlation that a metric shows with human scores of this reliability (Spearman 1904).

    `correlation` is the one with scores of endless raters.
    """
    return correlation * sqrt(reliability)


def _statistic(three: Three, n: int) -> float:
    a, b, c = three.human_a, three.human_b, three.between
    if a == b:
        return 0.0
    mean = (a + b) / 2
    below = 2 * (n - 1) / (n - 3) * max(three.determinant, 0.0) + mean * mean * (1 - c) ** 3
    return (a - b) * sqrt((n - 1) * (1 + c) / below) if below > 0 else copysign(inf, a - b)


def _reason(three: Three, n: int) -> str:
    if n < LEAST_ITEMS:
        return FEW_ITEMS
    if max(abs(three.human_a), abs(three.human_b), abs(three.between)) > 1 or three.determinant < -1e-12:
        return IMPOSSIBLE
    return SAME_METRIC if three.between == 1 else ""


# More ratings only where they are needed: when an item has enough.
#
# Both rules look at an item's interval, mean +- t sqrt(v / n). Few ratings say little about their own
# variance, so it is drawn towards the variance inside all items, as if `prior_df` more ratings had been
# seen: with sample variance v0 of n ratings, v = ((n - 1) v0 + prior_df prior_variance) / (n - 1 +
# prior_df), and t has n - 1 + prior_df degrees of freedom. Without that, three equal ratings stop an item
# at once, which costs more errors than it saves ratings.


@dataclass(frozen=True, slots=True)
class Rule:
    """Ratings per item: never fewer than `least`, never more than `most`; what is taken as known beforehand.

    `prior_variance` is the variance of one rating inside items, `metrics.agreement.data.pooled_variance` of
    the stage so far.
    """

    prior_variance: float
    least: int = 5
    most: int = 15
    prior_df: float = 4.0
    confidence: float = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class ItemPrecision:
    """Per item: `enough` ratings?, the `half_width` of its interval (nan without ratings), those `missing`.

    `missing` fills up to `least` at once and then asks one by one.
    """

    enough: data.Mask
    half_width: data.Floats
    missing: data.Whole


def precision(sums: data.Sums, rule: Rule, *, half_width: float = 0.8) -> ItemPrecision:
    """Enough when the mean is known to +- `half_width`."""
    widths = half_widths(sums, rule)
    return _standing(sums, rule, widths, widths <= half_width)


def decision(sums: data.Sums, rule: Rule, *, threshold: float = 3.5) -> ItemPrecision:
    """Enough when the interval lies on one side of `threshold`: is the answer at least that good or not?"""
    widths = half_widths(sums, rule)
    return _standing(sums, rule, widths, np.abs(sums.mean - threshold) > widths)


def half_widths(sums: data.Sums, rule: Rule) -> data.Floats:
    """Half the width of each item's interval, in points of the scale; nan without ratings."""
    from scipy.special import stdtrit

    freedom = sums.n - 1 + rule.prior_df
    spread = np.nan_to_num(sums.squares_within) + rule.prior_df * rule.prior_variance
    variance_of_mean = data.divided(data.divided(spread, freedom), sums.n)
    kinds, which = np.unique(freedom, return_inverse=True)
    quantiles: npt.NDArray[np.float64] = stdtrit(np.maximum(kinds, 1), 0.5 + rule.confidence / 2)
    return quantiles[which] * np.sqrt(variance_of_mean)


def _standing(sums: data.Sums, rule: Rule, widths: data.Floats, sure: data.Mask) -> ItemPrecision:
    enough = ((sums.n >= rule.least) & sure) | (sums.n >= rule.most)
    missing = np.where(enough, 0, np.maximum(rule.least - sums.n, 1)).astype(np.int64)
    return ItemPrecision(enough, widths, missing)


# Simulated crowds: items whose true score is known, and workers of whom it is known who is honest.
#
# For studies of filters and for tests. Nobody knows the true score of a real answer, so what a filter does to
# the score can only be seen here. Every figure is deterministic in the seed.
#
# An honest worker looks at an item, sees its latent quality, shifts it by a personal bias, adds noise of a
# personal size, and gives the nearest score. Some items are contested: a minority of the honest workers sees
# a different quality, each for good reasons, and both views belong into the true score. The true score of an
# item is the mean of endless honest workers. A spammer does not look: one kind draws scores evenly, one
# always gives the same score, one draws from the middle or the top. Spammers are busier than honest workers.

_SCALE = Scale(1, 5)
_PEOPLE = 200
_GRID = np.linspace(-3.0, 9.0, 301)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Who takes part and what they rate; shares from 0 to 1, the rest in points of the scale.

    Workers: a `spam` share of them does not look and is `busier` times as busy; how busy they are varies by
    `uneven` (standard deviation of the logarithm). `bias` and `noise` are standard deviations, `noise_varies`
    that of the logarithm of the noise; `lapses` is the share of honest ratings that are given blindly. Items:
    a share is plainly `wrong`, a share lies in `between`, the others are right; `clear` is the spread of the
    plain ones. A share is `contested`: a `minority` sees it `apart` points nearer to the other end. Each
    worker is shown so many attention `checks`; a spammer passes one by chance with `passes_by_chance`.

    The defaults were chosen so that the three crowds come near to published figures: raw alpha about 0.39
    with 15 % spam, 0.83 after the z filter of KPQA, 0.6 without spam.
    """

    spam: float = 0.0
    pure_noise: bool = False
    busier: float = 1.6
    uneven: float = 0.45
    bias: float = 0.37
    noise: float = 0.8
    noise_varies: float = 0.3
    lapses: float = 0.03
    wrong: float = 0.5
    between: float = 0.36
    clear: float = 0.5
    contested: float = 0.1
    minority: float = 0.3
    apart: float = 2.3
    checks: int = 6
    passes_by_chance: float = 0.4


CROWDS: Mapping[str, Crowd] = {
    "clean": Crowd(),
    "moderate": Crowd(spam=0.15),
    "heavy": Crowd(spam=0.35),
    "noise": Crowd(spam=1.0, pure_noise=True),
}


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A simulated study: what was rated, and what only the simulation knows.

    `truth` per item (nan in pure noise); `contested` marks items with a minority view, `spammers` workers.
    `presented` and `failed` count each worker's attention checks.
    """

    ratings: data.Ratings
    truth: data.Floats
    contested: data.Mask
    spammers: data.Mask
    presented: data.Whole
    failed: data.Whole


def simulated(
    crowd: Crowd, *, items: int = 1000, per_item: int = 10, workers: int = 150, seed: int = 0
) -> Study:
    """A study: `per_item` ratings of each item, by different workers; rows in order of submission."""
    random = np.random.default_rng(seed)
    people = _People.draw(crowd, workers, random)
    latent, contested, other = _items(crowd, items, random)
    rows, who = _handed_out(people.activity, items, per_item, random)
    seen = np.where(contested[rows] & (random.random(len(rows)) < crowd.minority), other[rows], latent[rows])
    felt = seen + people.bias[who] + people.noise[who] * random.standard_normal(len(rows))
    scores = np.clip(np.rint(felt), _SCALE.low, _SCALE.high)
    lapsed = random.random(len(rows)) < crowd.lapses
    scores = np.where(lapsed, random.integers(_SCALE.low, _SCALE.high + 1, len(rows)), scores)
    scores = np.where(people.spammer[who], people.careless(who, random), scores)
    ratings = data.Ratings(
        rows,
        who,
        scores.astype(np.int16),
        [f"item {n}" for n in range(items)],
        [f"worker {n}" for n in range(workers)],
        _SCALE,
    )
    truth = np.full(items, np.nan) if crowd.pure_noise else _truth(crowd, latent, contested, other)
    presented = np.full(workers, crowd.checks, dtype=np.int64)
    misses = np.where(people.spammer, 1 - crowd.passes_by_chance, crowd.lapses)
    return Study(ratings, truth, contested, people.spammer, presented, random.binomial(presented, misses))


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    spammer: data.Mask
    kind: data.Whole
    habit: data.Whole
    activity: data.Floats
    bias: data.Floats
    noise: data.Floats

    @classmethod
    def draw(cls, crowd: Crowd, workers: int, random: np.random.Generator) -> "_People":
        spammer = np.arange(workers) < round(crowd.spam * workers)
        random.shuffle(spammer)
        activity = crowd.uneven * random.standard_normal(workers) + np.log(crowd.busier) * spammer
        kind = np.zeros(workers, dtype=np.int64) if crowd.pure_noise else (np.cumsum(spammer) - 1) % 3
        return cls(
            spammer,
            kind,
            random.permutation(np.arange(workers) % _SCALE.size) + _SCALE.low,
            activity,
            crowd.bias * random.standard_normal(workers),
            crowd.noise * np.exp(crowd.noise_varies * random.standard_normal(workers)),
        )

    def careless(self, who: data.Codes, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Scores by spammers: evenly, always the same, from the middle or from the top."""
        evenly = random.integers(_SCALE.low, _SCALE.high + 1, len(who))
        middle = random.choice(_SCALE.values, len(who), p=[0.05, 0.2, 0.5, 0.2, 0.05])
        top = random.choice(_SCALE.values, len(who), p=[0.05, 0.05, 0.15, 0.35, 0.4])
        central = np.where(self.habit[who] <= 2, middle, top)
        return np.select([self.kind[who] == 0, self.kind[who] == 1], [evenly, self.habit[who]], central)


def _items(
    crowd: Crowd, items: int, random: np.random.Generator
) -> tuple[data.Floats, data.Mask, data.Floats]:
    """Latent quality, whether contested, and what the minority sees."""
    kind = random.random(items)
    clear = crowd.clear * random.standard_normal(items)
    latent = np.where(kind < crowd.wrong, 1.2 + clear, 4.8 + clear)
    latent = np.where(kind > 1 - crowd.between, random.uniform(1.5, 4.5, items), latent)
    contested = random.random(items) < crowd.contested
    return latent, contested, latent + np.where(latent < 3, crowd.apart, -crowd.apart)


def _handed_out(
    activity: data.Floats, items: int, per_item: int, random: np.random.Generator
) -> tuple[data.Codes, data.Codes]:
    """Items and workers of all ratings in a shuffled order; nobody rates an item twice."""
    keys = activity + random.gumbel(size=(items, len(activity)))
    workers_of_item = np.argpartition(-keys, per_item - 1, axis=1)[:, :per_item]
    order = random.permutation(items * per_item)
    rows = np.repeat(np.arange(items), per_item)[order].astype(np.int32)
    return rows, workers_of_item.ravel()[order].astype(np.int32)


def _truth(crowd: Crowd, latent: data.Floats, contested: data.Mask, other: data.Floats) -> data.Floats:
    """Mean of endless honest workers."""
    main, minority = _mean_score(crowd, latent), _mean_score(crowd, other)
    seen = np.where(contested, (1 - crowd.minority) * main + crowd.minority * minority, main)
    return (1 - crowd.lapses) * seen + crowd.lapses * float(_SCALE.values.mean())


def _mean_score(crowd: Crowd, latent: data.Floats) -> data.Floats:
    """Mean score of a latent quality."""
    interpolated: data.Floats = np.interp(latent, _GRID, _mean_scores(crowd))
    return interpolated


@lru_cache(maxsize=64)
def _mean_scores(crowd: Crowd) -> data.Floats:
    """Mean score at each quality of the grid, over biases and noises: the sum of P(score >= step)."""
    from scipy.special import ndtr, ndtri

    even = (np.arange(_PEOPLE) + 0.5) / _PEOPLE
    noise = crowd.noise * np.exp(crowd.noise_varies * ndtri(even))
    spread = np.sqrt(noise**2 + crowd.bias**2)
    steps = _SCALE.values[1:] - 0.5
    means = [_SCALE.low + ndtr((quality - steps[:, None]) / spread).sum(axis=0).mean() for quality in _GRID]
    return np.array(means)
