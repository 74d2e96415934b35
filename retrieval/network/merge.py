"""Several segments as one: the same bytes however the passages were divided among them.

Words are numbered by the rank of their codes, so numbers of a segment become those of the whole without
changing their order, and rising keys stay rising. Pairs are added range by range: memory does not grow with
the network.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.network.counts import SHIFT
from retrieval.network.segment import WORD, Codes, Segment, SegmentWriter, ragged

Renumbering = NDArray[np.uint64]
#: Pairs and tokens in memory at the same time, about.
_AT_ONCE = 1 << 22
_LOW = np.uint64((1 << 32) - 1)


def merge(segments: Sequence[Segment], folder: Path, *, whole: bool, least_count: int = 1) -> Segment:
    """Add the counts of segments, oldest first, into a new folder.

    `whole`: these are all segments of the network. Then what went is forgotten: words and pairs that no
    passage holds any more, and pairs in fewer than `least_count` passages. ValueError where two segments hold
    the same passage.
    """
    codes = _all_codes(segments)
    df = np.zeros(len(codes), dtype=np.int32)
    for segment in segments:
        df[np.searchsorted(codes, segment.codes)] += segment.df
    if whole:
        codes, df = codes[df > 0], df[df > 0]
    to_whole = [np.searchsorted(codes, segment.codes).astype(np.uint64) for segment in segments]
    written = SegmentWriter(folder)
    try:
        written.add("codes", codes)
        written.add("df", df)
        _write_spelling(written, segments, codes)
        for keys, counts in _pairs(segments, to_whole):
            keep = counts >= max(1, least_count) if whole else counts != 0
            written.add("keys", keys[keep])
            written.add("counts", counts[keep])
        _write_passages(written, segments, to_whole, whole=whole)
        first = segments[0].facts
        return written.finish(
            language=first.language,
            rules=first.rules,
            passages=sum(segment.facts.passages for segment in segments),
            least_count=least_count if whole else 1,
        )
    finally:
        written.abandon()


def _all_codes(segments: Sequence[Segment]) -> Codes:
    """Codes of the words of any segment, rising, each once."""
    every = np.concatenate([segment.codes for segment in segments])
    every.sort(kind="stable")
    first = np.ones(len(every), dtype=np.bool_)
    np.not_equal(every[1:], every[:-1], out=first[1:])
    return every[first]


def _write_spelling(written: SegmentWriter, segments: Sequence[Segment], codes: Codes) -> None:
    """The letters of each word, from the first segment that has it."""
    lengths = np.zeros(len(codes), dtype=np.int64)
    sources = []
    for segment in segments:
        numbers = segment.numbers_of(codes)
        new = np.flatnonzero((numbers >= 0) & (lengths == 0))
        here = numbers[new]
        starts = np.where(here > 0, segment.ends[np.maximum(here, 1) - 1], 0) if len(here) else here
        lengths[new] = segment.ends[here] - starts
        sources.append((new, starts))
    ends = np.cumsum(lengths)
    spelling = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for segment, (new, starts) in zip(segments, sources, strict=True):
        target = ragged(ends[new] - lengths[new], lengths[new])
        spelling[target] = segment.spelling[ragged(starts, lengths[new])]
    written.add("spelling", spelling)
    written.add("ends", ends)


def _pairs(
    segments: Sequence[Segment], to_whole: Sequence[Renumbering]
) -> Iterator[tuple[NDArray[np.uint64], NDArray[np.int64]]]:
    """Keys of the whole with their counts, rising, range after range."""
    given = [(segment, numbers) for segment, numbers in zip(segments, to_whole, strict=True)]
    given = [(segment, numbers) for segment, numbers in given if segment.facts.pairs]
    if not given:
        return
    starts = [0] * len(given)
    for border in _borders(given):
        pieces = []
        for place, (segment, numbers) in enumerate(given):
            end = _end_below(segment, numbers, border)
            part = slice(starts[place], end)
            pieces.append((_renumbered(segment.keys[part], numbers), segment.counts[part]))
            starts[place] = end
        yield _added(pieces)


def _borders(given: Sequence[tuple[Segment, Renumbering]]) -> Iterator[int | None]:
    """Words of the whole where one range of keys ends and the next begins; None after all.

    A range has at most twice _AT_ONCE keys, but that all keys with the same first word are in one.
    """
    share = max(1, _AT_ONCE // len(given))
    found = [numbers[segment.keys[share::share] >> SHIFT] for segment, numbers in given]
    words = np.sort(np.concatenate(found))[len(given) - 1 :: len(given)]
    yield from sorted(set(words.tolist()))
    yield None


def _end_below(segment: Segment, numbers: Renumbering, border: int | None) -> int:
    """Number of keys of a segment whose first word comes before a word of the whole."""
    if border is None:
        return segment.facts.pairs
    here = int(np.searchsorted(numbers, np.uint64(border)))
    return int(np.searchsorted(segment.keys, np.uint64(here) << SHIFT))


def _renumbered(keys: NDArray[np.uint64], numbers: Renumbering) -> NDArray[np.uint64]:
    """Keys in numbers of the whole."""
    found: NDArray[np.uint64] = (numbers[keys >> SHIFT] << SHIFT) | numbers[keys & _LOW]
    return found


def _added(
    pieces: Sequence[tuple[NDArray[np.uint64], NDArray[np.int32]]],
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Distinct keys of rising columns, with their counts added."""
    if len(pieces) == 1:
        return pieces[0][0], pieces[0][1].astype(np.int64)
    keys = np.concatenate([piece[0] for piece in pieces])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    counts = np.concatenate([piece[1] for piece in pieces])[order]
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    if not len(starts):
        return keys, counts.astype(np.int64)
    return keys[starts], np.add.reduceat(counts, starts, dtype=np.int64)


