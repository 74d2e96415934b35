"""Inverse document frequencies of word pieces, as the package bert-score defines them.

    idf(piece) = log((N + 1) / (number of references with the piece + 1))

N is the number of references of the whole data set, each as often as it is there. A piece that is in no
reference has log(N + 1), one that is in all of them 0, as the pieces that frame every text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metrics.base import Floats


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """How many references there are, and how many have each piece (by its number)."""

    number: int
    having: npt.NDArray[np.int64]

    @classmethod
    def of(cls, references: Iterable[Sequence[int]], pieces: int) -> "References":
        """Of some references as numbers of pieces, out of so many pieces."""
        having = np.zeros(pieces, np.int64)
        number = 0
        for ids in references:
            having[np.unique(np.asarray(ids, np.intp))] += 1
            number += 1
        return cls(number, having)

    def idf(self) -> Floats:
        """The weight of each piece."""
        found: Floats = np.log((self.number + 1) / (self.having + 1))
        return found

    def merged(self, other: "References") -> "References":
        """Of all references of both."""
        return References(self.number + other.number, self.having + other.having)
