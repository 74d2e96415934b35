"""Agreement beyond chance: weighted kappa, Fleiss' and Conger's, Gwet's AC1, Brennan and Prediger's.

Weighted kappa (Cohen 1968) is that of each worker against the others, or of a table:

kappa = 1 - sum(w O) / sum(w E), w the weights of disagreement (0 on the diagonal), O the observed and E the
expected proportions. Where sum(w E) = 0 it is not defined: nan in arrays. That is not a failure of a worker.
Never on ratings that a z filter has been over: it hides the workers who should go. A worker rates an item
once; remove duplicates first (metrics.agreement.filters).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.agreement.data import (
    NO_PAIRS,
    NO_RATINGS,
    NO_VARIATION,
    ONE_RATER,
    Codes,
    Counts,
    Floats,
    Mask,
    Ratings,
    Scores,
    Whole,
    cells,
    divided,
    medians,
    own_cells,
    portions,
    stable_order,
    value_counts,
)
from metrics.figure import Figure

# What it costs when two raters disagree: the weights of weighted kappa (Cohen 1968).

Weights = str | npt.ArrayLike

# A chance cost per rating below this is none: sums of fractions may leave 1e-17 of it.
NOTHING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """Weights of disagreement, shape (V, V), and the same as a product of two factors.

    apart[a, b] is the sum over r of given[a, r] and marks[r, b]; the first row of `marks` is ones. So marks,
    added up over a reference, say what any score costs against it. Quadratic weights need two beside the
    ones, others one for each score but the lowest.
    """

    apart: Floats
    factors: Floats
    marks: Floats


def disagreement(weights: Weights, size: int) -> Floats:
    """Weights of disagreement, shape (size, size): by name (unweighted, linear, quadratic) or a matrix."""
    x = np.arange(size, dtype=np.float64)
    apart = np.abs(x[:, None] - x[None, :])
    if isinstance(weights, str):
        named = {"unweighted": np.minimum(apart, 1), "linear": apart, "quadratic": np.square(apart)}
        if weights not in named:
            raise ValueError(f"no weights of kappa: {weights}")
        return named[weights]
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (size, size) or np.diag(matrix).any() or (matrix < 0).any():
        raise ValueError(f"weights must be {size} x {size}, not negative, and 0 on the diagonal")
    return matrix


def cost_of(weights: Weights, size: int) -> Cost:
    """The weights with their factors."""
    apart = disagreement(weights, size)
    x = np.arange(size, dtype=np.float64)
    if isinstance(weights, str) and weights == "quadratic":
        return Cost(
            apart, np.stack([x * x, -2 * x, np.ones(size)], axis=1), np.stack([np.ones(size), x, x * x])
        )
    marks = np.vstack([np.ones(size), np.eye(size)[1:]])
    return Cost(apart, np.hstack([apart[:, :1], apart[:, 1:] - apart[:, :1]]), marks)


# Kappas of all pairs of workers who rated the same items, in closed form.
#
# Where few pairs share items, pairs of ratings are listed and sorted, so that no worker x worker matrix is
# made and the work grows with the pairs of ratings inside items. Where most workers rated most items,
# products of matrices do the same in a fraction of the time.

# Pairs of ratings in memory at a time (about 60 bytes each), and cells of a dense matrix.
PAIRS = 1 << 20
CELLS = 1 << 22
# What a listed pair of ratings costs, in multiplications of a matrix product and in its own cells.
PER_PAIR, PER_CELL = 80, 50


@dataclass(frozen=True, slots=True, eq=False)
class PairKappas:
    """Kappas of ordered pairs of workers, by the code of the first."""

    workers: Codes
    kappa: Floats


@dataclass(frozen=True, slots=True, eq=False)
class _ByItem:
    """Ratings sorted by item: where each item's ratings begin and how many there are."""

    first: Counts
    n: Counts
    workers: Codes
    values: Scores


def pair_kappas(ratings: Ratings, cost: Cost, least: int) -> Iterator[PairKappas]:
    """The kappas of all pairs that share at least `least` items and whose kappa is defined, in portions."""
    rated = value_counts(ratings).sum(axis=1)
    n_by_worker = np.bincount(ratings.workers, minlength=ratings.n_workers)
    # Workers with fewer than `least` ratings share no `least` items with anybody.
    ratings = ratings.only((rated[ratings.items] > 1) & (n_by_worker[ratings.workers] >= least))
    if not len(ratings):
        return
    pairs = int(np.square(np.bincount(ratings.items)).sum())
    people, items = len(np.unique(ratings.workers)), len(np.unique(ratings.items))
    if people * items <= CELLS and pairs * PER_PAIR > people * people * (items + PER_CELL):
        yield _multiplied(ratings, cost, least)
    else:
        yield from _go_through_pairs(ratings.only(stable_order(ratings.workers)), cost, least)


