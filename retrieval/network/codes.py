"""Words as 64-bit numbers, so that whole columns of them are compared at once.

The number of a word is the first 64 bits of its BLAKE2b digest. It depends on the word alone: vocabularies of
different parts of a corpus, word vectors and stored passages meet on it, and no table of all words has to be
in memory. Of ten million words, two share a number with a probability of 3 in a million; they would be
counted as one word.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from retrieval.crown.passages import UnspelledWords

Codes = NDArray[np.uint64]
_BYTES = 8


class Spelling(Protocol):
    """Gives words back for their numbers."""

    def spelled(self, codes: Codes) -> list[str]:
        """The words, in this order."""


def codes_of(words: Iterable[str]) -> Codes:
    """The numbers of words; of `WordSequence` ones without computing them again."""
    if isinstance(words, WordSequence):
        return words.codes
    digests = b"".join(blake2b(word.encode(), digest_size=_BYTES).digest() for word in words)
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64, copy=False)


class WordSequence(UnspelledWords):
    """Words of a network by their numbers; spelled when somebody reads them, all at once."""

    def __init__(self, codes: Codes, spelling: Spelling) -> None:
        self.codes = codes
        self._spelling = spelling
        self._words: list[str] | None = None

    def take(self, places: NDArray[np.int64]) -> "WordSequence":
        """The words at these places."""
        return WordSequence(self.codes[places], self._spelling)

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "WordSequence": ...

    def __getitem__(self, place: int | slice) -> "str | WordSequence":
        if isinstance(place, slice):
            return WordSequence(self.codes[place], self._spelling)
        return self._all()[place]

    def _all(self) -> list[str]:
        if self._words is None:
            self._words = self._spelling.spelled(self.codes)
        return self._words
