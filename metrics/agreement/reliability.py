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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from metrics.agreement import data
from metrics.agreement.batches import map_in_order, parts_of, threads_for
from metrics.agreement.cross_fitting import held_out
from metrics.agreement.filters import Checks, duplicates, respond
from metrics.agreement.recipes import Recipe, Z
from metrics.figure import Figure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
    first, first_pair = np.cumsum(n) - n, np.cumsum(pairs) - pairs
    bits = int(n.max(initial=1)).bit_length()
    free = min(_BITS - bits - int(ratings.n_items).bit_length(), 32)
    if free < _LEAST_RANDOM:
        raise ValueError("too many items with too many ratings to be split")
    shuffled = order
    for split in range(splits):
        if split % keep == 0:
            # By item, then by chance; the place in the item below them. What numbers of eight bytes are made
            # of is taken a part at a time: there may be millions of ratings.
            keys = rng.integers(0, 1 << free, len(items), dtype=np.int64)
            keys <<= bits
            for rows in _parts(len(items)):
                block_items = items[rows].astype(np.int64)
                keys[rows] |= np.arange(rows.start, rows.start + len(block_items)) - first[block_items]
                keys[rows] |= block_items << (bits + free)
            keys.sort()
            shuffled = np.empty_like(order)
            for rows in _parts(len(items)):
                shuffled[rows] = order[(keys[rows] & ((1 << bits) - 1)) + first[items[rows]]]
            del keys
        coins = rng.integers(0, 2, int(pairs.sum()), dtype=np.bool_)
        second = np.empty(len(items), dtype=np.bool_)
        for rows in _parts(len(items)):
            rated = items[rows]
            position = np.arange(rows.start, rows.start + len(rated)) - first[rated]
            second[shuffled[rows]] = coins[first_pair[rated] + position // 2] ^ (position % 2).astype(
                np.bool_
            )
        yield second


def _parts(size: int) -> Iterator[slice]:
    """Consecutive slices of so many rows."""
    return (slice(start, start + data.ROWS) for start in range(0, size, data.ROWS))


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


Weights = npt.NDArray[np.float32]
Drawn = npt.NDArray[np.uint8]
TOO_FEW = "not defined: fewer than three items keep a rating in both halves"
SAME_MEANS = "not defined: in each split, all items have the same mean in one half"
NO_AGREEMENT = "the halves of the ratings do not agree above chance"
NO_INTERVAL = "no interval was asked for (0 replicates)"
TOO_FEW_TO_DRAW = "not defined: it needs five items and five workers"
LEAST_ITEMS = 3
LEAST_TO_DRAW = 5
REPLICATES = 300
#: Of more ratings, draws are fewer: each is nearly the same.
_MANY, _OF_MANY = 100_000, 100
_COVERAGE = 0.95
#: Numbers (ratings times replicates) of which one replicate alone is looked at where it has as many.
_TOGETHER = 1 << 21
#: Numbers (items, or what is drawn, times replicates) that a thread has at once.
_AT_ONCE = 1 << 22
#: Replicates that are looked at together: what is made of a part of the items for so many fits a cache.
_WIDE = 16
#: Ratings of which sums are taken together.
_PART = 1 << 17
#: Nothing is nearer to full reliability than this.
_NEAREST = 1e-6


@dataclass(frozen=True, slots=True)
class SplitHalf:
    """`half` is the mean r between halves over the splits, `full_length` its Spearman-Brown correction.

    `sd` is the standard deviation of the corrected figure over the splits, `items` how many items had a mean
    in both halves on average, `splits` how many splits gave a figure, `removed_workers` how many workers were
    removed on average when they were judged on other items. `full_length` has the interval; `no_interval`
    says why there is none.
    """

    half: Figure
    full_length: Figure
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
    distinct_seconds = None if seconds is None else seconds[distinct]
    cross_judged = held_out(
        rows, recipe, data.generator(seed, "folds"), checks=checks, seconds=distinct_seconds
    )
    stand = rows if cross_judged.standing.all() else rows.only(cross_judged.standing)
    halves, items, reason = _halves(stand, recipe, splits, data.generator(seed, "split-half"))
    if not halves:
        return replace(_none(reason), removed_workers=cross_judged.removed_workers)
    r = float(np.mean(halves))
    spread = float(np.std(halves, ddof=1)) * 2 / (1 + max(r, 0.0)) ** 2 if len(halves) > 1 else None
    full_length = Figure(2 * r / (1 + r)) if r > 0 else Figure(None, NO_AGREEMENT)
    ci, why = None, full_length.reason or NO_INTERVAL
    if full_length.value is not None and replicates:
        ci, why = interval(stand, full_length.value, replicates=replicates, seed=seed), TOO_FEW_TO_DRAW
    return SplitHalf(
        Figure(r),
        replace(full_length, ci=ci),
        spread,
        float(np.mean(items)),
        len(halves),
        cross_judged.removed_workers,
        "" if ci is not None else why,
    )