def _multiplied(ratings: Ratings, cost: Cost, least: int) -> PairKappas:
    people, workers = np.unique(ratings.workers, return_inverse=True)
    present, items = np.unique(ratings.items, return_inverse=True)
    values = ratings.scores - ratings.scale.low
    is_present = np.zeros((len(people), len(present)))
    is_present[workers, items] = 1
    shared = is_present @ is_present.T
    observed, chance = np.zeros(shared.shape), np.zeros(shared.shape)
    for factor, mark in zip(cost.factors.T, cost.marks, strict=True):
        first, second = np.zeros(is_present.shape), np.zeros(is_present.shape)
        first[workers, items], second[workers, items] = factor[values], mark[values]
        observed += first @ second.T
        chance += (first @ is_present.T) * (is_present @ second.T)
    np.fill_diagonal(shared, 0)
    return _defined(people.repeat(len(people)), shared.ravel(), observed.ravel(), chance.ravel(), least)


def _defined(workers: Codes, shared: Floats, observed: Floats, chance: Floats, least: int) -> PairKappas:
    defined = (shared >= max(1, least)) & (chance > NOTHING * shared)
    return PairKappas(workers[defined], 1 - observed[defined] * shared[defined] / chance[defined])


def _go_through_pairs(ratings: Ratings, cost: Cost, least: int) -> Iterator[PairKappas]:
    """From ratings in the order of their workers; all pairs of a first worker come in one portion."""
    order = stable_order(ratings.items)
    n = np.bincount(ratings.items, minlength=ratings.n_items)
    by_item = _ByItem(np.cumsum(n) - n, n, ratings.workers[order], ratings.scores[order] - ratings.scale.low)
    load = np.cumsum(n[ratings.items])
    ends = np.append(np.flatnonzero(np.diff(ratings.workers)) + 1, len(ratings))
    start = 0
    while start < len(ratings):
        done = load[start - 1] if start else 0
        last_that_fits = int(np.searchsorted(load[ends - 1], done + PAIRS, side="right")) - 1
        own = int(np.searchsorted(ends, start, side="right"))
        end = int(ends[max(last_that_fits, own)])
        yield _of_portion(ratings.only(slice(start, end)), by_item, cost, least)
        start = end


