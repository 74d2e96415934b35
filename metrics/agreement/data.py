"""Ratings as columns: who gave which item which score, in the order of submission."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload
from zlib import crc32

import numpy as np
import numpy.typing as npt

from metrics.agreement.scale import Scale

NO_RATINGS = "not defined: there are no ratings"
NO_PAIRS = "not defined: no item has two ratings"
NO_VARIATION = "not defined: all ratings are the same"
ONE_RATER = "not defined: all ratings are by one worker"

Codes = npt.NDArray[np.int32]
Scores = npt.NDArray[np.int16]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """n ratings as three columns of length n; row order is the order of submission.

    `items` and `workers` are codes from 0 into `item_names` and `worker_names`; `scores` lie on `scale`,
    counted in its units.
    Attention checks are never among them.
    """

    items: Codes
    workers: Codes
    scores: Scores
    item_names: Sequence[str]
    worker_names: Sequence[str]
    scale: Scale = field(default_factory=Scale)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def n_items(self) -> int:
        """Items that there are, also those without a rating."""
        return len(self.item_names)

    @property
    def n_workers(self) -> int:
        """Workers that there are, also those without a rating."""
        return len(self.worker_names)

    def only(self, mask: Mask | npt.NDArray[np.intp] | slice) -> "Ratings":
        """The rows of a mask, or rows by number; codes and names stay what they are."""
        if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.all():
            return self  # columns are never changed, so nothing has to be copied
        return Ratings(
            self.items[mask],
            self.workers[mask],
            self.scores[mask],
            self.item_names,
            self.worker_names,
            self.scale,
        )


def ratings_of(rows: Sequence[tuple[str, str, int]], scale: Scale | None = None) -> Ratings:
    """Ratings from a few rows (item, worker, score); names get their codes in order of appearance."""
    items: dict[str, int] = {}
    workers: dict[str, int] = {}
    return Ratings(
        np.array([items.setdefault(item, len(items)) for item, _, _ in rows], dtype=np.int32),
        np.array([workers.setdefault(worker, len(workers)) for _, worker, _ in rows], dtype=np.int32),
        np.array([score for _, _, score in rows], dtype=np.int16),
        list(items),
        list(workers),
        scale or Scale(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RatingGroups:
    """Which group each rating belongs to: codes (length n) into names; -1 for none."""

    codes: np.ndarray
    names: list[str]


# From ratings to how often each item got each score: what agreement and filters work on.

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Rows whose keys lie in memory at a time; more when the result itself is larger than that.
ROWS = 1 << 17
#: Rows of whole items that are sorted together.
AT_ONCE = 1 << 20


def cells(ratings: Ratings, rows: slice) -> Counts:
    """The cell of each rating in the flattened item x value matrix, for a slice of rows."""
    keys = ratings.items[rows].astype(np.int64)
    keys *= ratings.scale.size
    keys += ratings.scores[rows]
    keys -= ratings.scale.low
    return keys


def own_cells(ratings: Ratings, rows: slice) -> Counts:
    """The cell of each rating in the flattened worker x value matrix, for a slice of rows."""
    keys = ratings.workers[rows].astype(np.int64)
    keys *= ratings.scale.size
    keys += ratings.scores[rows]
    keys -= ratings.scale.low
    return keys


def portions(ratings: Ratings, size: int) -> Iterator[slice]:
    """Slices of rows to add up into `size` numbers: so large that the adding does not take longest."""
    step = max(ROWS, size)
    return (slice(start, start + step) for start in range(0, len(ratings), step))


def checked(ratings: Ratings) -> Ratings:
    """The ratings themselves, when every score lies on their scale; ValueError otherwise."""
    if len(ratings):
        low, high = int(ratings.scores.min()), int(ratings.scores.max())
        if low < ratings.scale.low or high > ratings.scale.high:
            outside = low if low < ratings.scale.low else high
            raise ValueError(
                f"a score of {ratings.scale.text(outside)} is not on the scale {ratings.scale.description}"
            )
    return ratings


def rows_by_items(ratings: Ratings, mask: Mask | None = None) -> Iterator[tuple[slice, npt.NDArray[np.intp]]]:
    """Some items, and in order the numbers of their rows, or of those of a mask; then the items that follow.

    So many at a time that what is made of them is small however many ratings there are.
    """
    items = ratings.items
    upto = np.bincount(items, minlength=ratings.n_items).cumsum()
    first, done = 0, 0
    while first < len(upto) and done < upto[-1]:
        after = max(first + 1, int(np.searchsorted(upto, done + AT_ONCE, side="right")))
        mine = (items >= first) & (items < after)
        if mask is not None:
            mine &= mask
        yield slice(first, after), np.flatnonzero(mine)
        first, done = after, int(upto[after - 1])


@overload
def value_counts(ratings: Ratings, *, among: Mask | None = None) -> Counts: ...
@overload
def value_counts(ratings: Ratings, weights: npt.ArrayLike) -> Floats: ...
def value_counts(
    ratings: Ratings, weights: npt.ArrayLike | None = None, *, among: Mask | None = None
) -> Counts | Floats:
    """How often each item got each score: shape (n_items, scale.size), int64, or float64 with weights.

    `weights` has one number for each rating, `among` whether it counts. Items without a rating have a row of
    zeros. ValueError for scores outside the scale.
    """
    checked(ratings)
    row_weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    if row_weights is not None and row_weights.shape != (len(ratings),):
        raise ValueError("there must be as many weights as ratings")
    size = ratings.n_items * ratings.scale.size
    shape = (ratings.n_items, ratings.scale.size)
    if row_weights is None:
        counts = np.zeros(size, dtype=np.int64)
        for rows in portions(ratings, size):
            keys = cells(ratings, rows)
            counts += np.bincount(keys if among is None else keys[among[rows]], minlength=size)
        return counts.reshape(shape)
    weighted = np.zeros(size)
    for rows in portions(ratings, size):
        weighted += np.bincount(cells(ratings, rows), row_weights[rows], size)
    return weighted.reshape(shape)


# What every variance needs of the ratings of an item: how many, their sum, the sum of their squares.

Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Per item n ratings, their sum s and the sum of their squares q; whole numbers, nothing rounded."""

    n: Whole
    s: Whole
    q: Whole

    @property
    def mean(self) -> Floats:
        """Mean per item; nan where nothing is rated."""
        return divided(self.s, self.n)

    @property
    def squares_within(self) -> Floats:
        """Sum of squared deviations from the item's mean; 0 for a single rating, nan for none."""
        return divided(self.n * self.q - self.s * self.s, self.n)

    @property
    def variance(self) -> Floats:
        """Sample variance per item (n - 1 below the line); nan below two ratings."""
        return divided(self.n * self.q - self.s * self.s, self.n * (self.n - 1))


