"""What a node threshold means in a space of word vectors: how many neighbours a word has above it.

CROWN's 0.75 was chosen for vectors of GoogleNews. In other spaces the same threshold lets a thousand
neighbours through, or one. The curve is measured when vectors are made, and kept with them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

#: Thresholds at which neighbours are counted.
ALPHAS = tuple(round(0.3 + step / 100, 2) for step in range(70))
#: The words that are looked at: the commonest ones, and every so many of them.
COMMONEST, EVERY = 20_000, 10
_AT_ONCE = 256


def curve(rows: Rows) -> list[float]:
    """Mean number of other words above each of ALPHAS, among the commonest words; rows by falling frequency.

    For more than 2,000 words, every tenth is compared with all.
    """
    common = rows[:COMMONEST]
    lengths = np.linalg.norm(common, axis=1, keepdims=True)
    common = (common / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    asked = np.arange(0, len(common), EVERY if len(common) > COMMONEST // EVERY else 1)
    if len(common) < 2:
        return [0.0] * len(ALPHAS)
    edges = np.array([*ALPHAS, 2.0])
    found = np.zeros(len(ALPHAS))
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        cosines = common[some] @ common.T
        cosines[np.arange(len(some)), some] = -1.0
        near = cosines[cosines > ALPHAS[0]]
        found += np.histogram(near, edges)[0]
    above = np.cumsum(found[::-1])[::-1] / len(asked)
    return [round(float(value), 4) for value in above]


def neighbours_at(alpha: float, found: Sequence[float]) -> float:
    """Mean number of neighbours above a threshold, between the measured ones by a straight line."""
    return float(np.interp(alpha, ALPHAS, found))


def alpha_for(target: float, found: Sequence[float]) -> float:
    """The lowest measured threshold with at most so many neighbours on average."""
    return next((alpha for alpha, mean in zip(ALPHAS, found, strict=True) if mean <= target), ALPHAS[-1])