def _of_portion(mine: Ratings, by_item: _ByItem, cost: Cost, least: int) -> PairKappas:
    """Every rating of some workers beside every other worker's rating of its item, sorted by pair."""
    size, workers = mine.scale.size, mine.n_workers
    lengths = by_item.n[mine.items]
    ends = np.cumsum(lengths)
    others = np.arange(ends[-1])
    others += np.repeat(by_item.first[mine.items] - (ends - lengths), lengths)
    keys = mine.workers.astype(np.int64) * (workers * size * size)
    keys += (mine.scores.astype(np.int64) - mine.scale.low) * size
    keys = np.repeat(keys, lengths)
    second = by_item.workers[others]
    keys += second.astype(np.int64) * (size * size)
    keys += by_item.values[others]
    keys = keys[second != np.repeat(mine.workers, lengths)]
    keys.sort()
    pair, both = np.divmod(keys, size * size)
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    shared = np.diff(starts, append=len(pair))
    enough = shared >= max(1, least)
    if not enough.any():
        return PairKappas(np.zeros(0, dtype=np.int32), np.zeros(0))
    first = (pair[starts[enough]] // workers).astype(np.int32)
    both = both[np.repeat(enough, shared)]
    shared = shared[enough]
    starts = np.cumsum(shared) - shared
    own, theirs = np.divmod(both, size)
    observed = np.add.reduceat(cost.apart.ravel()[both], starts)
    chance = np.zeros(len(starts))
    for factor, mark in zip(cost.factors.T, cost.marks, strict=True):
        chance += np.add.reduceat(factor[own], starts) * np.add.reduceat(mark[theirs], starts)
    return _defined(first, shared.astype(np.float64), observed, chance, least)


@dataclass(frozen=True, slots=True, eq=False)
class WorkerKappas:
    """A kappa per worker, in the order of their codes, nan where it is not defined.

    `n`: their ratings on items with at least two ratings, which is what the kappa rests on.
    """

    kappa: Floats
    n: Counts


def from_table(table: npt.ArrayLike, weights: Weights = "unweighted") -> Figure:
    """Kappa of a table of two raters: rows are what the first said, columns what the second said."""
    counts = np.asarray(table, dtype=np.float64)
    total = float(counts.sum())
    if not total:
        return Figure(None, NO_RATINGS)
    apart = disagreement(weights, len(counts))
    expected = float(counts.sum(axis=1) @ apart @ counts.sum(axis=0)) / total
    if expected <= 0:
        return Figure(None, NO_VARIATION)
    return Figure(1 - float((apart * counts).sum()) / expected)


def fleiss(counts: npt.NDArray[np.number]) -> Figure:
    """Fleiss' kappa of an item x value count matrix, also where items have different numbers of ratings.

    Agreement is averaged over the items with at least two ratings; chance comes from the mean share of each
    value over all rated items (Gwet 2014, Handbook of Inter-Rater Reliability, for missing ratings).
    """
    n = counts.sum(axis=1)
    rated = n > 0
    if not rated.any():
        return Figure(None, NO_RATINGS)
    pairs = n * (n - 1)
    several = pairs > 0
    if not several.any():
        return Figure(None, NO_PAIRS)
    same = (np.square(counts.astype(np.float64)).sum(axis=1) - n)[several]
    observed = float((same / pairs[several]).mean())
    share = (counts[rated] / n[rated][:, None]).mean(axis=0)
    chance = float(np.square(share).sum())
    if chance >= 1:
        return Figure(None, NO_VARIATION)
    return Figure((observed - chance) / (1 - chance))


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What every rating of an item is held against.

    `others` has the mean of each of the cost's marks (but the first, the ones) in the reference: shape
    (items, V, marks), known by item and own score, 0 for the items that do not count; `several` are those
    that do.
    """

    several: Mask
    cost: Cost
    others: Floats


def pooled(ratings: Ratings, weights: Weights = "quadratic") -> WorkerKappas:
    """Each worker against the distribution of all others' ratings on the same items.

    Every rating of the worker meets the distribution of the others on its item, whatever their number: an
    item that many rated does not outweigh the rest. One pass over the ratings; defined also where no two
    workers share more than one item.
    """
    return _against(ratings, distribution_of_others(ratings, weights))


def consensus(ratings: Ratings, weights: Weights = "quadratic") -> WorkerKappas:
    """Each worker against the rounded mean of the others' ratings on the same items (leave one out).

    A mean that lies halfway between two scores counts half as the lower and half as the upper one, so that
    reversing the scale changes nothing.
    """
    return _against(ratings, consensus_of_others(ratings, weights))


def distribution_of_others(ratings: Ratings, weights: Weights = "quadratic") -> Reference:
    """The reference of `pooled`."""
    counts = value_counts(ratings)
    cost = cost_of(weights, ratings.scale.size)
    n, *sums = cost.marks @ counts.astype(np.float64).T
    share = np.divide(1.0, n - 1, out=np.zeros(len(n)), where=n > 1)
    others = np.empty((*counts.shape, len(sums)))
    for place, total in enumerate(sums):
        for value, mark in enumerate(cost.marks[1 + place]):
            np.multiply(total - mark, share, out=others[:, value, place])
    return Reference(n > 1, cost, others)


def consensus_of_others(ratings: Ratings, weights: Weights = "quadratic") -> Reference:
    """The reference of `consensus`."""
    counts = value_counts(ratings)
    cost = cost_of(weights, ratings.scale.size)
    x = np.arange(ratings.scale.size)
    n = counts.sum(axis=1)
    several = n > 1
    # For each item and own score, twice the mean of the others as a fraction over `others`, and from it the
    # two scores nearest to the mean. Cells that nobody is in may come to lie outside the scale.
    others = np.maximum(1, n - 1)[:, None]
    twice = 2 * ((counts @ x)[:, None] - x) * several[:, None]
    both = (twice + others - 1) // (2 * others) + (twice + others) // (2 * others)
    halves = np.arange(2 * ratings.scale.size - 1)
    of_both = (cost.marks[1:, halves // 2] + cost.marks[1:, (halves + 1) // 2]) / 2
    return Reference(several, cost, of_both.T[both.clip(0, halves[-1])])


def _against(ratings: Ratings, reference: Reference) -> WorkerKappas:
    """Kappas against a reference."""
    n, observed, chance = costs(sums_against(ratings, reference), reference.cost)
    defined = chance > NOTHING * n
    kappa = np.full(ratings.n_workers, np.nan)
    kappa[defined] = 1 - observed[defined] * n[defined] / chance[defined]
    return WorkerKappas(kappa, np.rint(n).astype(np.int64))


def sums_against(
    ratings: Ratings,
    reference: Reference,
    part_of_item: npt.NDArray[np.integer] | None = None,
    parts: int = 1,
) -> Floats:
    """How often each worker gave each score, and the sums of the reference's marks beside that score: shape
    (marks, parts, workers, V). Ratings are added up for each part of the items by itself."""
    size = ratings.n_workers * ratings.scale.size
    # A row for each cell: all marks of a rating come with one look into memory.
    table = reference.others.reshape(-1, reference.others.shape[2])
    sums = np.zeros((1 + table.shape[1], parts * size))
    for rows in portions(ratings, sums.shape[1]):
        own, keys = own_cells(ratings, rows), cells(ratings, rows)
        if part_of_item is not None:
            own += part_of_item[ratings.items[rows]] * np.int64(size)
        counted = None if reference.several.all() else reference.several[ratings.items[rows]]
        sums[0] += np.bincount(own, counted, sums.shape[1])
        for place, mark in enumerate(table.take(keys, axis=0).T, start=1):
            sums[place] += np.bincount(own, mark, sums.shape[1])
    return sums.reshape(len(sums), parts, ratings.n_workers, ratings.scale.size)


def costs(sums: Floats, cost: Cost) -> tuple[Floats, Floats, Floats]:
    """Of each worker the number of ratings, what they cost, and that number times what they cost by chance.

    Both follow from the sums of marks by worker and own score, `sums` with one part.
    """
    by_score = sums[:, 0]
    n = by_score[0].sum(axis=1)
    observed = np.einsum("rwx,xr->w", by_score, cost.factors)
    chance = ((by_score[0] @ cost.factors) * by_score.sum(axis=2).T).sum(axis=1)
    return n, observed, chance


def pairwise_median(ratings: Ratings, weights: Weights = "quadratic", *, least: int = 5) -> WorkerKappas:
    """The median of each worker's kappas with every other worker (ADEM, Lowe et al. 2017).

    Pairs count that share at least `least` items and whose kappa is defined. `n` is as for the other kappas.
    """
    cost = cost_of(weights, ratings.scale.size)
    workers: list[Codes] = [np.zeros(0, dtype=np.int32)]
    kappas: list[Floats] = [np.zeros(0)]
    for pairs in pair_kappas(ratings, cost, least):
        workers.append(pairs.workers)
        kappas.append(pairs.kappa)
    several = value_counts(ratings).sum(axis=1) > 1
    n = np.bincount(ratings.workers[several[ratings.items]], minlength=ratings.n_workers)
    return WorkerKappas(medians(np.concatenate(workers), np.concatenate(kappas), ratings.n_workers), n)


# How every two of a few workers rated the items that both rated.

#: Items whose scores are laid out at a time.
_ITEMS = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """`workers`: codes, the busiest first. `tables[i, j]` (V x V) counts common items by both scores."""

    workers: npt.NDArray[np.int64]
    tables: npt.NDArray[np.int64]

    def common(self, one: int, other: int) -> int:
        """Items that both rated."""
        return int(self.tables[one, other].sum())

    def kappa(self, one: int, other: int) -> Figure:
        """Quadratic kappa (Cohen 1968) of the two on their common items."""
        return from_table(self.tables[one, other], "quadratic")


def busiest(ratings: Ratings, most: int = 30) -> Pairs:
    """The workers with most ratings, in a table of every two. Duplicates must have been removed."""
    n = np.bincount(ratings.workers, minlength=ratings.n_workers)
    workers = np.argsort(-n, kind="stable")[:most]
    workers = workers[n[workers] > 0]
    place = np.full(ratings.n_workers, -1, dtype=np.int64)
    place[workers] = np.arange(len(workers))
    mine = ratings.only(place[ratings.workers] >= 0)
    size, width = ratings.scale.size, len(workers) * ratings.scale.size
    columns = place[mine.workers] * size + (mine.scores.astype(np.int64) - ratings.scale.low)
    rated, items = np.unique(mine.items, return_inverse=True)
    table = _together(items, columns, len(rated), width)
    tables = table.reshape(len(workers), size, len(workers), size).transpose(0, 2, 1, 3)
    return Pairs(workers, tables.astype(np.int64))


def _together(items: Whole, columns: Whole, n_items: int, width: int) -> Floats:
    """How many items have both of every two columns, shape (width, width).

    Where the ratings of an item are few, pairs of them are fewer than cells of a matrix product.
    """
    from scipy.sparse import csr_array  # takes a while to load

    pairs = int(np.square(np.bincount(items, minlength=n_items)).sum())
    if pairs * PER_PAIR < n_items * width * width:
        ones = np.ones(len(items), dtype=np.int64)
        incidence = csr_array((ones, (items, columns)), shape=(n_items, width))
        return np.asarray((incidence.T @ incidence).toarray(), dtype=np.float64)
    table = np.zeros((width, width))
    for start in range(0, n_items, _ITEMS):
        rows = (items >= start) & (items < start + _ITEMS)
        dense = np.zeros((min(_ITEMS, n_items - start), width), dtype=np.float32)
        dense[items[rows] - start, columns[rows]] = 1
        table += dense.T @ dense
    return table


# Other agreements corrected for chance, for labels without order; gaps allowed.
#
# All are (observed - expected) / (1 - expected) with the observed share of agreeing pairs, averaged over
# items with two ratings or more; they differ in what chance is expected to do. Formulas with missing
# ratings: Gwet, Handbook of Inter-Rater Reliability (4th edition, 2014), chapters 2 and 3. The labels are
# those of the scale, given or not.


def gwet_ac1(counts: Whole) -> Figure:
    """AC1 (Gwet, British Journal of Mathematical and Statistical Psychology 61, 2008), of items by labels.

    Chance: only hard items are guessed. It does not fall when nearly all ratings have one label.
    """
    if not counts.sum():
        return Figure(None, NO_RATINGS)
    rated = counts[counts.sum(axis=1) > 0]
    labels = counts.shape[1]
    shares = (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)
    expected = float((shares * (1 - shares)).sum()) / (labels - 1)
    return _corrected(counts, expected)


def brennan_prediger(counts: Whole) -> Figure:
    """Kappa of Brennan & Prediger (Educational and Psychological Measurement 41, 1981), of items by labels.

    Chance: every label is equally likely.
    """
    return _corrected(counts, 1 / counts.shape[1])


def conger(ratings: Ratings) -> Figure:
    """Kappa of Conger (Psychological Bulletin 88, 1980): Cohen's kappa for more than two raters.

    Chance: each worker uses the labels as often as in their own ratings. It needs workers who rate many
    items.
    """
    if not len(ratings):
        return Figure(None, NO_RATINGS)
    size = ratings.scale.size
    labels = ratings.scores.astype(np.int64) - ratings.scale.low
    by_worker = _table(ratings.workers, labels, ratings.n_workers, size)
    by_worker = by_worker[by_worker.sum(axis=1) > 0]
    raters = len(by_worker)
    if raters < 2:
        return Figure(None, ONE_RATER)
    shares: Floats = by_worker / by_worker.sum(axis=1, keepdims=True)
    expected = float((shares.mean(axis=0) ** 2 - shares.var(axis=0, ddof=1) / raters).sum())
    return _corrected(_table(ratings.items, labels, ratings.n_items, size), expected)


def _table(rows: npt.NDArray[np.integer], labels: Whole, height: int, width: int) -> Whole:
    cells = rows.astype(np.int64) * width + labels
    return np.bincount(cells, minlength=height * width).reshape(height, width).astype(np.int64)


def _corrected(counts: Whole, expected: float) -> Figure:
    n = counts.sum(axis=1)
    several = n >= 2
    if not several.any():
        return Figure(None, NO_PAIRS if n.any() else NO_RATINGS)
    pairs = (counts * (counts - 1)).sum(axis=1)
    observed = float(divided(pairs, n * (n - 1))[several].mean())
    return Figure((observed - expected) / (1 - expected)) if expected < 1 else Figure(None, NO_VARIATION)
