"""How many passages hold a word, and how many hold two words close to each other (paper 001, section 2.1).

Words of a part are numbered; a pair is one 64-bit key, the lower number first. Each passage counts once per
word and once per pair. Everything is sorted columns: a literal dictionary takes fourteen times as long.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.uint32]
Offsets = NDArray[np.int64]
Keys = NDArray[np.uint64]
Counts = NDArray[np.int32]

#: A word is paired with so many content words after it.
WINDOW = 3
#: Bits that the second word of a key has.
SHIFT = np.uint64(32)
#: Tokens whose pairs are in memory at the same time, and pairs that are sorted at the same time.
_TOKENS, _PAIRS = 1 << 20, 1 << 24


def key_of(first: Ids, second: Ids) -> Keys:
    """Keys of pairs of words, whichever comes first."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    return (low.astype(np.uint64) << SHIFT) | high.astype(np.uint64)


def word_counts(tokens: Ids, offsets: Offsets, words: int) -> Counts:
    """In how many passages each of so many words is; passage i has tokens[offsets[i]:offsets[i + 1]]."""
    counts = np.zeros(words, dtype=np.int32)
    bits = np.uint64(max(1, words.bit_length()))
    for first, last in _pieces(offsets, int(bits)):
        some = tokens[offsets[first] : offsets[last]].astype(np.uint64)
        keys = (_passages(offsets, first, last).astype(np.uint64) << bits) | some
        found = _distinct(keys) & np.uint64((1 << int(bits)) - 1)
        counts += np.bincount(found.astype(np.int64), minlength=words).astype(np.int32)
    return counts


def pair_counts(tokens: Ids, offsets: Offsets, words: int) -> tuple[Keys, Counts]:
    """Rising keys of pairs at most WINDOW apart, of different words, and in how many passages each is."""
    bits = max(1, words.bit_length())
    runs: list[tuple[Keys, Counts]] = []
    waiting: list[Keys] = []
    held = 0
    for first, last in _pieces(offsets, 2 * bits):
        keys = _pairs_once(tokens[offsets[first] : offsets[last]], _passages(offsets, first, last), bits)
        waiting.append(keys)
        held += len(keys)
        if held >= _PAIRS:
            runs.append(_run(waiting))
            waiting, held = [], 0
    if waiting:
        runs.append(_run(waiting))
    while len(runs) > 1:
        runs.sort(key=lambda run: -len(run[0]))
        runs.append(added(*runs.pop(), *runs.pop()))
    keys, counts = runs[0] if runs else (np.zeros(0, np.uint64), np.zeros(0, np.int32))
    low = np.uint64((1 << bits) - 1)
    return ((keys >> np.uint64(bits)) << SHIFT) | (keys & low), counts


def added(
    keys: Keys, counts: NDArray[np.int32], others: Keys, their_counts: NDArray[np.int32]
) -> tuple[Keys, Counts]:
    """Two runs as one: keys of either, counts added. Both have rising keys, each once."""
    both = np.concatenate([keys, others])
    both.sort(kind="stable")  # linear where two rising runs meet
    both = _firsts(both)
    total = np.zeros(len(both), dtype=np.int32)
    total[np.searchsorted(both, keys)] += counts
    total[np.searchsorted(both, others)] += their_counts
    return both, total


def _pieces(offsets: Offsets, bits: int) -> Iterator[tuple[int, int]]:
    """Ranges of passages whose numbers fit beside so many bits, with a bounded number of tokens in all."""
    most = 1 << min(62 - bits, 30)
    first, passages = 0, len(offsets) - 1
    while first < passages:
        full = int(np.searchsorted(offsets, offsets[first] + _TOKENS, side="right")) - 1
        last = min(max(full, first + 1), first + most, passages)
        yield first, last
        first = last


def _passages(offsets: Offsets, first: int, last: int) -> NDArray[np.int64]:
    """The number of its passage, from 0, for each token of a range of passages."""
    return np.repeat(np.arange(last - first), np.diff(offsets[first : last + 1]))


def _pairs_once(tokens: Ids, passage: NDArray[np.int64], bits: int) -> Keys:
    """Keys of the pairs of a piece, each as often as there are passages with it."""
    found = []
    ids, above = tokens.astype(np.uint64), passage.astype(np.uint64) << np.uint64(2 * bits)
    for distance in range(1, WINDOW + 1):
        one, two = ids[:-distance], ids[distance:]
        keep = (passage[:-distance] == passage[distance:]) & (one != two)
        low, high = np.minimum(one, two), np.maximum(one, two)
        found.append((above[:-distance] | (low << np.uint64(bits)) | high)[keep])
    return _distinct(np.concatenate(found)) & np.uint64((1 << (2 * bits)) - 1)


def _run(keys: list[Keys]) -> tuple[Keys, Counts]:
    """Distinct keys, rising, and how often each was there."""
    every = np.concatenate(keys)
    keys.clear()
    every.sort()
    starts = np.flatnonzero(_is_first(every))
    return every[starts], np.diff(starts, append=len(every)).astype(np.int32)


def _distinct(keys: Keys) -> Keys:
    """Rising keys, each once. The column given is sorted in place; `numpy.unique` is several times slower."""
    keys.sort()
    return _firsts(keys)


def _firsts(keys: Keys) -> Keys:
    return keys[_is_first(keys)]


def _is_first(keys: Keys) -> NDArray[np.bool_]:
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    return first
