"""Reliability of the published mean, the figure to quote, and intraclass correlations.

Split-half: the ratings of each item are divided at random into two halves; Pearson's r between the two
columns of means is the reliability of a mean of half as many ratings, and 2r / (1 + r) (Spearman 1910, Brown
1910) that of the whole. What a filter decides must not come from the agreement that is measured. So workers
are judged on other items (`held_out`), and a filter of single responses runs in each half
as if the other did not exist: what it manufactures it manufactures in each half for itself, towards two
middles.

The interval is for other items and other workers. The spread of the logarithm of what is missing to 1 is
estimated by drawing items with replacement, and workers; drawing either takes the noise of single ratings
along, so the spread by drawing ratings is taken off once (Cameron, Gelbach and Miller 2011, Journal of
Business & Economic Statistics 29). Each draw looks at the reliability of means in closed form, the variance
of items divided by that of observed means (ICC(1, k)), in which a worker who is drawn twice does not count
as two who agree. Who was removed is taken as given, and a response filter leaves no trace in it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
import numpy.typing as npt

from metrics.agreement import data
from metrics.agreement.alpha import Level, alpha_of
from metrics.agreement.filters import Checks, duplicates, respond, run, without_response_filter
from metrics.agreement.recipes import Recipe, Z
from metrics.figure import Figure

# Two halves of the ratings of each item beside each other.
#
# Both halves are one study with twice as many workers and items: code 2 c belongs to the first half and 2 c
# + 1 to the second. A filter that runs on it treats the halves, in one pass, as if neither knew of the
# other.

_BITS = 63
_LEAST_RANDOM = 12
_MANY_RATINGS = 100_000
_SPLITS_PER_PAIRING = 5


def splits_of_ratings(ratings: data.Ratings, splits: int, rng: np.random.Generator) -> Iterator[data.Mask]:
    """For each split, which ratings are in the second half; each half has n // 2 or one more of an item's n.

    The ratings of an item are paired at random, and a coin for each pair says which of the two goes where.
    Of more than 100,000 ratings the pairs are drawn again for every fifth split only.
    """
    keep = _SPLITS_PER_PAIRING if len(ratings) > _MANY_RATINGS else 1
    order = data.stable_order(ratings.items).astype(np.int32)
    items = ratings.items[order]
    n = np.bincount(items, minlength=ratings.n_items)
    pairs = (n + 1) // 2
    start = (np.cumsum(n) - n).astype(np.int32)[items]
    position = np.arange(len(items), dtype=np.int32) - start
    pair = (np.cumsum(pairs) - pairs).astype(np.int32)[items] + position // 2
    odd = (position % 2).astype(np.bool_)
    bits = int(n.max(initial=1)).bit_length()
    free = min(_BITS - bits - int(ratings.n_items).bit_length(), 32)
    if free < _LEAST_RANDOM:
        raise ValueError("too many items with too many ratings to be split")
    base = items.astype(np.int64)
    base <<= bits + free
    base |= position
    del items, position
    shuffled = order
    for split in range(splits):
        if split % keep == 0:
            keys = rng.integers(0, 1 << free, len(base), dtype=np.int64)
            keys <<= bits
            keys |= base
            keys.sort()
            keys &= (1 << bits) - 1
            keys += start
            shuffled = order[keys]
            del keys
        coins = rng.integers(0, 2, int(pairs.sum()), dtype=np.bool_)
        second = np.empty(len(base), dtype=np.bool_)
        second[shuffled] = coins[pair] ^ odd
        yield second


def doubled(ratings: data.Ratings, second: data.Mask) -> data.Ratings:
    """The two halves beside each other: items and workers are doubled."""
    half = second.astype(np.int32)
    return data.Ratings(
        ratings.items * 2 + half,
        ratings.workers * 2 + half,
        ratings.scores,
        _DoubledNames(ratings.item_names),
        _DoubledNames(ratings.worker_names),
        ratings.scale,
    )


class _DoubledNames(Sequence[str]):
    """Every name twice, without a copy."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def __len__(self) -> int:
        return 2 * len(self.names)

    @overload
    def __getitem__(self, code: int) -> str: ...
    @overload
    def __getitem__(self, code: slice) -> list[str]: ...
    def __getitem__(self, code: int | slice) -> str | list[str]:
        if isinstance(code, slice):
            return [self.names[each // 2] for each in range(*code.indices(len(self)))]
        if not 0 <= code < len(self):
            raise IndexError(code)
        return self.names[code // 2]


# Workers judged on other items: cross-fitting.
#
# Who is removed for disagreeing on an item must not make the agreement on that same item look better. So
# the items are dealt into ten folds; for each fold the rules about workers run on the ratings of the other
# nine, and what they decide is applied to the ratings of the fold. A worker is judged on nine tenths of
# their ratings, and rules that need a number of them need nine tenths of it. Deciding on one half of the
# items instead leaves workers with ten to twenty ratings undecided; the figures then are those of a worse
# study.

FOLDS = 10


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Which ratings (mask of length n) are by workers who stand, as judged on the items of the other folds.

    `removed_workers` says how many a fold removed on average.
    """

    standing: data.Mask
    removed_workers: float


@dataclass(frozen=True, slots=True)
class CrossFitted:
    """The mean alpha of the ratings that stand over the rounds; how many workers a fold removed on
    average."""

    alpha: Figure
    removed_workers: float
    rounds: int


def held_out(
    ratings: data.Ratings,
    recipe: Recipe,
    rng: np.random.Generator,
    *,
    checks: Checks | None = None,
    seconds: data.Floats | None = None,
) -> HeldOut:
    """Runs the recipe's rules about workers without the items that their decision is applied to.

    `ratings` must be without repeated ratings of a worker on an item. What workers did in attention checks is
    known to every fold: checks are no items.
    """
    rated = np.flatnonzero(np.bincount(ratings.items, minlength=ratings.n_items))
    folds = min(FOLDS, len(rated))
    if not recipe.judges_workers or folds < 2:  # two folds are the fewest
        return HeldOut(np.ones(len(ratings), dtype=np.bool_), 0.0)
    fold_of = np.zeros(ratings.n_items, dtype=np.int8)
    fold_of[rng.permutation(rated)] = np.arange(len(rated)) % folds
    fold = fold_of[ratings.items]
    rules = _for_a_part(without_response_filter(recipe), folds)
    standing = np.ones(len(ratings), dtype=np.bool_)
    removed = 0
    for each in range(folds):
        here = fold == each
        known = None if seconds is None else seconds[~here]
        gone = run(ratings.only(~here), rules, checks=checks, seconds=known, repeated=False).removed_workers
        standing[here] = ~gone[ratings.workers[here]]
        removed += int(gone.sum())
    return HeldOut(standing, removed / folds)


def cross_fitted(
    ratings: data.Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: data.Floats | None = None,
    level: Level = "interval",
    rounds: int = 3,
    seed: int = 0,
) -> CrossFitted:
    """Cross-fitted alpha after the recipe's rules about workers; its response filter takes no part.

    Each round deals the items into other folds. `ratings` as for `held_out`.
    """
    rng = data.generator(seed, "folds of items")
    found = [held_out(ratings, recipe, rng, checks=checks, seconds=seconds) for _ in range(rounds)]
    figures = [alpha_of(ratings.only(each.standing), level) for each in found]
    values = [figure.value for figure in figures if figure.value is not None]
    removed = float(np.mean([each.removed_workers for each in found]))
    if not values:
        return CrossFitted(figures[-1], removed, rounds)
    return CrossFitted(Figure(float(np.mean(values))), removed, rounds)


def _for_a_part(recipe: Recipe, folds: int) -> Recipe:
    """The recipe with the numbers of ratings that its rules need, for all folds but one."""

    def part(least: int) -> int:
        return max(1, -(-least * (folds - 1) // folds))

    return replace(recipe, kappa_least=part(recipe.kappa_least), technical_least=part(recipe.technical_least))


Weights = npt.NDArray[np.float32]
TOO_FEW = "not defined: fewer than three items keep a rating in both halves"
NO_AGREEMENT = "the halves of the ratings do not agree above chance"
NO_INTERVAL = "no interval was asked for (0 replicates)"
TOO_FEW_TO_DRAW = "not defined: it needs five items and five workers"
LEAST_ITEMS = 3
LEAST_TO_DRAW = 5
REPLICATES = 300
#: Of more ratings, draws are fewer: each is nearly the same.
_MANY, _OF_MANY = 100_000, 100
_COVERAGE = 0.95
#: Numbers (ratings times replicates) that are made together.
_TOGETHER = 1 << 21
#: Nothing is nearer to full reliability than this.
_NEAREST = 1e-6


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """`half` is the mean r between halves over the splits, `whole` its Spearman-Brown correction.

    `sd` is the standard deviation of the corrected figure over the splits, `items` how many items had a mean
    in both halves on average, `splits` how many splits gave a figure, `removed_workers` how many workers were
    removed on average when they were judged on other items. `whole` has the interval; `no_interval` says why
    there is none.
    """

    half: Figure
    whole: Figure
    sd: float | None
    items: float
    splits: int
    removed_workers: float = 0.0
    no_interval: str = ""


def split_half(
    ratings: data.Ratings,
    recipe: Recipe,
    *,
    checks: Checks | None = None,
    seconds: data.Floats | None = None,
    splits: int = 20,
    replicates: int = 0,
    seed: int = 0,
) -> SplitHalf:
    """Split-half reliability of the means that the recipe leaves, over `splits` random splits.

    The mean r of the splits is corrected once, by 2 r / (1 + r); it is null where r is not above 0. With
    `replicates` it has an interval.
    """
    if not len(ratings):
        return _none(data.NO_RATINGS)
    distinct = ~duplicates(ratings)
    rows = ratings if distinct.all() else ratings.only(distinct)
    taken = None if seconds is None else seconds[distinct]
    judged = held_out(rows, recipe, data.generator(seed, "folds"), checks=checks, seconds=taken)
    stand = rows if judged.standing.all() else rows.only(judged.standing)
    halves, items, reason = _halves(stand, recipe, splits, data.generator(seed, "split-half"))
    if not halves:
        return replace(_none(reason), removed_workers=judged.removed_workers)
    r = float(np.mean(halves))
    spread = float(np.std(halves, ddof=1)) * 2 / (1 + max(r, 0.0)) ** 2 if len(halves) > 1 else None
    whole = Figure(2 * r / (1 + r)) if r > 0 else Figure(None, NO_AGREEMENT)
    ci, why = None, whole.reason or NO_INTERVAL
    if whole.value is not None and replicates:
        ci, why = interval(stand, whole.value, replicates=replicates, seed=seed), TOO_FEW_TO_DRAW
    return SplitHalf(
        Figure(r),
        replace(whole, ci=ci),
        spread,
        float(np.mean(items)),
        len(halves),
        judged.removed_workers,
        "" if ci is not None else why,
    )


def _halves(
    ratings: data.Ratings, recipe: Recipe, splits: int, rng: np.random.Generator
) -> tuple[list[float], list[int], str]:
    """r between the halves of each split, items behind it, and why a split may have had none."""
    rule = replace(recipe, z_least=-(-recipe.z_least // 2), z_keep=-(-recipe.z_keep // 2))
    everything = np.ones(len(ratings), dtype=np.bool_)
    found, items, reason = [], [], TOO_FEW
    for second in splits_of_ratings(ratings, splits, rng):
        beside = doubled(ratings, second)
        kept = ~respond(beside, rule).mask if recipe.has(Z) else everything
        one, two = _means(beside, kept).reshape(-1, 2).T
        both = ~(np.isnan(one) | np.isnan(two))
        r = _pearson(one[both], two[both]) if both.sum() >= LEAST_ITEMS else None
        if r is None:
            reason = data.NO_VARIATION if both.sum() >= LEAST_ITEMS else TOO_FEW
            continue
        found.append(r)
        items.append(int(both.sum()))
    return found, items, reason


def replicates_of(asked: int, ratings: int) -> int:
    """How many draws of each kind are behind an interval when so many were asked for."""
    return min(asked, _OF_MANY if ratings > _MANY else REPLICATES)


def interval(
    ratings: data.Ratings, reliability: float, *, replicates: int = REPLICATES, seed: int = 0
) -> tuple[float, float] | None:
    """The bounds of a 95 % interval around a reliability of these ratings' means; None of too few to draw
    from."""
    from scipy.special import stdtrit  # takes a while to load

    items, n_items = data.codes_in_use(ratings.items, ratings.n_items)
    workers, n_workers = data.codes_in_use(ratings.workers, ratings.n_workers)
    if min(n_items, n_workers) < LEAST_TO_DRAW:
        return None
    means = _Means(items, workers, ratings.scores.astype(np.float32))
    del items, workers
    spread = {}
    for over, size in (("items", n_items), ("workers", n_workers), ("ratings", len(ratings))):
        rng = data.generator(seed, f"reliability over {over}")
        step = max(1, _TOGETHER // max(size, n_items))
        draws = (_drawn(size, min(step, replicates - start), rng) for start in range(0, replicates, step))
        found = np.concatenate([means.drawn(over, drawn) for drawn in draws])
        missing = np.log(np.maximum(1 - found, _NEAREST))
        missing = missing[~np.isnan(missing)]
        if len(missing) < replicates / 2:
            return None
        spread[over] = float(np.var(missing, ddof=1))
    over_both = spread["items"] + spread["workers"] - spread["ratings"]
    variance = max(over_both, spread["items"], spread["workers"])
    ends = float(stdtrit(min(n_items, n_workers) - 1, (1 + _COVERAGE) / 2)) * np.sqrt(variance)
    middle = np.log(max(1 - reliability, _NEAREST))
    return max(0.0, float(1 - np.exp(middle + ends))), float(1 - np.exp(middle - ends))


class _Means:
    """Means of items under weights of items, workers or ratings, and how reliable they are."""

    def __init__(self, items: data.Codes, workers: data.Codes, scores: Weights) -> None:
        from scipy.sparse import csr_array  # the same

        order = data.stable_order(items)
        n = np.bincount(items)
        ends = np.concatenate(([0], np.cumsum(n))).astype(np.int32)
        scores -= scores.mean()
        far = scores[order]
        columns = {"ratings": np.arange(len(order), dtype=np.int32), "workers": workers[order]}
        shapes = {"ratings": (len(n), len(order)), "workers": (len(n), int(workers.max()) + 1)}
        del order
        ones = np.ones(len(far), dtype=np.float32)
        squares = far * far
        #: How often each item is rated, the sums of its scores, and of their squares: by what is drawn.
        self.sums: dict[str, tuple[csr_array, ...]] = {
            over: tuple(
                csr_array((values, columns[over], ends), shape=shape) for values in (ones, far, squares)
            )
            for over, shape in shapes.items()
        }
        self.raters = n.astype(np.float32)[:, None]

    def drawn(self, over: str, weights: Weights) -> data.Floats:
        """ICC(1, k) for each column of weights; nan where there is none.

        A rating of weight u counts as u ratings by one person: pairs of them say nothing, so the variance
        inside items is that between different people, and what weights add to the variance of means is
        taken off.
        """
        items = weights if over == "items" else np.ones((1, 1), dtype=np.float32)
        counts, first, second = self.sums["ratings" if over == "items" else over]
        of_ratings = np.ones((counts.shape[1], 1), dtype=np.float32) if over == "items" else weights
        n, sums, squares = counts @ of_ratings, first @ of_ratings, second @ of_ratings
        some = np.maximum(n, _NEAREST)
        own = (counts @ np.square(of_ratings)) / some
        counted = items * (n > 0)
        total = counted.sum(axis=0, dtype=np.float64)
        apart = _added(counted * (n - own))
        within = data.divided(
            _added(counted * (squares - sums * sums / some)), np.where(apart > _NEAREST, apart, 0)
        )
        means = sums / some
        centred = means - _added(counted * means) / total
        between = _added(counted * centred * centred) / np.maximum(total - 1, 1)
        of_items = between - within * _added(counted * own / some) / total
        whole = of_items + within * _added(counted / self.raters) / total
        return data.divided(of_items, np.where(whole > 0, whole, 0))


def _added(values: data.Floats) -> data.Floats:
    """Sums over items, in full precision."""
    return np.asarray(values.sum(axis=0, dtype=np.float64), dtype=np.float64)


def _drawn(size: int, width: int, rng: np.random.Generator) -> Weights:
    """How often each of `size` is drawn in as many draws with replacement, for each of `width` replicates."""
    drawn = np.empty((width, size), dtype=np.float32)
    codes = np.empty(size, dtype=np.intp)  # what bincount takes without a copy
    for replicate in range(width):
        codes[:] = rng.integers(size, size=size, dtype=np.int32)
        drawn[replicate] = np.bincount(codes, minlength=size)
    return np.ascontiguousarray(drawn.T)


def _none(reason: str) -> SplitHalf:
    return SplitHalf(Figure(None, reason), Figure(None, reason), None, 0.0, 0, no_interval=reason)


def _means(ratings: data.Ratings, kept: data.Mask) -> data.Floats:
    """Mean of every item from the ratings that are kept; nan where none is."""
    n = np.bincount(ratings.items, weights=kept, minlength=ratings.n_items)
    sums = np.bincount(ratings.items, weights=ratings.scores * kept, minlength=ratings.n_items)
    return data.divided(sums, n)


def _pearson(one: data.Floats, two: data.Floats) -> float | None:
    one, two = one - one.mean(), two - two.mean()
    spread = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / spread if spread > 0 else None


# Intraclass correlations: the share of the variance of ratings that comes from the items.
#
# Names and formulas: Shrout & Fleiss, Psychological Bulletin 86 (1979); McGraw & Wong, Psychological Methods
# 1 (1996). ICC(1): every item has raters of its own; ICC(A): the same raters, and it counts whether they
# agree on the score itself; ICC(C): the same raters, and only whether they order the items alike. `single`
# is about one rating, `mean` about the mean of an item's ratings. Shrout and Fleiss call ICC(A) ICC(2) and
# ICC(C) ICC(3).

ONE_ITEM = "not defined: only one item has ratings"
NOT_COMPLETE = "not defined: not every worker rated every item once"


@dataclass(frozen=True, slots=True)
class Pair:
    """The correlation for one rating and for the mean of an item's ratings."""

    single: Figure
    mean: Figure


@dataclass(frozen=True, slots=True)
class Correlations:
    """ICC(1), ICC(A) and ICC(C) of a complete table."""

    one_way: Pair
    agreement: Pair
    consistency: Pair


def correlations(table: data.Floats) -> Correlations:
    """All six of a table of n items (rows) by k raters (columns) without gaps."""
    n, k = table.shape
    reason = _table_reason(table)
    if reason:
        return Correlations(*(Pair(Figure(None, reason), Figure(None, reason)) for _ in range(3)))
    centred = table - table.mean()
    between_items = k * (centred.mean(axis=1) ** 2).sum()
    between_raters = n * (centred.mean(axis=0) ** 2).sum()
    total = (centred**2).sum()
    items = float(between_items) / (n - 1)
    raters = float(between_raters) / (k - 1)
    within = float(total - between_items) / (n * (k - 1))
    error = max(float(total - between_items - between_raters), 0.0) / ((n - 1) * (k - 1))
    return Correlations(
        Pair(
            _share(items - within, items + (k - 1) * within),
            _share(items - within, items),
        ),
        Pair(
            _share(items - error, items + (k - 1) * error + k * (raters - error) / n),
            _share(items - error, items + (raters - error) / n),
        ),
        Pair(
            _share(items - error, items + (k - 1) * error),
            _share(items - error, items),
        ),
    )


def complete_table(ratings: data.Ratings) -> data.Floats | None:
    """Items by workers, those that have ratings; None unless every worker rated every item exactly once."""
    items, item_rows = np.unique(ratings.items, return_inverse=True)
    workers, columns = np.unique(ratings.workers, return_inverse=True)
    if not len(ratings) or len(items) * len(workers) != len(ratings):
        return None
    table = np.full((len(items), len(workers)), np.nan)
    table[item_rows, columns] = ratings.scores
    return None if bool(np.isnan(table).any()) else table


def correlations_of(ratings: data.Ratings) -> Correlations:
    """All six where every worker rated every item; else ICC(1) alone, and for the others the reason."""
    table = complete_table(ratings)
    if table is not None:
        return correlations(table)
    gaps = Pair(Figure(None, NOT_COMPLETE), Figure(None, NOT_COMPLETE))
    return Correlations(one_way(data.sums_of(ratings)), gaps, gaps)


def one_way(sums: data.Sums) -> Pair:
    """ICC(1) where items have different raters and different numbers of ratings.

    The number of ratings per item is n0 = (N - sum of n^2 / N) / (items - 1), as the analysis of variance
    with unequal groups has it (Searle, Casella & McCulloch, Variance Components, 1992, section 3.6); `mean`
    is for n0 ratings. Items with one rating count for the variance between items. It can be below zero.
    """
    n, s = sums.n[sums.n > 0], sums.s[sums.n > 0]
    total = int(n.sum())
    reason = _one_way_reason(sums)
    if reason:
        return Pair(Figure(None, reason), Figure(None, reason))
    within = float(sums.squares_within[sums.n > 0].sum()) / (total - len(n))
    between = float((n * (s / n - s.sum() / total) ** 2).sum()) / (len(n) - 1)
    typical = (total - float((n * n).sum()) / total) / (len(n) - 1)
    return Pair(
        _share(between - within, between + (typical - 1) * within),
        _share(between - within, between),
    )


def _share(above: float, below: float) -> Figure:
    return Figure(above / below) if below > 0 else Figure(None, data.NO_VARIATION)


def _table_reason(table: data.Floats) -> str:
    n, k = table.shape
    if n == 0:
        return data.NO_RATINGS
    if k < 2:
        return data.ONE_RATER
    if n < 2:
        return ONE_ITEM
    return data.NO_VARIATION if bool((table == table[0, 0]).all()) else ""


def _one_way_reason(sums: data.Sums) -> str:
    rated = int((sums.n > 0).sum())
    total = int(sums.n.sum())
    if not rated:
        return data.NO_RATINGS
    if rated == total:
        return data.NO_PAIRS
    if rated < 2:
        return ONE_ITEM
    return data.NO_VARIATION if total * int(sums.q.sum()) == int(sums.s.sum()) ** 2 else ""
