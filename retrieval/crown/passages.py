"""Candidate passages of one query as columns, which is how they are scored."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Passages:
    """Every content token of n passages, in order of passage and place.

    `words` are the distinct words; `tokens` (t,) are places in it; `passage` (t,) is the number of the
    passage from 0, rising; `sentence` (t,) is the number from 1 of the sentence among those sentences of the
    passage that have a content token. A passage without any token has no row, and counts in `count`.
    """

    words: Sequence[str]
    tokens: IntArray
    passage: IntArray
    sentence: IntArray
    count: int
