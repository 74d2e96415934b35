"""What several references, or none, mean for the value of a candidate."""

import numpy as np

from metrics.base import NO_REFERENCE, ChunkValues, Floats
from metrics.texts import Places


def owners(starts: Places) -> Places:
    """The candidate of each pair: pairs of candidate i are `starts[i]:starts[i + 1]`."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def best(values: Floats, starts: Places) -> tuple[Floats, Places]:
    """The highest value of each candidate's pairs, and its pair, the first of equals.

    Values of pairs (P) -> (value of each candidate, nan where it has no reference; its pair, or -1).
    """
    n = len(starts) - 1
    highest = np.full(n, np.nan)
    pairs = np.full(n, -1, np.intp)
    some = np.flatnonzero(np.diff(starts))
    if len(some) == len(values):
        highest[some], pairs[some] = values, starts[some]
    elif len(some):
        highest[some] = np.maximum.reduceat(values, starts[some])
        reached = np.flatnonzero(values == highest[owners(starts)])
        owner = owners(starts)[reached]
        first = np.concatenate(([True], owner[1:] != owner[:-1]))
        pairs[owner[first]] = reached[first]
    return highest, pairs


def closest(lengths: Places, reference_lengths: Places, starts: Places) -> Places:
    """Length of the reference closest in length to each candidate, of equally close ones the shorter.

    0 for a candidate without references. Papineni et al. 2002, section 2.2.2.
    """
    found = np.zeros(len(starts) - 1, np.intp)
    some = np.flatnonzero(np.diff(starts))
    if len(some):
        width = int(reference_lengths.max()) + 1
        apart = np.abs(reference_lengths - lengths[owners(starts)])
        found[some] = np.minimum.reduceat(apart * width + reference_lengths, starts[some]) % width
    return found


def measured(values: Floats, starts: Places, rows: Floats | None = None) -> ChunkValues:
    """Values of a chunk that are nan where, and only where, a candidate has no reference.

    `rows` is what each candidate adds to the sums of the corpus score.
    """
    missing = int(np.count_nonzero(np.diff(starts) == 0))
    why = {NO_REFERENCE: missing} if missing else {}
    return ChunkValues(values, None if rows is None else rows.sum(0), why, rows)
