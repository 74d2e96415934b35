"""Intervals of Krippendorff's alpha by resampling, and alpha after a response filter on simulated ratings.

Two-way: items and workers are drawn with replacement, independently of each other, and a rating counts as
often as its item and its worker together (the pigeonhole bootstrap: Owen 2007, Annals of Applied Statistics
1(2); Owen and Eckles 2012). Items alone say how alpha varies over items for these workers.

A worker drawn twice meets their own copy on every item they rated. Such a pair agrees by construction and
says nothing about agreement between people: with ten ratings per item it would lift every replicate by about
a tenth of what is missing to 1. So only pairs of different workers count. An item whose workers have been
drawn u_j times (m = sum of u_j) contributes m ratings' worth of its mean disagreement d over pairs: the sum
over j != k of u_j u_k d_jk, divided by the weight of such pairs, m^2 - sum of u_j^2. With all u = 1 that is
Krippendorff's 1/(n - 1). The expected disagreement leaves out a rating's pairs with its own copies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from metrics.agreement import data
from metrics.agreement.alpha import Level, alpha_of, distances, from_coincidences
from metrics.agreement.batches import map_in_order, threads_for
from metrics.agreement.filters import respond
from metrics.agreement.recipes import Recipe
from metrics.figure import Figure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Over = Literal["both", "items"]
Weights = npt.NDArray[np.float32]
Drawn = npt.NDArray[np.uint8]

COVERAGE = 0.95
# An interval needs this share of the replicates to have an alpha.
DEFINED = 0.9
# Items in a block, and weights of workers over all replicates that are made together: what fits a cache.
ITEMS = 2048
WEIGHTS = 1 << 20
# Draws of items in bytes that two groups of replicates may have together.
DRAWS = 1 << 25
# Whole numbers are added up in as few bytes as hold them if nothing is drawn more often than this.
OFTEN = 16
# Up to so many scores, pairs of them are looked at one by one.
FEW = 11
# A spread of scores, squared, below which they are the same but for rounding.
NOTHING = 1e-12


def alpha_interval(
    ratings: data.Ratings,
    *,
    level: Level = "interval",
    replicates: int = 1000,
    seed: int = 0,
    over: Over = "both",
) -> tuple[float, float] | None:
    """The bounds of a 95 % percentile interval of alpha; None where it has none.

    `over="both"` generalises to other items and other workers; `over="items"` holds for these workers only
    and is much narrower. Deterministic in the seed.
    """
    if np.count_nonzero(np.bincount(ratings.workers, minlength=1)) < 2:
        return None
    counts = data.value_counts(ratings)
    several = counts.sum(axis=1) > 1
    if not several.any():
        return None
    rng = data.generator(seed, "bootstrap")
    if over == "items":
        alphas = _over_items(counts[several], ratings.scale.values, level, replicates, rng)
    else:
        del counts  # there may be millions of items
        alphas = _over_both(ratings.only(several[ratings.items]), level, replicates, rng)
    alphas = alphas[~np.isnan(alphas)]
    if len(alphas) < DEFINED * replicates:
        return None
    low, high = np.quantile(alphas, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return float(low), float(high)


#: Why an alpha has no interval.
NOT_ASKED = "no interval was asked for (0 replicates)"
ONE_PAIRABLE = "not defined: only one item has two ratings, and a sample of it is always the same"


def interval_or_reason(
    ratings: data.Ratings, one: Figure, *, replicates: int, seed: int
) -> tuple[tuple[float, float] | None, str]:
    """The two-way interval of `one`, the interval alpha of the ratings, or why it has none."""
    if one.value is None:
        return None, one.reason
    if int((np.bincount(ratings.items) > 1).sum()) < 2:
        return None, ONE_PAIRABLE
    if not replicates:
        return None, NOT_ASKED
    ci = alpha_interval(ratings, replicates=replicates, seed=seed)
    workers, items = data.count_different(ratings.workers), int((np.bincount(ratings.items) > 1).sum())
    few = f"not defined: {items:,} items with two ratings by {workers:,} workers are too few to draw from"
    return ci, "" if ci is not None else few


def _over_items(
    counts: data.Counts,
    values: npt.NDArray[np.number],
    level: Level,
    replicates: int,
    rng: np.random.Generator,
) -> data.Floats:
    """Alphas of samples of these items.

    Items with the same counts are the same to alpha, so a sample is one multinomial draw over the different
    histograms, of which there are far fewer than items.
    """
    kinds, frequency = _histograms(counts)
    n = kinds.sum(axis=1)
    marks = values.astype(np.float64)
    alphas = np.full(replicates, np.nan)
    for replicate in range(replicates):
        weighted = kinds * (rng.multinomial(len(counts), frequency / len(counts)) / (n - 1))[:, None]
        together = kinds.T @ weighted - np.diag(weighted.sum(axis=0))
        value = from_coincidences(together, marks, level)
        if value is not None:
            alphas[replicate] = value
    return alphas


def _histograms(counts: data.Counts) -> tuple[data.Floats, data.Counts]:
    """The different rows of a count matrix and how often each is there."""
    base = int(counts.max()) + 1
    size = counts.shape[1]
    if base**size < 1 << 62:
        keys, frequency = np.unique(counts @ base ** np.arange(size), return_counts=True)
        return (keys[:, None] // base ** np.arange(size) % base).astype(np.float64), frequency
    rows, frequency = np.unique(counts, axis=0, return_counts=True)
    return rows.astype(np.float64), frequency


def _over_both(ratings: data.Ratings, level: Level, replicates: int, rng: np.random.Generator) -> data.Floats:
    """Alphas of samples of items and of workers, some replicates at a time, item block by item block."""
    items, n_items = data.codes_in_use(ratings.items, ratings.n_items)
    workers, n_workers = data.codes_in_use(ratings.workers, ratings.n_workers)
    sample = data.Ratings(
        items, workers, ratings.scores, ("",) * n_items, ("",) * n_workers, ratings.scale
    )  # names are left out
    moments = level == "interval" and ratings.scale.size > FEW
    blocks = list(_blocks(sample, moments=moments))
    del items, workers, sample
    values = ratings.scale.values.astype(np.float64)
    threads = threads_for(len(ratings) * replicates)

    def alphas(draws: tuple[Drawn, Drawn]) -> list[float]:
        of_worker, of_item = draws
        sums = (_Moments if moments else _Sums)(_columns(of_worker), ratings.scale.size)
        for block in blocks:
            sums.add(block, _columns(of_item[:, block.items]))
        return [sums.alpha(replicate, values, level) for replicate in range(len(of_worker))]

    draws = _batches(n_workers, n_items, replicates, rng)
    return np.array([alpha for batch in map_in_order(alphas, draws, threads) for alpha in batch])


def _batches(
    n_workers: int, n_items: int, replicates: int, rng: np.random.Generator
) -> Iterator[tuple[Drawn, Drawn]]:
    """Draws of workers and of items, a row for each replicate, some replicates at a time.

    In the stream of chance a few draws of workers come before as many of items, in groups of one size. Two
    groups are worked on together where they are not too large: fewer and longer sums.
    """
    group = int(np.clip(WEIGHTS // n_workers, 1, 32))
    groups = 2 if group * n_workers <= WEIGHTS // 2 and 2 * group * n_items <= DRAWS else 1
    draws_of_workers, draws_of_items = data.Draws(n_workers), data.Draws(n_items)
    for start in range(0, replicates, groups * group):
        width = min(groups * group, replicates - start)
        of_worker = np.zeros((width, n_workers), dtype=np.uint8)
        of_item = np.zeros((width, n_items), dtype=np.uint8)
        for first in range(0, width, group):
            rows, size = slice(first, first + group), min(group, width - first)
            of_worker[rows] = _draw_counts(draws_of_workers, size, rng, least=2)
            of_item[rows] = _draw_counts(draws_of_items, size, rng)
        yield of_worker, of_item


def _draw_counts(draws: data.Draws, width: int, rng: np.random.Generator, least: int = 1) -> Drawn:
    """How often each is drawn, a row for each replicate.

    Draws of fewer than `least` different ones are drawn again: a single worker has nobody to agree with, and
    of three workers every ninth draw would be one.
    """
    times = np.zeros((width, draws.size), dtype=np.uint8)
    for counts in times:
        draws.add(rng, counts)
        while least > 1 and np.count_nonzero(counts) < least:
            counts[:] = 0
            draws.add(rng, counts)
    return times


def _columns(times: Drawn) -> Weights:
    """Draws as weights, a column for each replicate."""
    return np.asarray(times.T, dtype=np.float32, order="C")


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some consecutive items: who gave each of them each score, as a sparse matrix, and who rated each.

    Items of one task have the same raters: `by_raters` has a row for each different crew, and `crew` says
    which one an item has; where few items share one, it has a row for each item and `crew` is None. The rows
    of `by_score` are the items for the first score, then for the second, and so on. It is there for `_Sums`
    alone, in as few bytes as hold what is drawn; `first` and `second`, which have the scores and their
    squares, for `_Moments` alone.
    """

    items: slice
    by_raters: "csr_array"
    crew: npt.NDArray[np.intp] | None = None
    by_score: "csr_array | None" = None
    first: "csr_array | None" = None
    second: "csr_array | None" = None


