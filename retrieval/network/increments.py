"""A network that follows its corpus: new passages as a small segment, those that went as one that takes off.

Segments are merged when one is smaller than half of the one after it, so that there are few of them and every
passage is rewritten a few times only. Word vectors stay those of the last build.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval.network.builder import Texts
from retrieval.network.counts import pair_counts, word_counts
from retrieval.network.files import NetworkFolder
from retrieval.network.merge import merge
from retrieval.network.network import Network
from retrieval.network.segment import Segment, SegmentWriter
from retrieval.network.shards import count_shard


def add(texts: Texts, folder: Path) -> Network:
    """Count passages that came after the network was built. ValueError where it has one of them already.

    They must fit into memory as tokens; for very many, build the network again.
    """
    files = NetworkFolder(folder)
    with files.writing():
        network = Network.open(folder)
        new = count_shard(texts, files.fresh("s"), network.language)
        if (there := network.holds(new.pks)).any():
            raise ValueError(f"The network has the passage {new.pks[there][0]} already.")
        return _appended(network, new, files)


def remove(pks: Sequence[int], folder: Path) -> Network:
    """Take passages off; those that it does not have are no error."""
    files = NetworkFolder(folder)
    with files.writing():
        network = Network.open(folder)
        asked = np.unique(np.asarray(pks, dtype=np.int64))
        gone = asked[network.holds(asked)]
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
            whole=len(segments) == 1,
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
    words, places = np.unique(stored.codes, return_inverse=True)
    ids = places.astype(np.uint32)
    offsets = np.concatenate([[0], np.cumsum(stored.lengths)])
    before = np.concatenate([[0], np.cumsum(~stored.numbers)])
    keys, counts = pair_counts(ids[~stored.numbers], before[offsets], len(words))
    spelling = [word.encode() + b"\n" for word in network.spelled(words)]
    written = SegmentWriter(folder)
    try:
        written.add("codes", words)
        written.add("spelling", np.frombuffer(b"".join(spelling), dtype=np.uint8))
        written.add("ends", np.cumsum([len(each) for each in spelling], dtype=np.int64))
        written.add("df", -word_counts(ids, offsets, len(words)))
        written.add("keys", keys)
        written.add("counts", -counts)
        written.add("offsets", np.zeros(1, dtype=np.int64))
        written.add("gone", gone)
        return written.finish(
            language=network.language, rules=network.pointer.rules, passages=-len(gone), least_count=1
        )
    finally:
        written.abandon()
