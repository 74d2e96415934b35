"""What scoring asks of a word proximity network."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.crown.passages import FloatArray


class Evidence(Protocol):
    """Similarity and proximity of words. A network gives it; so does anything else with these methods."""

    def similarities(self, words: Sequence[str], terms: Sequence[str]) -> FloatArray:
        """Cosines, (words, terms); 1 for the same word, -1 where one of them has no vector."""

    def associations(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """NPMI of pairs, -1 to 1; NaN where the network has no edge."""

    def idf(self, terms: Sequence[str]) -> FloatArray:
        """How rare each term is in the corpus: log(1 + (N - df + 0.5) / (df + 0.5))."""

    def same_stem(self, words: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """Whether one is a form of the other, (words, terms); every word is a form of itself."""
