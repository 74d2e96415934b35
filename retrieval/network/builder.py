"""Building a network from passages: shards counted by several processes, merged; segments added later."""

import multiprocessing
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import NetworkBrokenError
from retrieval.network.counts import SHIFT, count_shard, pair_counts, word_counts
from retrieval.network.network import Network
from retrieval.network.segment import (
    WORD,
    Codes,
    NetworkFolder,
    Pointer,
    Segment,
    SegmentWriter,
    ragged,
    rules_of,
)
from retrieval.network.vectors import (
    COMMONEST,
    LoadedVectors,
    NewVectors,
    Vectors,
    check,
    embedded,
    load,
    write_vectors,
)

#: From so many pairs on, word vectors are made in a process of its own.
_MANY_PAIRS = 1 << 19
#: Source of word vectors that are made of the counts.
OWN = "ppmi-svd"
Texts = Iterable[tuple[int, str]]
_Piece = list[tuple[int, str]]
#: A shard ends with so many passages, or so many characters: 300 MB for the process that counts it.
SHARD_PASSAGES, SHARD_CHARACTERS = 65_536, 48_000_000


@dataclass(frozen=True)
class Progress:
    """How far a build is: in words, and passages counted."""

    step: str
    passages: int


Listener = Callable[[Progress], None]


def build(
    texts: Texts,
    folder: Path,
    language: str,
    *,
    min_count: int = 1,
    vectors: Path | None = None,
    processes: int = 1,
    progress: Listener = lambda now: None,
) -> Network:
    """A network of these passages alone, given as (number, text); swapped in when it is complete.

    Pairs in fewer than `min_count` passages are left out. `vectors` is a file of word vectors to take in
    place of the network's own. BusyError where somebody else writes there.
    """

    def count(scratch: Path) -> list[Segment]:
        return count_here(texts, scratch, language, processes=processes, progress=progress)

    return assemble(count, folder, language, min_count=min_count, vectors=vectors, progress=progress)


def assemble(
    count: Callable[[Path], Sequence[Segment]],
    folder: Path,
    language: str,
    *,
    min_count: int = 1,
    vectors: Path | None = None,
    after: int = 0,
    progress: Listener = lambda now: None,
) -> Network:
    """A network of the shards that `count` makes below a folder that it is given; see `build`.

    Its generation is higher than that of the state that answered, and than `after`.
    """
    if vectors is not None:
        check(vectors)
    files = NetworkFolder(folder)
    with files.writing():
        scratch = files.fresh("s")
        scratch.mkdir()
        try:
            shards = count(scratch)
            passages = sum(shard.facts.passages for shard in shards)
            progress(Progress("merging", passages))
            merged = merge(shards, files.fresh("s"), complete=True, least_count=min_count)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        progress(Progress("word vectors", passages))
        vectors_made = _vectors(merged, files.fresh("v"), vectors)
        files.point(
            Pointer(
                generation=max(files.generation(), after) + 1,
                language=language,
                rules=rules_of(language),
                segments=(merged.folder.name,),
                vectors=vectors_made.folder.name,
                least_count=min_count,
            )
        )
        progress(Progress("done", passages))
        return Network.open(folder)


def _vectors(segment: Segment, folder: Path, file: Path | None) -> Vectors:
    """Word vectors of a file, or of the network's own counts.

    Many counts are worked on by a process of its own in which linear algebra has one thread: the bytes do not
    depend on the number of processors then, and threads that wait for each other do not take a busy machine.
    """
    if file is not None:
        loaded = load(file, segment.spelled(np.arange(segment.facts.words)))
        return _write(segment, folder, file.name, loaded)
    if segment.facts.pairs < _MANY_PAIRS or multiprocessing.current_process().daemon:
        return _own_vectors(segment, folder)
    alone = ProcessPoolExecutor(
        1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=os.putenv,
        initargs=("OPENBLAS_NUM_THREADS", "1"),
    )
    with alone, _ended_process_told():
        return alone.submit(_own_vectors, segment, folder).result()


def _own_vectors(segment: Segment, folder: Path) -> Vectors:
    return _write(segment, folder, OWN, LoadedVectors(*embedded(segment), by_stem=0))


def _write(segment: Segment, folder: Path, source: str, loaded: LoadedVectors) -> Vectors:
    commonest = np.argsort(-segment.df[loaded.places], kind="stable")[:COMMONEST]
    codes = segment.codes[loaded.places]
    return write_vectors(folder, NewVectors(source, codes, loaded.rows, commonest, loaded.by_stem))