def sums_of(ratings: Ratings) -> Sums:
    """The sums of every item, also of those without a rating."""
    # bincount adds in float64, which is exact for whole numbers up to 2**53
    n, sums, squares = (np.zeros(ratings.n_items) for _ in range(3))
    for rows in portions(ratings, ratings.n_items):
        items, scores = ratings.items[rows], ratings.scores[rows].astype(np.float64)
        n += np.bincount(items, minlength=len(n))
        sums += np.bincount(items, weights=scores, minlength=len(n))
        squares += np.bincount(items, weights=scores * scores, minlength=len(n))
    return Sums(n.astype(np.int64), sums.astype(np.int64), squares.astype(np.int64))


def pooled_variance(sums: Sums) -> float | None:
    """Variance inside items, over all items with two ratings or more; None if there are none."""
    several = sums.n >= 2
    freedom = int((sums.n[several] - 1).sum())
    return float(sums.squares_within[several].sum()) / freedom if freedom else None


def added(codes: npt.NDArray[np.integer], values: Floats, size: int) -> Floats:
    """Sum of the values of each code from 0 to size - 1."""
    return np.asarray(np.bincount(codes, weights=values, minlength=size), dtype=np.float64)


def divided(above: npt.NDArray[np.number], below: npt.NDArray[np.number]) -> Floats:
    """Quotients; nan where the divisor is zero."""
    quotients = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=quotients, where=np.asarray(below) != 0)
    return quotients


