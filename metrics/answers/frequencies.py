"""In how many sets of references an n-gram occurs, for data sets that do not fit into memory at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from metrics.texts import Places, Tokens

Hashes = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, eq=False)
class Grams:
    """n-grams of texts: entry e says that text `texts[e]` has `counts[e]` times the n-gram `grams[e]`.

    Sorted by text and n-gram; the entries of text t are `starts[t]:starts[t + 1]`. `hashes` and `orders` (0
    for single tokens) are those of the n-grams, sorted by hash.
    """

    texts: Places
    grams: Places
    counts: Counts
    starts: Places
    hashes: Hashes
    orders: Places


def grams_of(tokens: Tokens, highest: int) -> Grams:
    """All n-grams of the texts, n = 1..`highest`, under a hash of 64 bits that is the same everywhere."""
    ids, starts = tokens.ids, tokens.starts
    n = len(starts) - 1
    words = np.fromiter(map(_hash, tokens.words), np.uint64, len(tokens.words))
    of = np.repeat(np.arange(n), np.diff(starts))
    left = starts[1:][of] - np.arange(len(ids))
    own = words[ids] if len(ids) else np.zeros(0, np.uint64)
    found, places, orders = [own], [of], [np.zeros(len(ids), np.intp)]
    running = own
    for order in range(1, highest):
        running = (running[:-1] ^ (running[:-1] >> np.uint64(29))) * _FACTOR + own[order:]
        whole = left[: len(running)] > order
        found.append(running[whole])
        places.append(of[: len(running)][whole])
        orders.append(np.full(int(whole.sum()), order, np.intp))
    hashes, first, number = np.unique(np.concatenate(found), return_index=True, return_inverse=True)
    width = max(len(hashes), 1)
    keys, counts = np.unique(np.concatenate(places) * width + number, return_counts=True)
    texts = keys // width
    return Grams(
        texts,
        keys % width,
        counts.astype(np.int64),
        np.searchsorted(texts, np.arange(n + 1)).astype(np.intp),
        hashes,
        np.concatenate(orders)[first],
    )


@lru_cache(1 << 17)
def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


@dataclass(slots=True, eq=False)
class Frequencies:
    """Numbers of documents with each n-gram, among `documents`; adding two takes little time however many."""

    documents: int = 0
    _heaps: list[tuple[Hashes, Counts]] = field(default_factory=list)

    @classmethod
    def of(cls, documents: int, hashes: Hashes) -> "Frequencies":
        """Of some documents whose n-grams, each once per document, are given one after another."""
        return cls(documents, [_counted(hashes, np.ones(len(hashes), np.int64))])

    def add(self, other: "Frequencies") -> "Frequencies":
        """Take in what was found in other documents."""
        self.documents += other.documents
        self._heaps += other._heaps
        while len(self._heaps) > 1 and len(self._heaps[-1][0]) * 2 > len(self._heaps[-2][0]):
            self._merge_last()
        return self

    def weights(self, hashes: Hashes) -> npt.NDArray[np.float64]:
        """log(documents) - log(documents with it) of each n-gram; one in no document counts as in one."""
        while len(self._heaps) > 1:
            self._merge_last()
        frequency = np.ones(len(hashes), np.int64)
        if self._heaps and len(self._heaps[0][0]):
            known, counts = self._heaps[0]
            place = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
            frequency = np.where(known[place] == hashes, counts[place], 1)
        weights: npt.NDArray[np.float64] = np.log(float(max(self.documents, 1))) - np.log(frequency)
        return weights

    def _merge_last(self) -> None:
        (hashes, counts), (others, more) = self._heaps.pop(), self._heaps.pop()
        self._heaps.append(_counted(np.concatenate((hashes, others)), np.concatenate((counts, more))))


def _counted(hashes: Hashes, counts: Counts) -> tuple[Hashes, Counts]:
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    firsts = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1]))) if len(hashes) else order
    return hashes[firsts], np.add.reduceat(counts[order], firsts) if len(firsts) else counts


def merged(first: Sequence[Frequencies], second: Sequence[Frequencies]) -> list[Frequencies]:
    """Frequencies of the k-th references of all, for each k."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    found = list(longer)
    for place, other in enumerate(shorter):
        found[place] = found[place].add(other)
    return found