def count_here(
    texts: Texts,
    scratch: Path,
    language: str,
    *,
    processes: int = 1,
    progress: Listener = lambda now: None,
) -> list[Segment]:
    """Shards of the passages in their order, counted below `scratch` by this process or several.

    A single shard is counted by this process.
    """
    pieces_of_texts = _pieces(texts)
    begun = list(islice(pieces_of_texts, 2))
    pieces = (
        (piece, scratch / f"{number}") for number, piece in enumerate(_release_pieces(begun, pieces_of_texts))
    )
    counted_shards: Iterator[Segment]
    if processes <= 1 or len(begun) < 2:
        counted_shards = (count_shard(piece, path, language) for piece, path in pieces)
    else:
        counted_shards = _in_processes(pieces, language, processes)
    shards, passages = [], 0
    for shard in counted_shards:
        shards.append(shard)
        passages += shard.facts.passages
        progress(Progress("counting", passages))
    return shards or [count_shard((), scratch / "0", language)]


def _pieces(texts: Texts) -> Iterator[_Piece]:
    piece: _Piece = []
    characters = 0
    for pk, text in texts:
        piece.append((pk, text))
        characters += len(text)
        if len(piece) >= SHARD_PASSAGES or characters >= SHARD_CHARACTERS:
            yield piece
            piece, characters = [], 0
    if piece:
        yield piece


def _release_pieces(begun: list[_Piece], others: Iterator[_Piece]) -> Iterator[_Piece]:
    """Those first, then the others; each is let go of when it is given."""
    while begun:
        yield begun.pop(0)
    yield from others


def _in_processes(pieces: Iterator[tuple[_Piece, Path]], language: str, processes: int) -> Iterator[Segment]:
    """Shards in order, with a bounded number of them under way."""
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    under_way: deque[Future[Segment]] = deque()
    try:
        with _ended_process_told():
            for piece, path in pieces:
                under_way.append(pool.submit(count_shard, piece, path, language))
                if len(under_way) > processes:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _ended_process_told() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise NetworkBrokenError(
            "A process that built the network was ended from outside, most likely because memory ran out. "
            "Build with fewer processes. The network that was there still answers."
        ) from error


# A network that follows its corpus: new passages as a small segment, those that went as one that takes off.
#
# Segments are merged when one is smaller than half of the one after it, so that there are few of them and
# every passage is rewritten a few times only. Word vectors stay those of the last build.


def add(texts: Texts, folder: Path) -> Network:
    """Count passages that came after the network was built. ValueError where it has one of them already.

    They must fit into memory as tokens; for very many, build the network again.
    """
    files = NetworkFolder(folder)
    with files.writing():
        network = Network.open(folder)
        new = count_shard(texts, files.fresh("s"), network.language)
        if (is_stored := network.holds(new.pks)).any():
            raise ValueError(f"The network has the passage {new.pks[is_stored][0]} already.")
        return _appended(network, new, files)


def remove(pks: Sequence[int], folder: Path) -> Network:
    """Take passages off; those that it does not have are no error."""
    files = NetworkFolder(folder)
    with files.writing():
        network = Network.open(folder)
        distinct = np.unique(np.asarray(pks, dtype=np.int64))
        gone = distinct[network.holds(distinct)]
        if not len(gone):
            return network
        return _appended(network, _negative(network, gone, files.fresh("s")), files)


def _appended(network: Network, new: Segment, files: NetworkFolder) -> Network:
    """Let the segments of a network and one more answer."""
    if not len(new.pks) and not len(new.gone):
        files.tidy()
        return network
    segments = [*network.segments, new]
    while len(segments) > 1 and _size(segments[-2]) < 2 * _size(segments[-1]):
        newest = segments.pop()
        segments[-1] = merge(
            [segments[-1], newest],
            files.fresh("s"),
            complete=len(segments) == 1,
            least_count=network.pointer.least_count,
        )
    names = tuple(segment.folder.name for segment in segments)
    files.point(replace(network.pointer, generation=network.generation + 1, segments=names))
    return Network.open(files.path)


def _size(segment: Segment) -> int:
    """What merging it costs, about."""
    return max(segment.facts.pairs, segment.facts.tokens)


def _negative(network: Network, gone: NDArray[np.int64], folder: Path) -> Segment:
    """A segment that takes passages off the counts."""
    stored = network.stored(gone)
    distinct_codes, places = np.unique(stored.codes, return_inverse=True)
    ids = places.astype(np.uint32)
    offsets = np.concatenate([[0], np.cumsum(stored.lengths)])
    before = np.concatenate([[0], np.cumsum(~stored.numbers)])
    keys, counts = pair_counts(ids[~stored.numbers], before[offsets], len(distinct_codes))
    spelling = [word.encode() + b"\n" for word in network.spelled(distinct_codes)]
    written = SegmentWriter(folder)
    try:
        written.add("codes", distinct_codes)
        written.add("spelling", np.frombuffer(b"".join(spelling), dtype=np.uint8))
        written.add("ends", np.cumsum([len(each) for each in spelling], dtype=np.int64))
        written.add("df", -word_counts(ids, offsets, len(distinct_codes)))
        written.add("keys", keys)
        written.add("counts", -counts)
        written.add("offsets", np.zeros(1, dtype=np.int64))
        written.add("gone", gone)
        return written.finish(
            language=network.language, rules=network.pointer.rules, passages=-len(gone), least_count=1
        )
    finally:
        written.abandon()


