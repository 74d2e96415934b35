"""Sampling queries without replacement, with inclusion probabilities that are known exactly.

Every distinct query has a 128-bit key: a hash of its text, keyed by the seed. In the order of their keys the
queries stand in a random order that depends on the seed and the texts alone, not on the order of the file,
the number of its duplicates or the size of its chunks. All designs walk down that order once:

- `uniform`: the first n. Simple random sampling; every query is in the sample with probability n / N.
- `count`: systematic sampling proportional to size with a random order and a random start (Madow 1949;
  Särndal, Swensson & Wretman 1992, section 3.6.2). The probability is exactly n · count / total. Queries
  whose share is so great that it would be 1 or more are in the sample with certainty, and the rest of the
  sample is drawn from the rest. All of it is integer arithmetic.
- `strata`: the first n_h of each stratum, probability n_h / N_h.

A query's weight is 1 / probability, so that a weighted sum over the sample estimates the sum over all
distinct queries without bias (Horvitz & Thompson 1952).
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappush, heappushpop

import numpy as np
from numpy.typing import NDArray

from annotation.importing.design import MOST, STRATA, Design, SampledQuery, key_of
from core.files.refusals import FileRefusedError

Numbers = NDArray[np.int64]
#: Different counts that are kept apart to find where the head ends.
_MOST_COUNTS = 2_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """Some distinct queries in the order of their keys: the first record of each, its count and its type."""

    ordinals: Numbers
    counts: Numbers
    types: NDArray[np.uint8]  # number of the type in STRATA["type"]


Blocks = Callable[[], Iterator[Block]]


def draw(blocks: Blocks, design: Design) -> list[SampledQuery]:
    """The sample; FileRefusedError where there is too much for one import."""
    design.check()
    if design.by == "count":
        return _by_count(blocks, design)
    if design.by == "strata":
        return _by_strata(blocks, design)
    return _uniform(blocks, design)


def _uniform(blocks: Blocks, design: Design) -> list[SampledQuery]:
    total = sum(len(block.counts) for block in blocks())
    size = total if design.by == "all" else min(design.size, total)
    if size > MOST:
        raise FileRefusedError(
            f"There are {total:,} different queries, and one import takes {MOST:,} at most: draw a sample."
        )
    weight = total / size if size else 1.0
    drawn: list[SampledQuery] = []
    for block in blocks():
        left = size - len(drawn)
        if not left:
            break
        pairs = zip(block.ordinals[:left].tolist(), block.counts[:left].tolist(), strict=True)
        drawn += [SampledQuery(ordinal, count, weight) for ordinal, count in pairs]
    return drawn


def _by_count(blocks: Blocks, design: Design) -> list[SampledQuery]:
    total, distinct, largest = 0, 0, list[int]()
    for block in blocks():
        total += int(block.counts.sum())
        distinct += len(block.counts)
        _keep_largest(largest, block.counts, design.size)
    if distinct <= design.size:
        return _uniform(blocks, Design(by="all"))
    certain_from, left, rest = _certain(sorted(largest, reverse=True), design.size, total)
    start = int.from_bytes(hashlib.blake2b(b"start" + key_of(design.seed)).digest(), "big") % max(rest, 1)
    points = np.array([(k * rest + start) // left for k in range(left)], dtype=np.int64)
    drawn: list[SampledQuery] = []
    passed = 0
    for block in blocks():
        sure = block.counts >= certain_from
        sizes = np.where(sure, 0, block.counts)
        ends = passed + np.cumsum(sizes)
        hit = np.searchsorted(points, ends, side="left") > np.searchsorted(points, ends - sizes, side="left")
        for at in np.flatnonzero(sure | hit).tolist():
            count = int(block.counts[at])
            weight = 1.0 if sure[at] else rest / (left * count)
            drawn.append(SampledQuery(int(block.ordinals[at]), count, weight))
        passed = int(ends[-1]) if len(ends) else passed
    return drawn


def _keep_largest(heap: list[int], counts: Numbers, size: int) -> None:
    """Keep the `size` largest counts in a heap."""
    if len(counts) > size:
        counts = np.partition(counts, len(counts) - size)[len(counts) - size :]
    if len(heap) == size:
        counts = counts[counts > heap[0]]
    for count in counts.tolist():
        if len(heap) < size:
            heappush(heap, count)
        else:
            heappushpop(heap, count)


def _certain(largest: Iterable[int], size: int, total: int) -> tuple[int, int, int]:
    """Least count that is in the sample with certainty, how many are left to draw, and from what total."""
    bound = 2**62
    for count in largest:
        if not size or count * size < total:
            break
        bound, size, total = count, size - 1, total - count
    return bound, size, total


def _by_strata(blocks: Blocks, design: Design) -> list[SampledQuery]:
    names = STRATA[design.strata]
    stratum_of = _types if design.strata == "type" else _by_frequency(blocks, design)
    sizes = np.zeros(len(names), dtype=np.int64)
    for block in blocks():
        sizes += np.bincount(stratum_of(block), minlength=len(names))
    quotas = [min(quota, int(size)) for quota, size in zip(_quotas(design, sizes), sizes, strict=True)]
    if sum(quotas) > MOST:
        raise FileRefusedError(f"One import takes {MOST:,} queries at most.")
    drawn: list[SampledQuery] = []
    left = list(quotas)
    for block in blocks():
        strata = stratum_of(block)
        for number, name in enumerate(names):
            if not left[number]:
                continue
            places = np.flatnonzero(strata == number)[: left[number]]
            left[number] -= len(places)
            weight = float(sizes[number]) / quotas[number]
            drawn += [
                SampledQuery(int(block.ordinals[at]), int(block.counts[at]), weight, name)
                for at in places.tolist()
            ]
        if not any(left):
            break
    return drawn


def _types(block: Block) -> NDArray[np.uint8]:
    return block.types


def _quotas(design: Design, sizes: Numbers) -> list[int]:
    """What each stratum gives: its quota, or an equal part of the size where there are none."""
    names = STRATA[design.strata]
    if design.quotas:
        return [design.quotas.get(name, 0) for name in names]
    there = [number for number in range(len(names)) if sizes[number]]
    quotas = [0] * len(names)
    # Small strata are taken whole; what they leave over goes to the others.
    left = design.size
    for place, number in enumerate(sorted(there, key=lambda each: (int(sizes[each]), each))):
        part = -(-left // (len(there) - place)) if left else 0
        quotas[number] = min(part, int(sizes[number]))
        left -= quotas[number]
    return quotas


def _by_frequency(blocks: Blocks, design: Design) -> Callable[[Block], NDArray[np.uint8]]:
    head, torso = design.head_from, design.torso_from
    if head is None or torso is None:
        head, torso = _thirds(blocks)

    def stratum(block: Block) -> NDArray[np.uint8]:
        return np.where(block.counts >= head, 0, np.where(block.counts >= torso, 1, 2)).astype(np.uint8)

    return stratum


def _thirds(blocks: Blocks) -> tuple[int, int]:
    """Least counts of the head and of the torso."""
    seen: dict[int, int] = {}
    for block in blocks():
        values, numbers = np.unique(block.counts, return_counts=True)
        for value, number in zip(values.tolist(), numbers.tolist(), strict=True):
            seen[value] = seen.get(value, 0) + number
        if len(seen) > _MOST_COUNTS:
            raise FileRefusedError(
                "The counts are too different for thirds: give --head-from and --torso-from."
            )
    total = sum(value * number for value, number in seen.items())
    bounds: list[int] = []
    passed = 0
    for value in sorted(seen, reverse=True):
        # A query belongs to the part in which the first line of its count lies.
        while len(bounds) < 2 and passed * 3 >= total * (len(bounds) + 1):
            bounds.append(value + 1)
        passed += value * seen[value]
    bounds += [1] * (2 - len(bounds))
    return bounds[0], bounds[1]