def _blocks(ratings: data.Ratings, *, moments: bool) -> Iterator[_Block]:
    from scipy.sparse import csr_array

    counts = data.value_counts(ratings)
    kind = np.min_scalar_type(int(counts.max()) * OFTEN)
    items = len(counts)
    n = counts.sum(axis=1)
    same = None if moments else _same_raters(ratings, n)
    # Sorted by item, then by score, then as they were submitted.
    order = data.order_in_place(data.cells(ratings, slice(None)))
    columns = ratings.workers[order]
    far = ratings.scores[order] - np.float64(ratings.scores.mean()) if moments else None
    del order
    ends = np.concatenate(([0], np.cumsum(n))).astype(np.int32)
    most = int(np.add.reduceat(n, np.arange(0, items, ITEMS)).max())
    each, once = np.ones(most, dtype=np.float32), np.ones(most, dtype=kind)
    for start in range(0, items, ITEMS):
        stop = min(start + ITEMS, items)
        rows, shape = slice(ends[start], ends[stop]), (stop - start, ratings.n_workers)
        block_columns, until = columns[rows], ends[start : stop + 1] - ends[start]
        crew = None
        if same is not None:
            first = ~same[start:stop]
            first[0] = True
            if 2 * np.count_nonzero(first) <= stop - start:
                crew = np.cumsum(first) - 1
        if crew is None:
            by_raters = csr_array((each[: len(block_columns)], block_columns, until), shape=shape)
        else:
            by_raters = csr_array((each[: len(block_columns)], block_columns, until), shape=shape)[
                np.flatnonzero(first)
            ]
        if far is None:
            by_score = _by_score(block_columns, counts[start:stop], once, ratings.n_workers)
            yield _Block(slice(start, stop), by_raters, crew, by_score)
        else:
            powers = (csr_array((far[rows] ** power, block_columns, until), shape=shape) for power in (1, 2))
            yield _Block(slice(start, stop), by_raters, None, None, *powers)