# Several segments as one: the same bytes however the passages were divided among them.
#
# Words are numbered by the rank of their codes, so numbers of a segment become those of the whole without
# changing their order, and rising keys stay rising. Pairs are added range by range: memory does not grow with
# the network.

Renumbering = NDArray[np.uint64]
#: Pairs and tokens in memory at the same time, about.
_AT_ONCE = 1 << 22
_LOW = np.uint64((1 << 32) - 1)


def merge(segments: Sequence[Segment], folder: Path, *, complete: bool, least_count: int = 1) -> Segment:
    """Add the counts of segments, oldest first, into a new folder.

    `complete`: these are all segments of the network. Then what went is forgotten: words and pairs that no
    passage holds any more, and pairs in fewer than `least_count` passages. ValueError where two segments hold
    the same passage.
    """
    codes = _all_codes(segments)
    df = np.zeros(len(codes), dtype=np.int32)
    for segment in segments:
        df[np.searchsorted(codes, segment.codes)] += segment.df
    if complete:
        codes, df = codes[df > 0], df[df > 0]
    to_whole = [np.searchsorted(codes, segment.codes).astype(np.uint64) for segment in segments]
    written = SegmentWriter(folder)
    try:
        written.add("codes", codes)
        written.add("df", df)
        _write_spelling(written, segments, codes)
        for keys, counts in _pairs(segments, to_whole):
            keep = counts >= max(1, least_count) if complete else counts != 0
            written.add("keys", keys[keep])
            written.add("counts", counts[keep])
        _write_passages(written, segments, to_whole, complete=complete)
        first = segments[0].facts
        return written.finish(
            language=first.language,
            rules=first.rules,
            passages=sum(segment.facts.passages for segment in segments),
            least_count=least_count if complete else 1,
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
        own_numbers = numbers[new]
        starts = (
            np.where(own_numbers > 0, segment.ends[np.maximum(own_numbers, 1) - 1], 0)
            if len(own_numbers)
            else own_numbers
        )
        lengths[new] = segment.ends[own_numbers] - starts
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
    sources = [(segment, numbers) for segment, numbers in zip(segments, to_whole, strict=True)]
    sources = [(segment, numbers) for segment, numbers in sources if segment.facts.pairs]
    if not sources:
        return
    starts = [0] * len(sources)
    for border in _borders(sources):
        pieces = []
        for place, (segment, numbers) in enumerate(sources):
            end = _end_below(segment, numbers, border)
            part = slice(starts[place], end)
            pieces.append((_renumbered(segment.keys[part], numbers), segment.counts[part]))
            starts[place] = end
        yield _added(pieces)


def _borders(sources: Sequence[tuple[Segment, Renumbering]]) -> Iterator[int | None]:
    """Words of the whole where one range of keys ends and the next begins; None after all.

    A range has at most twice _AT_ONCE keys, but that all keys with the same first word are in one.
    """
    share = max(1, _AT_ONCE // len(sources))
    samples = [numbers[segment.keys[share::share] >> SHIFT] for segment, numbers in sources]
    borders = np.sort(np.concatenate(samples))[len(sources) - 1 :: len(sources)]
    yield from sorted(set(borders.tolist()))
    yield None


def _end_below(segment: Segment, numbers: Renumbering, border: int | None) -> int:
    """Number of keys of a segment whose first word comes before a word of the whole."""
    if border is None:
        return segment.facts.pairs
    own_border = int(np.searchsorted(numbers, np.uint64(border)))
    return int(np.searchsorted(segment.keys, np.uint64(own_border) << SHIFT))


def _renumbered(keys: NDArray[np.uint64], numbers: Renumbering) -> NDArray[np.uint64]:
    """Keys in numbers of the whole."""
    new_keys: NDArray[np.uint64] = (numbers[keys >> SHIFT] << SHIFT) | numbers[keys & _LOW]
    return new_keys


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
    written: SegmentWriter, segments: Sequence[Segment], to_whole: Sequence[Renumbering], *, complete: bool
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
    if not complete:
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
        own_tokens = segment.tokens[ragged(segment.offsets[row[mine]], lengths[mine])]
        numbers = to_whole[place][own_tokens & WORD].astype(np.uint32)
        tokens[ragged(ends[mine] - lengths[mine], lengths[mine])] = numbers | (own_tokens & ~WORD)
    return tokens, lengths
