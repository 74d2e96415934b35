"""How many passages hold a word, and how many hold two words close to each other (paper 001, section 2.1).

Words of a part are numbered; a pair is one 64-bit key, the lower number first. Each passage counts once per
word and once per pair. Everything is sorted columns: a literal dictionary takes fourteen times as long.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.network.segment import FIRST, NUMBER, WORD, Segment, SegmentWriter, codes_of, rules_of
from retrieval.sentences import sentences
from retrieval.tokens import tokens

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


def word_counts(tokens: Ids, offsets: Offsets, size: int) -> Counts:
    """In how many passages each of so many words is; passage i has tokens[offsets[i]:offsets[i + 1]]."""
    counts = np.zeros(size, dtype=np.int32)
    bits = np.uint64(max(1, size.bit_length()))
    for first, last in _pieces(offsets, int(bits)):
        portion = tokens[offsets[first] : offsets[last]].astype(np.uint64)
        keys = (_passages(offsets, first, last).astype(np.uint64) << bits) | portion
        distinct = _distinct(keys) & np.uint64((1 << int(bits)) - 1)
        counts += np.bincount(distinct.astype(np.int64), minlength=size).astype(np.int32)
    return counts


def pair_counts(tokens: Ids, offsets: Offsets, size: int) -> tuple[Keys, Counts]:
    """Rising keys of pairs at most WINDOW apart, of different words, and in how many passages each is."""
    bits = max(1, size.bit_length())
    runs: list[tuple[Keys, Counts]] = []
    waiting: list[Keys] = []
    waiting_keys = 0
    for first, last in _pieces(offsets, 2 * bits):
        keys = _pairs_once(tokens[offsets[first] : offsets[last]], _passages(offsets, first, last), bits)
        waiting.append(keys)
        waiting_keys += len(keys)
        if waiting_keys >= _PAIRS:
            runs.append(_run(waiting))
            waiting, waiting_keys = [], 0
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
    parts = []
    ids, above = tokens.astype(np.uint64), passage.astype(np.uint64) << np.uint64(2 * bits)
    for distance in range(1, WINDOW + 1):
        one, two = ids[:-distance], ids[distance:]
        keep = (passage[:-distance] == passage[distance:]) & (one != two)
        low, high = np.minimum(one, two), np.maximum(one, two)
        parts.append((above[:-distance] | (low << np.uint64(bits)) | high)[keep])
    return _distinct(np.concatenate(parts)) & np.uint64((1 << (2 * bits)) - 1)


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


# Counting some passages of a corpus: what one worker does. The result is a segment.


def count_shard(texts: Iterable[tuple[int, str]], folder: Path, language: str) -> Segment:
    """Count the words and pairs of passages, given as (number, text), into a new folder.

    The passages must fit into memory as tokens: 20 bytes a word. ValueError where a number comes twice.
    """
    cut = _cut(texts, language)
    spelled = list(cut.words)
    codes = codes_of(spelled)
    order = np.argsort(codes)
    rank = np.empty(len(order), dtype=np.uint32)
    rank[order] = np.arange(len(order), dtype=np.uint32)
    number = np.array([word[0].isdecimal() for word in spelled], dtype=np.bool_)
    flagged = rank[cut.tokens]
    flagged[number[cut.tokens]] |= NUMBER
    flagged[cut.firsts] |= FIRST
    return write_segment(
        folder,
        Columns(
            codes=codes[order],
            words=[spelled[place] for place in order.tolist()],
            pks=cut.pks,
            offsets=cut.offsets,
            tokens=flagged,
        ),
        language,
    )


@dataclass(frozen=True)
class Columns:
    """Passages as tokens, and the words that these number."""

    codes: NDArray[np.uint64]
    words: list[str]
    pks: NDArray[np.int64]
    offsets: NDArray[np.int64]
    tokens: NDArray[np.uint32]


def write_segment(folder: Path, columns: Columns, language: str) -> Segment:
    """Count words and pairs of passages that are tokens already."""
    ids = columns.tokens & WORD
    df = word_counts(ids, columns.offsets, len(columns.codes))
    letters = (columns.tokens & NUMBER) == 0
    before = np.concatenate([[0], np.cumsum(letters)])
    keys, counts = pair_counts(ids[letters], before[columns.offsets], len(columns.codes))
    written = SegmentWriter(folder)
    try:
        written.add("codes", columns.codes)
        spelling = [word.encode() + b"\n" for word in columns.words]
        written.add("spelling", np.frombuffer(b"".join(spelling), dtype=np.uint8))
        written.add("ends", np.cumsum([len(each) for each in spelling], dtype=np.int64))
        for name, column in (
            ("df", df),
            ("keys", keys),
            ("counts", counts),
            ("pks", columns.pks),
            ("offsets", columns.offsets),
            ("tokens", columns.tokens),
        ):
            written.add(name, column)
        return written.finish(
            language=language, rules=rules_of(language), passages=len(columns.pks), least_count=1
        )
    finally:
        written.abandon()


@dataclass(frozen=True)
class _Cut:
    """Tokens numbered in the order in which their words appeared, passages by rising number."""

    words: dict[str, int]
    tokens: NDArray[np.uint32]
    firsts: NDArray[np.int64]
    pks: NDArray[np.int64]
    offsets: NDArray[np.int64]


class _WordNumbers(dict[str, int]):
    """Gives the next number to a word that it has not seen."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


def _cut(texts: Iterable[tuple[int, str]], language: str) -> _Cut:
    numbers = _WordNumbers()
    ids, firsts, pks, offsets = array("I"), array("q"), array("q"), array("q", [0])
    for pk, text in sorted(texts, key=lambda passage: passage[0]):
        if pks and pk == pks[-1]:
            raise ValueError(f"The passage {pk} was given twice.")
        pks.append(pk)
        for start, end in sentences(text, language):
            if passage_words := tokens(text[start:end], language, numbers=True):
                firsts.append(len(ids))
                ids.extend([numbers[word] for word in passage_words])
        offsets.append(len(ids))
    return _Cut(
        numbers,
        np.frombuffer(ids, dtype=np.uint32) if ids else np.zeros(0, np.uint32),
        np.frombuffer(firsts, dtype=np.int64) if firsts else np.zeros(0, np.int64),
        np.frombuffer(pks, dtype=np.int64) if pks else np.zeros(0, np.int64),
        np.frombuffer(offsets, dtype=np.int64),
    )