def _halves(
    ratings: data.Ratings, recipe: Recipe, splits: int, rng: np.random.Generator
) -> tuple[list[float], list[int], str]:
    """r between the halves of each split, items behind it, and why a split may have had none."""
    rule = replace(recipe, z_least=-(-recipe.z_least // 2), z_keep=-(-recipe.z_keep // 2))
    r_values, items, reason = [], [], TOO_FEW
    for second in splits_of_ratings(ratings, splits, rng):
        kept_ratings = ~respond(doubled(ratings, second), rule).mask if recipe.has(Z) else None
        one, two = _means(ratings, second, kept_ratings).reshape(-1, 2).T
        both = ~(np.isnan(one) | np.isnan(two))
        r = _pearson(one[both], two[both]) if both.sum() >= LEAST_ITEMS else None
        if r is None:
            enough = both.sum() >= LEAST_ITEMS
            alike = data.NO_VARIATION if len(np.unique(ratings.scores)) < 2 else SAME_MEANS
            reason = alike if enough else TOO_FEW
            continue
        r_values.append(r)
        items.append(int(both.sum()))
    return r_values, items, reason


def replicates_of(requested: int, ratings: int) -> int:
    """How many draws of each kind are behind an interval when so many were asked for."""
    return min(requested, _OF_MANY if ratings > _MANY else REPLICATES)


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
    threads = threads_for(len(ratings) * replicates)
    for over, size in (("items", n_items), ("workers", n_workers), ("ratings", len(ratings))):
        rng = data.generator(seed, f"reliability over {over}")
        draws = _draw_counts(data.Draws(size), replicates, max(size, n_items), rng)
        values = np.concatenate(map_in_order(partial(means.resample, over), draws, threads))
        missing = np.log(np.maximum(1 - values, _NEAREST))
        missing = missing[~np.isnan(missing)]
        if len(missing) < replicates / 2:
            return None
        spread[over] = float(np.var(missing, ddof=1))
    over_both = spread["items"] + spread["workers"] - spread["ratings"]
    variance = max(over_both, spread["items"], spread["workers"])
    ends = float(stdtrit(min(n_items, n_workers) - 1, (1 + _COVERAGE) / 2)) * np.sqrt(variance)
    middle = np.log(max(1 - reliability, _NEAREST))
    return max(0.0, float(1 - np.exp(middle + ends))), float(1 - np.exp(middle - ends))


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Some consecutive items with their ratings in order, as matrices of items by what is drawn."""

    items: slice
    rows: slice
    far: Weights
    workers: "csr_array"
    ratings: "csr_array"

    def sums(self, of_workers: Weights | None, times: Drawn) -> "_ItemSums":
        """The sums of these items under weights of workers, or else of the drawn ratings."""
        from scipy.sparse import csr_array

        counts, weights = self.workers, of_workers
        if weights is None:
            counts, weights = self.ratings, _columns(times[:, self.rows])
        places = (counts.indices, counts.indptr)
        return _ItemSums(
            counts @ weights,
            csr_array((self.far, *places), shape=counts.shape) @ weights,
            csr_array((self.far * self.far, *places), shape=counts.shape) @ weights,
            counts @ np.square(weights),
        )


class _ItemSums(NamedTuple):
    """Per item and replicate: sums of weights, weighted scores, weighted squares, squared weights."""

    n: Weights
    sums: Weights
    squares: Weights
    own: Weights

    def of(self, items: slice) -> "_ItemSums":
        """Those of some items."""
        return _ItemSums(*(each[items] for each in self))

    @classmethod
    def joined(cls, parts: "Iterable[_ItemSums]") -> "_ItemSums":
        """Those of several parts, one after the other."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


class _Means:
    """Means of items under weights of items, workers or ratings, and how reliable they are.

    Beside two columns of the ratings, what is held grows with the items: sums are taken a part at a time.
    """

    def __init__(self, items: data.Codes, workers: data.Codes, scores: Weights) -> None:
        order = data.stable_order(items)
        n = np.bincount(items)
        scores -= scores.mean()
        far, columns = scores[order], workers[order]
        del order
        self.parts = list(_parts_of(far, columns, n, int(workers.max()) + 1))
        self.raters = n.astype(np.float32)[:, None]
        once = np.ones((1, len(far)), dtype=np.uint8)
        self.undrawn = _ItemSums.joined(part.sums(None, once) for part in self.parts)

    def _sums(self, over: str, times: Drawn) -> Iterator[tuple[slice, _ItemSums]]:
        """Sums of items, a part of them after the other; of all at once for a single replicate."""
        everything = slice(0, len(self.raters))
        weights = _columns(times) if over == "workers" else None
        if over == "items":
            parts = [everything] if len(times) == 1 else [part.items for part in self.parts]
            yield from ((items, self.undrawn.of(items)) for items in parts)
        elif len(times) == 1:
            yield everything, _ItemSums.joined(part.sums(weights, times) for part in self.parts)
        else:
            yield from ((part.items, part.sums(weights, times)) for part in self.parts)

    def resample(self, over: str, drawn_times: Drawn) -> data.Floats:
        """ICC(1, k) for each row of weights; nan where there is none.

        A rating of weight u counts as u ratings by one person: pairs of them say nothing, so the variance
        inside items is that between different people, and what weights add to the variance of means is
        taken off.
        """
        total, apart, inside, copies, middle, share, between = (_Total() for _ in range(7))
        looked_at = []
        for items, (n, sums, squares, squared) in self._sums(over, drawn_times):
            sizes = np.maximum(n, _NEAREST)
            own = squared / sizes
            rated = n > 0
            counted: np.ndarray = (
                _columns(drawn_times[:, items]) * rated if over == "items" else rated * np.float32(1)
            )
            total.add(counted)
            apart.add(counted * (n - own))
            inside.add(counted * (squares - sums * sums / sizes))
            copies.add(counted * own / sizes)
            means: np.ndarray = sums / sizes
            middle.add(counted * means)
            share.add(counted / self.raters[items])
            looked_at.append((means, counted.astype(np.uint8)))
        del n, sums, squares, squared, own, sizes
        mean = middle.sum / total.sum
        while looked_at:
            means, times = looked_at.pop(0)
            centred = means - mean
            between.add(centred * (times.astype(np.float32) * centred))
        within = data.divided(inside.sum, np.where(apart.sum > _NEAREST, apart.sum, 0))
        of_items = between.sum / np.maximum(total.sum - 1, 1) - within * copies.sum / total.sum
        all_variance = of_items + within * share.sum / total.sum
        return data.divided(of_items, np.where(all_variance > 0, all_variance, 0))


class _Total:
    """Sums over items for each replicate, in full precision: items come some at a time, in their order.

    They are added one after the other, so that it is the same how many come at once; those of one replicate
    come all together, and are added as numpy adds a column.
    """

    def __init__(self) -> None:
        self.sum: data.Floats = np.zeros(0)

    def add(self, values: npt.NDArray[np.floating]) -> None:
        """Add what some items have, a column for each replicate."""
        if values.shape[1] > 1 and len(self.sum):
            rows = np.empty((len(values) + 1, values.shape[1]))
            rows[0], rows[1:] = self.sum, values
            values = rows
        self.sum = np.asarray(values.sum(axis=0, dtype=np.float64), dtype=np.float64)


def _parts_of(far: Weights, workers: data.Codes, n: data.Whole, n_workers: int) -> Iterator[_Part]:
    """Items with about `_PART` ratings together; scores and workers lie item by item, `n` of each."""
    from scipy.sparse import csr_array

    ends = np.concatenate(([0], np.cumsum(n)))
    cuts = np.unique(np.searchsorted(ends, np.arange(0, len(far) + _PART, _PART)).clip(max=len(n))).tolist()
    most = max(int(ends[stop] - ends[start]) for start, stop in pairwise(cuts))
    ones, places = np.ones(most, dtype=np.float32), np.arange(most, dtype=np.int32)
    for start, stop in pairwise(cuts):
        rows = slice(int(ends[start]), int(ends[stop]))
        size = rows.stop - rows.start
        until = (ends[start : stop + 1] - ends[start]).astype(np.int32)
        yield _Part(
            slice(start, stop),
            rows,
            far[rows],
            csr_array((ones[:size], workers[rows], until), shape=(stop - start, n_workers)),
            csr_array((ones[:size], places[:size], until), shape=(stop - start, size)),
        )


def _columns(times: Drawn) -> Weights:
    """Draws as weights, a column for each replicate."""
    return np.asarray(times.T, dtype=np.float32, order="C")


def _draw_counts(draws: data.Draws, replicates: int, size: int, rng: np.random.Generator) -> Iterator[Drawn]:
    """How often each is drawn, a row for each replicate, some replicates at a time.

    `size` numbers belong to a replicate. Which ones come alone decides about the last digit: all of many
    numbers, and of less the one that is left over behind full groups of `_TOGETHER` numbers.
    """
    step = max(1, _TOGETHER // size)
    alone = replicates if step == 1 else int(replicates % step == 1)
    widths = [part.stop - part.start for part in parts_of(replicates - alone, min(_WIDE, _AT_ONCE // size))]
    for width in [*filter(None, widths), *[1] * alone]:
        times = np.zeros((width, draws.size), dtype=np.uint8)
        for counts in times:
            draws.add(rng, counts)
        yield times


def _none(reason: str) -> SplitHalf:
    return SplitHalf(Figure(None, reason), Figure(None, reason), None, 0.0, 0, no_interval=reason)


def _means(ratings: data.Ratings, second: data.Mask, kept_ratings: data.Mask | None) -> data.Floats:
    """Mean of every item in the first half and in the second, from the ratings that are kept; nan where none
    is."""
    size = 2 * ratings.n_items
    n, sums = np.zeros(size, dtype=np.int64), np.zeros(size)
    for rows in data.portions(ratings, size):
        codes, scores = 2 * ratings.items[rows].astype(np.int64) + second[rows], ratings.scores[rows]
        if kept_ratings is not None:
            codes, scores = codes[kept_ratings[rows]], scores[kept_ratings[rows]]
        n += np.bincount(codes, minlength=size)
        sums += np.bincount(codes, weights=scores, minlength=size)
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
