"""Passages as the segments of a network keep them: tokens by passage, in the order of the text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrieval.network.codes import Codes
from retrieval.network.segment import FIRST, NUMBER, WORD, Segment, ragged


@dataclass(frozen=True)
class TokenStore:
    """Tokens of passages, one passage after the other.

    `codes` (tokens,) of their words; `starts` (tokens,) whether a sentence begins; `numbers` (tokens,)
    whether it is a run of digits; `lengths` (passages,).
    """

    codes: Codes
    starts: NDArray[np.bool_]
    numbers: NDArray[np.bool_]
    lengths: NDArray[np.int64]


def places_of(
    segments: Sequence[Segment], asked: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Segment and row of each passage; segment -1 where no segment has it, or it went."""
    of = np.full(len(asked), -1, dtype=np.int64)
    row = np.zeros(len(asked), dtype=np.int64)
    for place, segment in enumerate(segments):
        if len(segment.gone):
            of[np.isin(asked, segment.gone)] = -1
        if len(segment.pks):
            found = np.searchsorted(segment.pks, asked)
            found[found == len(segment.pks)] = 0
            here = segment.pks[found] == asked
            of[here], row[here] = place, found[here]
    return of, row


def gathered(segments: Sequence[Segment], of: NDArray[np.int64], row: NDArray[np.int64]) -> TokenStore:
    """Tokens of passages at these places."""
    lengths = np.zeros(len(of), dtype=np.int64)
    mine = [np.flatnonzero(of == place) for place in range(len(segments))]
    for segment, here in zip(segments, mine, strict=True):
        lengths[here] = segment.offsets[row[here] + 1] - segment.offsets[row[here]]
    ends = np.cumsum(lengths)
    codes = np.zeros(int(lengths.sum()), dtype=np.uint64)
    flags = np.zeros(len(codes), dtype=np.uint32)
    for segment, here in zip(segments, mine, strict=True):
        if len(here):
            given = segment.tokens[ragged(segment.offsets[row[here]], lengths[here])]
            target = ragged(ends[here] - lengths[here], lengths[here])
            codes[target] = segment.codes[given & WORD]
            flags[target] = given
    return TokenStore(codes, (flags & FIRST) != 0, (flags & NUMBER) != 0, lengths)
