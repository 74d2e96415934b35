"""Counting some passages of a corpus: what one worker does. The result is a segment."""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.network.counts import pair_counts, word_counts
from retrieval.network.segment import FIRST, NUMBER, WORD, Segment, SegmentWriter, codes_of, rules_of
from retrieval.text.sentences import sentences
from retrieval.text.tokens import tokens


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
            if words := tokens(text[start:end], language, numbers=True):
                firsts.append(len(ids))
                ids.extend([numbers[word] for word in words])
        offsets.append(len(ids))
    return _Cut(
        numbers,
        np.frombuffer(ids, dtype=np.uint32) if ids else np.zeros(0, np.uint32),
        np.frombuffer(firsts, dtype=np.int64) if firsts else np.zeros(0, np.int64),
        np.frombuffer(pks, dtype=np.int64) if pks else np.zeros(0, np.int64),
        np.frombuffer(offsets, dtype=np.int64),
    )