def _same_raters(ratings: data.Ratings, n: data.Counts) -> npt.NDArray[np.bool_]:
    """Which items have the raters of the item before, in the same order of submission.

    Every item has a rating; `n` says how many.
    """
    order = data.stable_order(ratings.items)
    workers = ratings.workers[order]
    del order
    starts = np.cumsum(n) - n
    same = np.zeros(len(n), dtype=np.bool_)
    for start in range(1, len(n), ITEMS):
        stop = min(start + ITEMS, len(n))
        first, last = int(starts[start]), int(starts[stop - 1] + n[stop - 1])
        # The place of each rating in the item before, if that has as many.
        before = np.arange(first, last) - np.repeat(n[start:stop], n[start:stop])
        equal = workers[first:last] == workers[np.maximum(before, 0)]
        same[start:stop] = np.logical_and.reduceat(equal, starts[start:stop] - first)
    same[1:] &= n[1:] == n[:-1]
    return same


def _by_score(
    workers: data.Codes, counts: data.Counts, once: npt.NDArray[np.number], n_workers: int
) -> "csr_array":
    """Workers in the order of item and score, put in that of score and item, as a sparse matrix."""
    from scipy.sparse import csr_array

    items, size = counts.shape
    scores = np.repeat(np.tile(np.arange(size, dtype=np.int16), items), counts.ravel())
    ends = np.concatenate(([0], np.cumsum(counts.T))).astype(np.int32)
    columns = workers[np.argsort(scores, kind="stable")]
    return csr_array((once[: len(columns)], columns, ends), shape=(size * items, n_workers))