def _write_passages(
    written: SegmentWriter, segments: Sequence[Segment], to_whole: Sequence[Renumbering], *, whole: bool
) -> None:
    """The tokens of all passages that have not gone, by rising number of the passage."""
    pks = np.concatenate([segment.pks for segment in segments])
    of = np.repeat(np.arange(len(segments)), [len(segment.pks) for segment in segments])
    row = np.concatenate([np.arange(len(segment.pks)) for segment in segments])
    keep = np.ones(len(pks), dtype=np.bool_)
    gone = np.zeros(0, dtype=np.int64)
    for place, segment in enumerate(segments):
        if len(segment.gone):
            went = np.isin(pks, segment.gone) & (of < place)
            keep &= ~went
            gone = np.union1d(gone, np.setdiff1d(segment.gone, pks[went]))
    order = np.flatnonzero(keep)[np.argsort(pks[keep], kind="stable")]
    pks, of, row = pks[order], of[order], row[order]
    if len(pks) and not np.all(pks[1:] > pks[:-1]):
        raise ValueError(f"The passage {pks[1:][pks[1:] == pks[:-1]][0]} is there twice.")
    written.add("pks", pks)
    if not whole:
        written.add("gone", gone)
    written.add("offsets", np.zeros(1, dtype=np.int64))
    ended = 0
    for first in range(0, len(pks), max(1, _AT_ONCE // 64)):
        last = first + max(1, _AT_ONCE // 64)
        tokens, lengths = _gathered(segments, to_whole, of[first:last], row[first:last])
        written.add("tokens", tokens)
        written.add("offsets", ended + np.cumsum(lengths))
        ended += len(tokens)


def _gathered(
    segments: Sequence[Segment],
    to_whole: Sequence[Renumbering],
    of: NDArray[np.int64],
    row: NDArray[np.int64],
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Tokens of passages of any segment in numbers of the whole, and how many each passage has."""
    lengths = np.zeros(len(of), dtype=np.int64)
    for place, segment in enumerate(segments):
        mine = of == place
        lengths[mine] = segment.offsets[row[mine] + 1] - segment.offsets[row[mine]]
    ends = np.cumsum(lengths)
    tokens = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint32)
    for place, segment in enumerate(segments):
        mine = np.flatnonzero(of == place)
        if not len(mine):
            continue
        given = segment.tokens[ragged(segment.offsets[row[mine]], lengths[mine])]
        numbers = to_whole[place][given & WORD].astype(np.uint32)
        tokens[ragged(ends[mine] - lengths[mine], lengths[mine])] = numbers | (given & ~WORD)
    return tokens, lengths
