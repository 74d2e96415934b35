"""How far editors agree, over plain values; nothing here knows the database.

Krippendorff's alpha compares the disagreement within queries with the one to be expected by chance: 1 is
perfect, 0 is chance (Krippendorff 2011, Computing Krippendorff's Alpha-Reliability). Missing answers are
allowed. Where a coefficient is not defined it is None with a reason in words, never NaN and never 1.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from metrics.figure import Figure

NO_PAIRS = "not defined: no query has two answers yet"
NO_VARIATION = "not defined: all answers are the same"


def nominal_alpha(units: Iterable[Sequence[Hashable]]) -> Figure:
    """Krippendorff's alpha with nominal distance; each unit is the answers that it got."""
    import krippendorff
    import numpy as np  # start-up does without numpy

    counts = [Counter(unit) for unit in units if len(unit) > 1]
    values = sorted({value for unit in counts for value in unit}, key=repr)
    if not counts:
        return Figure(None, NO_PAIRS)
    if len(values) == 1:
        return Figure(None, NO_VARIATION)
    table = np.array([[unit[value] for value in values] for unit in counts])
    return Figure(float(krippendorff.alpha(value_counts=table, level_of_measurement="nominal")))


def percent_agreement(units: Iterable[Sequence[Hashable]]) -> Figure:
    """Share of equal pairs of answers to the same query, averaged over queries with two or more; 0 to 1."""
    shares = []
    for unit in units:
        pairs = len(unit) * (len(unit) - 1)
        if pairs:
            shares.append(sum(n * (n - 1) for n in Counter(unit).values()) / pairs)
    return Figure(sum(shares) / len(shares)) if shares else Figure(None, NO_PAIRS)


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """Shared members by all members, 0 to 1; two empty sets are the same."""
    return len(one & other) / len(one | other) if one or other else 1.0


def masi_distance(one: frozenset[int], other: frozenset[int]) -> float:
    """MASI as a distance, 0 to 1: one minus Jaccard times monotonicity (Passonneau 2006, section 4).

    Monotonicity is 1 for equal sets, 2/3 where one contains the other, 1/3 where they only overlap, and 0
    where they share nothing; an empty set shares nothing with any other.
    """
    if one == other:
        return 0.0
    shared = one & other
    if not shared:
        return 1.0
    thirds = 2 if shared in (one, other) else 1
    return 1 - len(shared) * thirds / (3 * len(one | other))


def set_alpha(units: Iterable[Sequence[frozenset[int]]]) -> Figure:
    """Krippendorff's alpha over sets with MASI distance; each unit is the sets that its editors chose."""
    pairable = [Counter(unit) for unit in units if len(unit) > 1]
    if not pairable:
        return Figure(None, NO_PAIRS)
    total: Counter[frozenset[int]] = Counter()
    observed = 0.0
    for unit in pairable:
        total.update(unit)
        observed += _distances(unit) / (unit.total() - 1)
    answers = total.total()
    expected = _distances(total) / (answers - 1)
    if not expected:
        return Figure(None, NO_VARIATION)
    return Figure(1 - observed / expected)


def _distances(counts: Counter[frozenset[int]]) -> float:
    """Sum of the distances of all ordered pairs of these sets."""
    known = list(counts.items())
    return 2 * sum(
        times * more * masi_distance(one, other)
        for at, (one, times) in enumerate(known)
        for other, more in known[at + 1 :]
    )


def mean_jaccard(units: Iterable[Sequence[frozenset[int]]]) -> Figure:
    """Mean Jaccard similarity of pairs of sets of the same query, averaged over queries; 0 to 1."""
    means = []
    for unit in units:
        pairs = [jaccard(one, other) for at, one in enumerate(unit) for other in unit[at + 1 :]]
        if pairs:
            means.append(sum(pairs) / len(pairs))
    return Figure(sum(means) / len(means)) if means else Figure(None, NO_PAIRS)