class _Moments:
    """The same as `_Sums` for squared distances, which follow from sums of scores and of their squares.

    The work does not grow with the number of scores: for sliders.
    """

    def __init__(self, of_worker: Weights, _size: int) -> None:
        width = of_worker.shape[1]
        self.drawn = of_worker.astype(np.float64)
        self.squared = np.square(self.drawn)
        self.observed, self.own, self.total = np.zeros(width), np.zeros(width), np.zeros(width)
        self.first, self.second = np.zeros(width), np.zeros(width)

    def add(self, block: _Block, of_item: Weights) -> None:
        """Adds the disagreement of a block of items, weighted by how often items and workers are drawn."""
        assert block.first is not None and block.second is not None
        m, first, second = block.by_raters @ self.drawn, block.first @ self.drawn, block.second @ self.drawn
        copies = block.by_raters @ self.squared
        pairs = m * m - copies
        counted = of_item * (pairs > 0)
        weight = counted * m / np.maximum(pairs, 1)
        self.observed += (weight * 2 * (m * second - first * first)).sum(axis=0)
        self.total += (counted * m).sum(axis=0)
        self.first += (counted * first).sum(axis=0)
        self.second += (counted * second).sum(axis=0)
        self.own += (np.square(counted) * copies).sum(axis=0)

    def alpha(self, replicate: int, _values: data.Floats, _level: Level) -> float:
        """Alpha of one replicate, nan where all its ratings are the same."""
        total = float(self.total[replicate])
        expected = 2 * float(total * self.second[replicate] - self.first[replicate] ** 2)
        if expected <= NOTHING * total * total:
            return float("nan")
        observed = float(self.observed[replicate]) / total
        return 1 - observed * (total * total - float(self.own[replicate])) / expected


