"""Looking into a network: the words nearest to a word, and those it stands next to."""

from typing import NamedTuple

import numpy as np

from retrieval.network.codes import codes_of
from retrieval.network.counts import SHIFT
from retrieval.network.network import Network

_LOW = np.uint64((1 << 32) - 1)


class Similar(NamedTuple):
    """A word whose vector is near."""

    word: str
    cosine: float


class Associate(NamedTuple):
    """A word that stands close by: NPMI, and in how many passages."""

    word: str
    npmi: float
    passages: int


def similar_words(network: Network, word: str, k: int = 10) -> list[Similar]:
    """The k words with the largest cosines, largest first; none where the word has no vector."""
    if network.vectors is None:
        return []
    row, there = network.vectors.of(codes_of([word]))
    if not there[0]:
        return []
    cosines = network.vectors.rows.astype(np.float32) @ row[0]
    cosines[network.vectors.codes == codes_of([word])[0]] = -2.0
    best = np.argsort(-cosines, kind="stable")[:k]
    words = network.spelled(network.vectors.codes[best])
    return [Similar(name, float(cosines[place])) for name, place in zip(words, best, strict=True) if name]


def associated_words(network: Network, word: str, k: int = 10, *, least_passages: int = 2) -> list[Associate]:
    """The k words with the largest NPMI, largest first, that are near it in so many passages at least."""
    code = codes_of([word])
    others = [np.zeros(0, dtype=np.uint64)]
    for segment in network.segments:
        number = int(segment.numbers_of(code)[0])
        if number < 0 or not segment.facts.pairs:
            continue
        first = np.searchsorted(segment.keys, np.uint64(number) << SHIFT)
        last = np.searchsorted(segment.keys, np.uint64(number + 1) << SHIFT)
        after = segment.keys[first:last] & _LOW
        before = segment.keys[(segment.keys & _LOW) == np.uint64(number)] >> SHIFT
        others += [segment.codes[after], segment.codes[before]]
    found = np.unique(np.concatenate(others))
    same = np.repeat(code, len(found))
    counts = network.pair_counts(same, found)
    often = counts >= least_passages
    found, same, counts = found[often], same[often], counts[often]
    values = network.npmi(same, found)
    best = np.lexsort((-counts, -values))[:k]
    words = network.spelled(found[best])
    return [
        Associate(name, float(values[place]), int(counts[place]))
        for name, place in zip(words, best, strict=True)
    ]
