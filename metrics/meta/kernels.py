"""Correlations within groups of answers, for many columns of scores at once.

Everywhere: `human` are n human scores, `scores` are (d, n) scores of d metrics (or of d draws), `starts` say
where each of G groups begins in them. Nothing is missing. Answers are (d, G), nan where a group has none.

Pairs are counted in O(n log n) time and O(n) memory: a pair is discordant when sorting by the human score
leaves it in the wrong order of the metric, and such inversions are counted bit by bit of the ranks (the way
of a wavelet tree), with no loop over answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from metrics.errors import MetricError
from metrics.meta.rows import LARGEST, Indices, dense
from metrics.meta.scored_answers import Floats

Statistic = Literal["pearson", "spearman", "kendall"]
STATISTICS: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
#: Cells of d x n that are worked on at once.
CELLS = 1 << 21
#: Groups of so few answers are counted pair by pair.
FEW = 8


@dataclass(frozen=True, slots=True, eq=False)
class PairCounts:
    """Pairs of answers within each group: (d, G) numbers by how people and the metric order them."""

    concordant: Indices
    discordant: Indices
    tied_human: Indices
    tied_metric: Indices
    tied_both: Indices

    @property
    def total(self) -> Indices:
        """All pairs of a group."""
        return self.concordant + self.discordant + self.tied_human + self.tied_metric + self.tied_both


def within(statistic: Statistic, human: Floats, scores: Floats, starts: Indices) -> Floats:
    """The statistic of each group for each row of scores; nan where people or metric give one score only."""
    return _by_rows(_kernel(statistic), human, scores, starts)


def _kernel(statistic: Statistic) -> Callable[[Floats, Floats, Indices], Floats]:
    known = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    if statistic not in known:
        raise MetricError(f"There is no correlation “{statistic}”; known are: {', '.join(STATISTICS)}.")
    return known[statistic]


def _by_rows(
    kernel: Callable[[Floats, Floats, Indices], Floats], human: Floats, scores: Floats, starts: Indices
) -> Floats:
    """A kernel over some rows of scores at a time, so that what it needs stays small."""
    width = max(1, CELLS // max(1, len(human)))
    parts = [kernel(human, scores[first : first + width], starts) for first in range(0, len(scores), width)]
    return np.concatenate([np.zeros((0, len(starts))), *parts])


def pearson(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """Pearson's r of each group. Scores are scaled and centred first, so that no digits are lost."""
    if not len(starts):
        return np.zeros((len(scores), 0))
    sizes = np.diff(np.append(starts, len(human)))
    people = _centred(human, starts, sizes)
    metric = _centred(scores, starts, sizes)
    together = _sums(metric * people, starts)
    spread = _sums(people * people, starts) * _sums(metric * metric, starts)
    good = _varied(human, starts) & _varied(scores, starts) & (spread > 0)
    found = np.full(spread.shape, np.nan)
    np.divide(together, np.sqrt(spread), out=found, where=good)
    return np.asarray(np.clip(found, -1.0, 1.0))


