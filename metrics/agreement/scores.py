"""The published score of every item, how much its ratings differ, and true labels of categories."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import (
    ROWS,
    Codes,
    Floats,
    Mask,
    Ratings,
    Scores,
    Sums,
    Whole,
    divided,
    rows_by_items,
    value_counts,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Items whose scores are worked out together: what is made of them on the way fits a cache.
ITEMS = 1 << 14

TRIM = 5
"""A trimmed mean leaves out n // 5 ratings (20 %) at each end, as `scipy.stats.trim_mean(x, 0.2)` does."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemScores:
    """One entry per item; nan where the kept ratings do not define the figure.

    `mean`, `sd` (n - 1 below the line; needs two ratings), `median` (of an even number: half way between the
    middle two) and `trimmed` (20 % trimmed mean) are over the kept ratings, `n_raw` counts all.
    """

    n_raw: Whole
    n_kept: Whole
    mean: Floats
    sd: Floats
    median: Floats
    trimmed: Floats


def item_scores(ratings: Ratings, kept_ratings: Mask | None = None) -> ItemScores:
    """Scores of all items from the `kept_ratings` (one truth per rating); without it from all."""
    counts = value_counts(ratings) if kept_ratings is None else value_counts(ratings, among=kept_ratings)
    values, unit = ratings.scale.steps, float(ratings.scale.unit)
    n = counts.sum(axis=1)
    statistics = np.empty((4, len(n)))
    for start in range(0, len(n), ITEMS):
        block_items = slice(start, start + ITEMS)
        block, rated = counts[block_items], n[block_items]
        sums = Sums(rated, block @ values, block @ (values * values))
        upto = block.cumsum(axis=1)
        statistics[:, block_items] = (
            sums.mean * unit,
            np.sqrt(sums.variance) * unit,
            _median(upto, rated, values) * unit,
            _trimmed(upto, rated, values) * unit,
        )
    raw = np.bincount(ratings.items, minlength=ratings.n_items).astype(np.int64, copy=False)
    return ItemScores(raw, n, *statistics)