class _Sums:
    """What alphas of some replicates are made of, added up over blocks of items.

    `pairs` are whole numbers, so an item that has none is divided by 1 instead, and what it adds is 0.
    """

    def __init__(self, of_worker: Weights, size: int) -> None:
        width = of_worker.shape[1]
        self.drawn, self.squared = of_worker, np.square(of_worker)
        self.often = int(of_worker.max()) > OFTEN
        self.whole: npt.NDArray[np.number] | None = None
        self.together = np.zeros((size, size, width))
        self.marginal = np.zeros((size, width))
        self.own = np.zeros(width)

    def _scored(self, block: _Block) -> Weights:
        """How often each item got each score from the drawn workers: shape (V, items, width)."""
        assert block.by_score is not None
        size, width = self.marginal.shape
        by_score = block.by_score.astype(np.float32) if self.often else block.by_score
        if self.whole is None:
            self.whole = self.drawn.astype(by_score.dtype)
        scored: Weights = (by_score @ self.whole).reshape(size, -1, width).astype(np.float32, copy=False)
        if width == 1:  # in memory item by item, so that the sums add in the order of a wider batch
            scored = np.ascontiguousarray(scored.transpose(1, 0, 2)).transpose(1, 0, 2)
        return scored

    def add(self, block: _Block, of_item: Weights) -> None:
        """Adds the coincidences of a block of items, weighted by how often items and workers are drawn.

        All but `weight` are whole numbers; in which order they are added and multiplied changes nothing.
        """
        scored = self._scored(block)
        m = scored.sum(axis=0) if block.crew is None else block.by_raters @ self.drawn
        copies = block.by_raters @ self.squared
        pairs = m * m
        pairs -= copies
        paired = pairs > 0
        np.maximum(pairs, 1, out=pairs)
        if block.crew is not None:
            m, copies, pairs, paired = (each.take(block.crew, axis=0) for each in (m, copies, pairs, paired))
        counted = of_item * paired
        weight = np.multiply(counted, m, out=m)
        weight /= pairs
        weighted = scored[1:] * weight
        for first in range(1, len(scored)):
            pair = np.einsum("iw,viw->vw", weighted[first - 1], scored[:first])
            self.together[first, :first] += pair
            self.together[:first, first] += pair
        self.marginal += np.einsum("iw,viw->vw", counted, scored)
        self.own += np.einsum("iw,iw->w", np.square(counted), copies)

    def alpha(self, replicate: int, values: data.Floats, level: Level) -> float:
        """Alpha of one replicate, nan where all its ratings are the same."""
        marginal = self.marginal[:, replicate]
        apart = distances(values, marginal, level)
        expected = float(marginal @ apart @ marginal)
        if expected <= 0:
            return float("nan")
        total = float(marginal.sum())
        observed = float((self.together[:, :, replicate] * apart).sum()) / total
        return 1 - observed * (total * total - float(self.own[replicate])) / expected


# What a response filter makes of ratings without any agreement: the null of alpha after z.
#
# Each worker's scores are dealt out again over the items that this worker rated: how workers use the scale
# stays, what they say about items is gone. The same filter on such ratings shows how much agreement it
# manufactures out of nothing. What it makes of a crowd that does agree follows below.


@dataclass(frozen=True, slots=True)
class Null:
    """Mean alphas of permuted ratings before and after the filter, and the spread of the second."""

    before: Figure
    after: Figure
    sd: float | None
    permutations: int


def permuted(ratings: data.Ratings, rng: np.random.Generator) -> data.Ratings:
    """The ratings with every worker's scores in random order over the same items."""
    by_worker = np.argsort(ratings.workers, kind="stable")
    return _dealt(ratings, by_worker, rng)


def null_alpha(
    ratings: data.Ratings,
    recipe: Recipe,
    *,
    level: Level = "interval",
    permutations: int = 20,
    seed: int = 0,
) -> Null:
    """Alpha that the recipe's response filter makes of ratings permuted within worker.

    `ratings` are those that the rules about workers left: the rows that the filter sees.
    """
    rng = data.generator(seed, "permutation")
    by_worker = np.argsort(ratings.workers, kind="stable")
    before: list[Figure] = []
    after: list[Figure] = []
    for _ in range(permutations):
        noise = _dealt(ratings, by_worker, rng)
        before.append(alpha_of(noise, level))
        after.append(alpha_of(noise.only(~respond(noise, recipe).mask), level))
    values = [figure.value for figure in after if figure.value is not None]
    return Null(
        _mean(before),
        _mean(after),
        float(np.std(values, ddof=1)) if len(values) > 1 else None,
        permutations,
    )