def spearman(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """Spearman's rho of each group: Pearson's r of the ranks, ties with their mean rank."""
    return pearson(ranks(human[None], starts)[0], ranks(scores, starts), starts)


def kendall(human: Floats, scores: Floats, starts: Indices) -> Floats:
    """Kendall's tau-b of each group: (C - D) / sqrt((pairs - human ties)(pairs - metric ties))."""
    counts = pair_counts(human, scores, starts)
    untied = counts.concordant + counts.discordant
    people = (untied + counts.tied_metric).astype(np.float64)
    metric = (untied + counts.tied_human).astype(np.float64)
    found = np.full(people.shape, np.nan)
    np.divide(
        (counts.concordant - counts.discordant).astype(np.float64),
        np.sqrt(people) * np.sqrt(metric),
        out=found,
        where=(people > 0) & (metric > 0),
    )
    return np.asarray(np.clip(found, -1.0, 1.0))


def ranks(scores: Floats, starts: Indices) -> Floats:
    """Ranks from 1 within each group, ties with their mean rank: (d, n)."""
    d, n = scores.shape
    if not n:
        return np.zeros((d, 0))
    groups = np.tile(_groups(starts, n), d) + np.repeat(np.arange(d) * len(starts), n)
    flat = scores.ravel()
    order = np.lexsort((flat, groups))
    runs = _runs(groups[order], flat[order])
    sizes = np.diff(np.append(runs, d * n))
    begin = np.concatenate([starts + row * n for row in range(d)])[groups[order[runs]]]
    mean = runs - begin + (sizes + 1) / 2
    found = np.empty(d * n)
    found[order] = np.repeat(mean, sizes)
    return found.reshape(d, n)


def pair_counts(human: Floats, scores: Floats, starts: Indices) -> PairCounts:
    """How many pairs of each group are concordant, discordant and tied, for each row of scores."""
    d, n = scores.shape
    many = len(starts)
    if not n or not many:
        nothing = np.zeros((d, many), np.int64)
        return PairCounts(nothing, nothing, nothing, nothing, nothing)
    sizes = np.diff(np.append(starts, n))
    if sizes.max() <= FEW:
        return _pair_by_pair(human, scores, starts, sizes)
    groups = np.tile(_groups(starts, n), d) + np.repeat(np.arange(d) * many, n)
    begins = np.concatenate([starts + row * n for row in range(d)])
    people, different = dense(human)
    metric, scored = dense(scores.ravel())
    people = groups * different + np.tile(people, d)
    metric = groups * scored + metric
    by_metric = _sorted(metric, people, d * many * scored * different, different)
    # Sorted by people and then by the metric; what is the same in both stays in the same order.
    order = by_metric[np.argsort(people[by_metric], kind="stable")]
    tied_metric = _tied(by_metric, begins, metric)
    tied_human = _tied(order, begins, people)
    both = _tied(order, begins, people, metric)
    place = np.empty(d * n, np.int64)
    place[by_metric] = np.arange(d * n)
    discordant = inversions(place[order] - begins[groups], begins)
    sizes = np.diff(np.append(begins, d * n))
    pairs = sizes * (sizes - 1) // 2
    concordant = pairs - discordant - tied_human - tied_metric + both
    shape = (d, many)
    return PairCounts(
        concordant.reshape(shape),
        discordant.reshape(shape),
        (tied_human - both).reshape(shape),
        (tied_metric - both).reshape(shape),
        both.reshape(shape),
    )


def _pair_by_pair(human: Floats, scores: Floats, starts: Indices, sizes: Indices) -> PairCounts:
    """The same for small groups: all first and second answers of pairs, place by place in their group."""
    shape = (len(scores), len(starts))
    concordant, discordant = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    tied_human, tied_metric, both = (np.zeros(shape, np.int64) for _ in range(3))
    for second in range(1, int(sizes.max())):
        for first in range(second):
            at = np.flatnonzero(sizes > second)
            i, j = starts[at] + first, starts[at] + second
            people = np.sign(human[i] - human[j]).astype(np.int8)
            metric = (scores[:, i] > scores[:, j]).view(np.int8) - (scores[:, i] < scores[:, j]).view(np.int8)
            product = metric * people
            flat, level = people == 0, metric == 0
            concordant[:, at] += product > 0
            discordant[:, at] += product < 0
            tied_human[:, at] += flat & ~level
            tied_metric[:, at] += ~flat & level
            both[:, at] += flat & level
    return PairCounts(concordant, discordant, tied_human, tied_metric, both)


def inversions(places: Indices, begins: Indices) -> Indices:
    """In each group, how many pairs stand in the wrong order; `places` are a permutation from 0 in each
    group.

    From the highest bit down, elements lie together whose higher bits are the same, in their first order. Of
    those, every 1 before a 0 is an inversion. Then the zeros move before the ones.
    """
    n = len(places)
    found = np.zeros(len(begins), np.int64)
    sizes = np.diff(np.append(begins, n))
    base = np.repeat(begins, sizes)
    position = np.arange(n)
    for bit in range(int(sizes.max()).bit_length() - 1, -1, -1):
        node = base + ((places >> (bit + 1)) << (bit + 1))
        one = (places >> bit) & 1
        before = np.cumsum(one) - one
        before -= before[node]
        found += np.add.reduceat(np.where(one == 0, before, 0), begins)
        target = np.where(one == 1, node + (1 << bit) + before, position - before)
        moved = np.empty_like(places)
        moved[target] = places
        places = moved
    return found


def _sorted(first: Indices, second: Indices, largest: int, different: int) -> Indices:
    """The order by two codes; as one number if it fits. `second` counts `different` codes in each group."""
    if largest < LARGEST:
        return np.argsort(first * different + second % different)
    return np.lexsort((second, first))


def _tied(order: Indices, begins: Indices, *codes: Indices) -> Indices:
    """Pairs of each group that are the same in all codes, by which `order` sorts."""
    runs = _runs(*(code[order] for code in codes))
    sizes = np.diff(np.append(runs, len(order)))
    first = np.searchsorted(runs, begins)
    found: Indices = np.add.reduceat(sizes * (sizes - 1) // 2, first)
    return found


def _runs(*columns: npt.NDArray[np.generic]) -> Indices:
    """Where runs begin that are the same in all columns."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _groups(starts: Indices, n: int) -> Indices:
    return np.repeat(np.arange(len(starts)), np.diff(np.append(starts, n)))


def _centred(values: Floats, starts: Indices, sizes: Indices) -> Floats:
    """Values less their mean in each group, in parts of the largest of them."""
    largest = np.abs(values).max(axis=-1, keepdims=True)
    centred: Floats = values / np.where(largest > 0, largest, 1.0)
    for _ in range(2):  # the mean of what is nearly the same is itself rounded
        centred = centred - np.repeat(_sums(centred, starts) / sizes, sizes, axis=-1)
    return centred


def _sums(values: Floats, starts: Indices) -> Floats:
    """Sums of groups; a single group is summed pairwise, which keeps more digits."""
    if len(starts) == 1:
        return np.asarray(values.sum(axis=-1, keepdims=True))
    found: Floats = np.add.reduceat(values, starts, axis=-1)
    return found


def _varied(values: Floats, starts: Indices) -> npt.NDArray[np.bool_]:
    """Whether a group has two different values."""
    if len(starts) == 1:
        return np.asarray(values.max(axis=-1, keepdims=True) > values.min(axis=-1, keepdims=True))
    varied: npt.NDArray[np.bool_] = np.maximum.reduceat(values, starts, axis=-1) > np.minimum.reduceat(
        values, starts, axis=-1
    )
    return varied
