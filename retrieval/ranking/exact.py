"""Evidence without a network: a word is like itself, and nothing is known about pairs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.crown.passages import FloatArray


class ExactWords:
    """Enough to show which words of a question a passage has, where no network has been built."""

    def similarities(self, words: Sequence[str], terms: Sequence[str]) -> FloatArray:
        """1 for the same word, -1 for others, (words, terms)."""
        places = {term: place for place, term in enumerate(terms)}
        found = np.full((len(words), len(terms)), -1.0)
        for row, word in enumerate(words):
            if word in places:
                found[row, places[word]] = 1.0
        return found

    def associations(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """No pair has an edge."""
        return np.full(len(first), np.nan)

    def idf(self, terms: Sequence[str]) -> FloatArray:
        """All words are equally rare."""
        return np.ones(len(terms))

    def same_stem(self, words: Sequence[str], terms: Sequence[str]) -> NDArray[np.bool_]:
        """A word is a form of itself only."""
        return self.similarities(words, terms) > 0