def _dealt(ratings: data.Ratings, by_worker: np.ndarray, rng: np.random.Generator) -> data.Ratings:
    workers = ratings.workers[by_worker].astype(np.int64)
    keys = (workers << 32) | rng.integers(0, 1 << 32, len(workers), dtype=np.int64)
    scores: data.Scores = np.empty_like(ratings.scores)
    scores[by_worker] = ratings.scores[by_worker[np.argsort(keys)]]
    return data.Ratings(
        ratings.items, ratings.workers, scores, ratings.item_names, ratings.worker_names, ratings.scale
    )


def _mean(figures: list[Figure]) -> Figure:
    values = [figure.value for figure in figures if figure.value is not None]
    if not values:
        return Figure(None, figures[0].reason if figures else "not calculated")
    return Figure(float(np.mean(values)))


# What a response filter makes of a crowd that agrees as much as this one did before it.
#
# A filter that removes the ratings far from the others raises alpha at every level of agreement, so alpha
# after it cannot be read by itself. Crowds are made with the same items, workers, numbers of ratings and
# scale: each rating becomes one drawn from those of the same item, or, as often as it takes until alpha is
# what it was before the filter, one of the same worker's own scores on any item. The same filter then shows
# what it makes of a crowd of which nothing is known but that. Alpha after the filter says something only
# where it differs from this.

_STEPS = 12


@dataclass(frozen=True, slots=True)
class ExpectedAlpha:
    """Mean alphas of the made crowds before and after the filter, and the spread of the second."""

    before: Figure
    after: Figure
    sd: float | None
    crowds: int


def expected_alpha(
    ratings: data.Ratings, recipe: Recipe, *, level: Level = "interval", crowds: int = 10, seed: int = 0
) -> ExpectedAlpha:
    """Alpha that the recipe's response filter makes of crowds whose alpha is that of `ratings`."""
    raw = alpha_of(ratings, level)
    if raw.value is None:
        return ExpectedAlpha(raw, raw, None, 0)
    rng = data.generator(seed, "crowds of the same agreement")
    crowds_made = [_crowd(ratings, raw.value, level, rng) for _ in range(crowds)]
    before = [alpha_of(each, level) for each in crowds_made]
    after = [alpha_of(each.only(~respond(each, recipe).mask), level) for each in crowds_made]
    values = [figure.value for figure in after if figure.value is not None]
    return ExpectedAlpha(
        _mean(before),
        _mean(after),
        float(np.std(values, ddof=1)) if len(values) > 1 else None,
        crowds,
    )


def _crowd(ratings: data.Ratings, raw: float, level: Level, rng: np.random.Generator) -> data.Ratings:
    """A crowd of about this alpha: the more ratings come from workers instead of items, the lower it is."""
    of_item = ratings.scores[_partners(ratings.items, ratings.n_items, rng)]
    of_worker = ratings.scores[_partners(ratings.workers, ratings.n_workers, rng)]
    chance = rng.random(len(ratings))
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        share = (low + high) / 2
        alpha = alpha_of(_mixed(ratings, chance < share, of_worker, of_item), level).value
        low, high = (share, high) if alpha is not None and alpha > raw else (low, share)
    return _mixed(ratings, chance < (low + high) / 2, of_worker, of_item)


def _mixed(
    ratings: data.Ratings, blind: np.ndarray, of_worker: np.ndarray, of_item: np.ndarray
) -> data.Ratings:
    return replace(ratings, scores=np.where(blind, of_worker, of_item))


def _partners(codes: data.Codes, size: int, rng: np.random.Generator) -> np.ndarray:
    """For each row another row, or itself, of the same code."""
    order = np.argsort(codes, kind="stable")
    n = np.bincount(codes, minlength=size)
    start = np.cumsum(n) - n
    partners: np.ndarray = order[start[codes] + (rng.random(len(codes)) * n[codes]).astype(np.int64)]
    return partners