def _median(upto: Whole, n: Whole, values: npt.NDArray[np.int64]) -> Floats:
    lower = (upto <= ((n - 1) // 2)[:, None]).sum(axis=1)
    upper = (upto <= (n // 2)[:, None]).sum(axis=1)
    rated = n > 0
    medians = np.full(len(n), np.nan)
    medians[rated] = (values[lower[rated]] + values[upper[rated]]) / 2
    return medians


def _trimmed(upto: Whole, n: Whole, values: npt.NDArray[np.int64]) -> Floats:
    cut = n // TRIM
    inside = np.clip(upto, cut[:, None], (n - cut)[:, None]) - cut[:, None]
    left = np.diff(inside, axis=1, prepend=0)
    return divided(left @ values, n - 2 * cut)


# Scores that allow for workers who rate high, low or carelessly: ITU-T P.913 (06/2021), clause 12.6.
#
# Each rating is taken as quality of the item + bias of the worker + noise, where the noise of each worker
# has its own standard deviation, the worker's inconsistency. The three are found by alternating projection
# (Li, Bampis, Krasula, Janowski, Katsavounidis: "A simple model for subject behavior in subjective
# experiments", 2020): each in turn from the other two until the qualities stand still. Only differences of
# biases are in the data, so their mean over the workers is set to zero.
#
# The published procedure believes a worker who always gives one score, or whose few ratings happen to fit:
# a variance near zero gets a weight without bound, and that worker alone then decides. So variances are
# shrunk: `shrink` imagined ratings of ordinary noise (that of all workers together) are added to the
# ratings of each. With `shrink=0` it is the published procedure. Use it after workers were filtered by
# kappa, not in place of that.

_STILL = 1e-8
_LEAST_VARIANCE = 1e-8
_MOST_ROUNDS = 500
_SCORE_BITS, _LEAST_SCORE = 16, -(1 << 15)


@dataclass(frozen=True, slots=True, eq=False)
class AdjustedScores:
    """`quality` per item, `bias` and `inconsistency` (standard deviation) per worker, in points of the scale.

    nan for items and workers without ratings. `rounds` it took; `settled` is false if the qualities were
    still moving when it was stopped.
    """

    quality: Floats
    bias: Floats
    inconsistency: Floats
    rounds: int
    settled: bool


def adjusted(ratings: Ratings, standing: Mask | None = None, *, shrink: float = 5.0) -> AdjustedScores:
    """Adjusted quality of every item, with each worker's bias (positive: rates high) and inconsistency.

    From the rows that `standing` (one truth per rating) leaves; without it from all.
    """
    table = _Table(ratings, standing)
    n = table.n
    if not n.any():
        none = np.full(ratings.n_workers, np.nan)
        return AdjustedScores(np.full(ratings.n_items, np.nan), none, none.copy(), 0, True)

    def residuals(quality: Floats) -> tuple[Floats, Floats]:
        """Sums of score minus quality, and of its square, for each worker."""
        qualities = np.nan_to_num(quality)
        first, second, product = table.by_worker(qualities)
        return table.sums - first, table.squares - 2 * product + second

    quality = divided(*table.sum_items())
    above, beyond = residuals(quality)
    bias = divided(above, n)
    settled, rounds = False, 0
    while not settled and rounds < _MOST_ROUNDS:
        rounds += 1
        before = quality
        variance = _variances(above, beyond, n, shrink)
        weights = np.nan_to_num(1 / variance)
        sums, biased, rated = table.by_item(weights, np.nan_to_num(bias) * weights)
        quality = divided(sums - biased, rated)
        above, beyond = residuals(quality)
        bias = divided(above, n)
        settled = bool(np.nanmax(np.abs(quality - before)) < _STILL)
    shift = float(np.nanmean(bias))
    unit = float(ratings.scale.unit)
    return AdjustedScores(
        (quality + shift + table.middle) * unit,
        (bias - shift) * unit,
        np.sqrt(variance) * unit,
        rounds,
        settled,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Ratings of some items in their order, those of an item in the order of workers.

    `ends` says where the ratings of each item begin and end. Before the workers of the ratings `workers` has
    every worker once. Where somebody rated an item twice, `sums` are of their centred scores and `times` how
    many there are; where not, `scores` are enough, in a quarter of the bytes.
    """

    items: slice
    ends: npt.NDArray[np.int32]
    workers: npt.NDArray[np.int32]
    scores: npt.NDArray[np.int16] | None
    sums: Floats | None = None
    times: Floats | None = None


class _Table:
    """Which worker gave which item which score, in blocks of items, for products with vectors.

    However the items are cut into blocks, sums are added up in the same order: they are the same to the last
    bit as those of one matrix, which takes three times the memory.
    """

    def __init__(self, ratings: Ratings, standing: Mask | None) -> None:
        self._n_items, self._n_workers = ratings.n_items, ratings.n_workers
        self.n = np.zeros(self._n_workers, dtype=np.int64)
        self.sums, self.squares = np.zeros(self._n_workers), np.zeros(self._n_workers)
        total = 0
        for workers, scores in self._portions(ratings, standing):
            self.n += np.bincount(workers, minlength=self._n_workers)
            total += int(scores.sum(dtype=np.int64))
        self.middle = total / max(1, int(self.n.sum()))
        for workers, scores in self._portions(ratings, standing):
            centred = scores - self.middle
            np.add.at(self.sums, workers, centred)
            np.add.at(self.squares, workers, centred**2)
        self._everybody = np.arange(self._n_workers, dtype=np.int32)
        self._blocks = [
            self._block(ratings, items, rows) for items, rows in rows_by_items(ratings, standing) if len(rows)
        ]
        self._ones = np.ones(max((len(block.workers) for block in self._blocks), default=0))

    @staticmethod
    def _portions(ratings: Ratings, standing: Mask | None) -> Iterator[tuple[Codes, Scores]]:
        for start in range(0, len(ratings), ROWS):
            portion = slice(start, start + ROWS)
            workers, scores = ratings.workers[portion], ratings.scores[portion]
            yield (
                (workers, scores)
                if standing is None
                else (workers[standing[portion]], scores[standing[portion]])
            )

    def _block(self, ratings: Ratings, items: slice, rows: npt.NDArray[np.intp]) -> _Block:
        from scipy.sparse import csr_array  # slow to import; only this needs it here

        rated = ratings.items[rows] - np.int32(items.start)
        ends = np.zeros(items.stop - items.start + 1, dtype=np.int32)
        np.cumsum(np.bincount(rated, minlength=len(ends) - 1), out=ends[1:])
        keys = rated.astype(np.int64)
        keys *= self._n_workers
        keys += ratings.workers[rows]
        keys <<= _SCORE_BITS
        keys |= ratings.scores[rows].astype(np.int64) - _LEAST_SCORE
        keys.sort()
        scores = ((keys & ((1 << _SCORE_BITS) - 1)) + _LEAST_SCORE).astype(np.int16)
        keys >>= _SCORE_BITS
        if (keys[1:] == keys[:-1]).any():
            places, shape = (rated, ratings.workers[rows]), (len(ends) - 1, self._n_workers)
            matrix = csr_array((ratings.scores[rows] - self.middle, places), shape=shape)
            times = csr_array((np.ones(len(rows)), places), shape=shape)
            workers = np.concatenate([self._everybody, matrix.indices])
            return _Block(items, matrix.indptr, workers, None, matrix.data, times.data)
        keys %= self._n_workers
        return _Block(items, ends, np.concatenate([self._everybody, keys.astype(np.int32)]), scores)

    def _matrices(self, block: _Block, *, carry: bool = False) -> "Iterator[csr_array]":
        """The block's scores, then how often each was given; with `carry` below a row for each worker."""
        from scipy.sparse import csr_array

        more = self._n_workers if carry else 0
        workers = block.workers[self._n_workers - more :]
        ends = np.concatenate([self._everybody, block.ends + np.int32(more)]) if carry else block.ends
        shape = (len(ends) - 1, self._n_workers)
        scores: npt.NDArray[np.floating] | None = (
            block.sums if block.scores is None else block.scores - self.middle
        )
        for numbers in (scores, block.times):
            data: npt.NDArray[np.floating]
            if numbers is None:
                data = self._ones[: len(workers)]
            else:
                data = np.concatenate([self._ones[:more], numbers]) if carry else numbers
            yield csr_array((data, workers, ends), shape=shape)

    def sum_items(self) -> tuple[Floats, Floats]:
        """Of each item the sum of its centred scores, and how many there are."""
        sums, rated = np.zeros(self._n_items), np.zeros(self._n_items)
        for block in self._blocks:
            scores, times = self._matrices(block)
            sums[block.items], rated[block.items] = scores.sum(axis=1), times.sum(axis=1)
        return sums, rated

    def by_item(self, weights: Floats, others: Floats) -> tuple[Floats, Floats, Floats]:
        """Of each item the sums over its ratings: of score times weight, the other number, the weight."""
        sums = np.zeros(self._n_items)
        rated = np.zeros((self._n_items, 2))
        both = np.stack([others, weights], axis=1)
        for block in self._blocks:
            scores, times = self._matrices(block)
            sums[block.items], rated[block.items] = scores @ weights, times @ both
        return sums, rated[:, 0], rated[:, 1]

    def by_worker(self, qualities: Floats) -> tuple[Floats, Floats, Floats]:
        """Of each worker the sums over their ratings of the item's number, its square, and score times it."""
        product, numbers = np.zeros(self._n_workers), np.zeros((self._n_workers, 2))
        for block in self._blocks:
            # What the blocks before add up to comes first, as ratings of items of one worker each.
            scores, times = self._matrices(block, carry=True)
            block_qualities = qualities[block.items]
            product = scores.T @ np.concatenate([product, block_qualities])
            numbers = times.T @ np.concatenate(
                [numbers, np.stack([block_qualities, block_qualities**2], axis=1)]
            )
        return numbers[:, 0], numbers[:, 1], product


def _variances(sums: Floats, squares: Floats, n: npt.NDArray[np.int64], shrink: float) -> Floats:
    """Of each worker's residuals (n below the line), drawn towards that of all by `shrink` ratings.

    `sums` and `squares` may still hold the bias: it cancels.
    """
    inside = np.maximum(squares - divided(sums * sums, n), 0)
    common = np.nansum(inside) / n.sum()
    rated = n > 0
    variances = np.full(len(n), np.nan)
    variances[rated] = (inside[rated] + shrink * common) / (n[rated] + shrink)
    floored: Floats = np.maximum(variances, _LEAST_VARIANCE)
    return floored


# True labels of items and confusions of workers: EM of Dawid & Skene (Applied Statistics 28, 1979).
#
# For stages whose answers are categories. For scores 1-5 it is the wrong tool: it looks for a class that is
# either right or wrong, and to it 4 is as far from 5 as 1 is.
#
# Why not crowd-kit: for this one algorithm its package brings transformers, nltk, scikit-learn and pyarrow. A
# few arrays give the same posteriors; a test holds them to those of crowd-kit 1.4.2 (same start from the
# shares of votes, same rule to stop). One difference: crowd-kit's bound counts the prior once per rating,
# ours once per item.

_LEAST = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What the EM found; column k stands for the score `scale.low + k`.

    `posterior`: items x labels, the chance of each label; nan for an item without ratings. `confusion`:
    workers x true label x given label, 0 for labels that the worker never gave. `priors`: share of each
    label.
    """

    posterior: Floats
    confusion: Floats
    priors: Floats
    rounds: int
    settled: bool

    @property
    def best(self) -> npt.NDArray[np.int64]:
        """Column of each item's likeliest label (of equals the lowest); -1 for items without ratings."""
        labelled = ~np.isnan(self.posterior).any(axis=1)
        best = np.full(len(self.posterior), -1, dtype=np.int64)
        best[labelled] = self.posterior[labelled].argmax(axis=1)
        return best


def dawid_skene(ratings: Ratings, *, most_rounds: int = 100, tolerance: float = 1e-5) -> Labels:
    """Labels of all items and confusions of all workers.

    It stops when the evidence lower bound, divided by the number of ratings, gains less than `tolerance`.
    """
    model = _Model(ratings)
    posterior = model.vote_shares()
    priors, confusion = model.maximise(posterior)
    bound, settled, rounds = -np.inf, not len(ratings), 0
    while not settled and rounds < most_rounds:
        rounds += 1
        posterior = model.expect(priors, confusion)
        priors, confusion = model.maximise(posterior)
        before, bound = bound, model.bound(posterior, priors, confusion) / len(ratings)
        settled = bool(bound - before < tolerance)
    return Labels(posterior, confusion, priors, rounds, settled)


class _Model:
    """Ratings as a sparse matrix, items x cells, a cell being one label of one worker."""

    def __init__(self, ratings: Ratings) -> None:
        from scipy.sparse import csr_array

        self.size = ratings.scale.size
        self.workers = ratings.n_workers
        labels = ratings.scores.astype(np.int64) - ratings.scale.low
        cells = ratings.workers.astype(np.int64) * self.size + labels
        shape = (ratings.n_items, self.workers * self.size)
        self.met = csr_array((np.ones(len(ratings)), (ratings.items, cells)), shape=shape)
        self.met_by = self.met.T.tocsr()
        self.rated = self.met.sum(axis=1) > 0
        self.given = (self.met.sum(axis=0) > 0)[:, None]

    def vote_shares(self) -> Floats:
        """Share of an item's ratings that have each label."""
        votes = self.met @ np.tile(np.eye(self.size), (self.workers, 1))
        return self._only_rated(votes / np.maximum(votes.sum(axis=1, keepdims=True), 1))

    def maximise(self, posterior: Floats) -> tuple[Floats, Floats]:
        """Priors and confusions from the labels."""
        rated_posterior = posterior[self.rated]
        priors = rated_posterior.mean(axis=0) if len(rated_posterior) else np.full(self.size, np.nan)
        counts = np.maximum(self.met_by @ np.nan_to_num(posterior), _LEAST)
        counts = np.where(self.given, counts, 0.0).reshape(-1, self.size, self.size).transpose(0, 2, 1)
        return priors, counts / np.maximum(counts.sum(axis=2, keepdims=True), _LEAST)

    def expect(self, priors: Floats, confusion: Floats) -> Floats:
        """Labels from priors and confusions."""
        logs = self._logs(priors, confusion)
        chances = np.exp(logs - logs.max(axis=1, keepdims=True))
        return self._only_rated(chances / chances.sum(axis=1, keepdims=True))

    def bound(self, posterior: Floats, priors: Floats, confusion: Floats) -> float:
        """Evidence lower bound: expected log likelihood and the entropy of the labels."""
        rated_posterior = posterior[self.rated]
        logs = self._logs(priors, confusion)[self.rated]
        return float((rated_posterior * (logs - np.log(np.maximum(rated_posterior, _LEAST)))).sum())

    def _logs(self, priors: Floats, confusion: Floats) -> Floats:
        """Of prior times likelihood, items x labels."""
        by_cell = confusion.transpose(0, 2, 1).reshape(-1, self.size)
        logs = np.log(np.where(self.given, by_cell, 1.0))
        total: Floats = np.log(np.maximum(priors, _LEAST)) + self.met @ logs
        return total

    def _only_rated(self, values: Floats) -> Floats:
        return np.where(self.rated[:, None], values, np.nan)