# Rows in groups, all groups at once.


def stable_order(codes: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """The rows in the order of their codes (0 to 2^31 - 1), rows with the same code in their own order."""
    return order_in_place(codes.astype(np.int64))


def order_in_place(keys: Counts) -> npt.NDArray[np.int64]:
    """As `stable_order`, written over the codes: of many ratings a copy takes much memory.

    Sorts the codes with their row numbers below them: several times as fast as numpy's stable argsort.
    """
    keys <<= 32
    for start in range(0, len(keys), ROWS):
        block = keys[start : start + ROWS]
        block |= np.arange(start, start + len(block))
    keys.sort()
    keys &= (1 << 32) - 1
    return keys


def codes_in_use(codes: npt.NDArray[np.integer], size: int) -> tuple[npt.NDArray[np.int32], int]:
    """Codes from 0 to size - 1 as codes of those alone that are among them, in the same order; how many.

    As `np.unique` with its inverse, without sorting.
    """
    used = np.zeros(size, dtype=np.bool_)
    used[codes] = True
    places = np.cumsum(used, dtype=np.int32)
    places -= 1
    return places[codes], int(np.count_nonzero(used))


def count_different(codes: npt.NDArray[np.integer]) -> int:
    """How many different codes there are, all 0 or above; `np.unique` of millions takes ten times as long."""
    return int(np.count_nonzero(np.bincount(codes)))


def medians(
    groups: npt.NDArray[np.integer], values: npt.NDArray[np.floating], size: int
) -> npt.NDArray[np.float64]:
    """The median of the values of each group 0 … size - 1, nan for a group without values."""
    n = np.bincount(groups, minlength=size)
    ordered = values[np.lexsort((values, groups))]
    first = np.cumsum(n) - n
    by_code = np.full(size, np.nan)
    filled = n > 0
    low, high = first + (n - 1) // 2, first + n // 2
    by_code[filled] = (ordered[low[filled]] + ordered[high[filled]]) / 2
    return by_code


# Streams of chance, one per purpose, so that none repeats what drew the data.
#
# A simulated study is often drawn with `default_rng(0)`. If halves or samples came from the same stream,
# they would follow the scores: the split-half reliability of pure noise came out as 0.44.


def generator(seed: int, purpose: str) -> np.random.Generator:
    """The random generator of a seed for a purpose; the same for the same two."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(purpose.encode())]))


# Codes drawn at a time, and from how many on they are counted by a matrix.
_DRAWN_AT_ONCE, _MANY = 1 << 20, 1 << 15


class Draws:
    """How often each of `size` is drawn in as many draws with replacement; one sample after the other.

    A byte holds every count that can come up: of 255 no more can be drawn, and of more the same one 256 times
    with a chance of size / 256!, which is none.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    def sample(self, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """Counts of one sample, length `size`."""
        counts = np.zeros(self.size, dtype=np.uint8)
        self.add(rng, counts)
        return counts

    def add(self, rng: np.random.Generator, counts: npt.NDArray[np.uint8]) -> None:
        """Add one sample to counts, a part of it at a time: the stream is the same as of all at once.

        Many are counted by a sparse matrix of one row, in which the same column may come more than once.
        Unlike `np.add.at` it gives the interpreter's lock back, for which other threads would wait.
        """
        for start in range(0, self.size, _DRAWN_AT_ONCE):
            n = min(_DRAWN_AT_ONCE, self.size - start)
            codes = rng.integers(self.size, size=n, dtype=np.int32)
            if n < _MANY:
                np.add.at(counts, codes.astype(np.intp), np.uint8(1))
            else:
                counts += self._counted(codes)

    def _counted(self, codes: Codes) -> npt.NDArray[np.uint8]:
        from scipy.sparse import csr_array  # slow to import; only large samples need it

        once, ends = np.ones(len(codes), dtype=np.uint8), np.array([0, len(codes)], dtype=np.int32)
        counted: npt.NDArray[np.uint8] = csr_array((once, codes, ends), shape=(1, self.size)).toarray()[0]
        return counted
