"""Word triples of passages as hashes, to say how much two have in common.

Nearly the same are passages that have a share of their word triples in common (Jaccard index); in writing
without spaces, triples of characters.
"""

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from retrieval.text.languages import UNSPACED, primary

Hashes = NDArray[np.uint64]
_WORD = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(r"[^\W_]")
#: Odd constants that spread the hashes of three words over 64 bits (Knuth's multiplicative hashing).
_SPREAD = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)
_SHINGLE = 3


class _Words(dict[str, int]):
    """Hashes of words, from 1; each is worked out once."""

    def __missing__(self, word: str) -> int:
        found = self[word] = crc32(word.encode("utf-8", "surrogatepass")) + 1
        return found


class Shingler:
    """Turns texts of one language into hashes of their word triples; remembers the words it has met."""

    #: Words that are remembered; then it begins again, so that memory stays the same.
    _MOST_WORDS = 1_000_000

    def __init__(self, language: str) -> None:
        self._pattern = _CHARACTER if primary(language) in UNSPACED else _WORD
        self._known = _Words()

    def triples(self, texts: Sequence[str]) -> tuple[Hashes, NDArray[np.int64]]:
        """Hashes of all triples, one text after the other, and where each text begins, with the end.

        A text of fewer words than three has one: of the words there are, so that none is empty.
        """
        if len(self._known) > self._MOST_WORDS:
            self._known.clear()
        known = self._known
        words: list[int] = []
        begins = [0]
        for text in texts:
            own = [known[word] for word in self._pattern.findall(text.lower())]
            words += own + [0] * (_SHINGLE - len(own))
            begins.append(len(words))
        flat = np.array(words, dtype=np.uint64)
        mixed = sum(
            (flat[at : len(flat) - 2 + at] * _SPREAD[at] for at in range(_SHINGLE)), start=np.uint64()
        )
        spread = np.asarray(mixed ^ (mixed >> np.uint64(29)), dtype=np.uint64)
        edges = np.array(begins, dtype=np.int64)
        inside = np.ones(len(flat), dtype=bool)
        for back in (1, 2):
            inside[edges[1:] - back] = False
        return spread[inside[: len(spread)]], edges - 2 * np.arange(len(edges))


def jaccard(first: Hashes, second: Hashes) -> float:
    """Share of the different triples of both that are in both."""
    one, other = set(first.tolist()), set(second.tolist())
    return len(one & other) / len(one | other)
