"""Parts for training, validation and test that share no context (Lowe et al. 2017, section 5.1).

Contexts are dealt, not examples: all examples of a context stand in one part.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from metrics.errors import MetricError
from metrics.texts import Places

SHARES = (0.7, 0.15, 0.15)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Rows of each part, in order."""

    train: Places
    validation: Places
    test: Places


def split(keys: Sequence[Hashable], seed: int, shares: tuple[float, float, float] = SHARES) -> Parts:
    """Deal the contexts by their shares; the order of rows has no part in who comes where."""
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise MetricError("Shares of training, validation and test must not be negative, and add up to 1.")
    numbers, dealt = _dealt(keys, seed)
    ends = np.rint(np.cumsum(shares)[:2] * len(dealt)).astype(int)
    train, validation, test = np.split(dealt, ends)
    return _parts(keys, numbers, train, validation, test)


def folds(keys: Sequence[Hashable], k: int, seed: int, validation: float = 0.15) -> list[Parts]:
    """k parts for test in which each context stands once; of what is left a share is for validation."""
    numbers, dealt = _dealt(keys, seed)
    if not 2 <= k <= len(dealt):
        raise MetricError(f"{len(dealt)} contexts cannot be dealt into {k} parts.")
    parts = []
    for fold in range(k):
        test = dealt[fold::k]
        left = dealt[np.arange(len(dealt)) % k != fold]
        held = np.random.default_rng((seed, fold + 1)).permutation(left)
        cut = max(1, round(validation * len(held)))
        parts.append(_parts(keys, numbers, held[cut:], held[:cut], test))
    return parts


def _dealt(keys: Sequence[Hashable], seed: int) -> tuple[Places, Places]:
    """The number of each row's context, and those numbers in random order.

    Contexts are numbered in the order of their names, so that shuffled rows give the same parts.
    """
    names = {key: number for number, key in enumerate(sorted(set(keys), key=repr))}
    numbers = np.fromiter((names[key] for key in keys), np.intp, len(keys))
    return numbers, np.random.default_rng((seed, 0)).permutation(len(names)).astype(np.intp)


def _parts(
    keys: Sequence[Hashable], numbers: Places, train: Places, validation: Places, test: Places
) -> Parts:
    rows = [np.flatnonzero(np.isin(numbers, part)) for part in (train, validation, test)]
    sides = [{keys[int(row)] for row in part} for part in rows]
    if sides[0] & sides[1] or sides[0] & sides[2] or sides[1] & sides[2]:
        raise AssertionError("a context stands in two parts")
    return Parts(*rows)
