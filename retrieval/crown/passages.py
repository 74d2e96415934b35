"""Candidate passages of one query as columns, which is how they are scored."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


class UnspelledWords(Sequence[str]):
    """Words of which some can be taken without spelling any, as a network's are."""

    @abstractmethod
    def take(self, places: IntArray) -> Sequence[str]:
        """The words at these places."""


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

    @cached_property
    def segments(self) -> IntArray:
        """Number of the sentence of each token, from 0, over all passages."""
        if not len(self.tokens):
            return np.empty(0, np.int64)
        begins = np.zeros(len(self.tokens), np.bool_)
        np.not_equal(self.passage[1:], self.passage[:-1], out=begins[1:])
        begins[1:] |= self.sentence[1:] != self.sentence[:-1]
        return begins.cumsum()

    def words_at(self, places: IntArray) -> Sequence[str]:
        """Distinct words by their places."""
        if isinstance(self.words, UnspelledWords):
            return self.words.take(places)
        return [self.words[place] for place in places.tolist()]


# What scoring asks of a word proximity network.


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
