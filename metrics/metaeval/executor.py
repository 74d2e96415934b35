"""Where the parts of an evaluation are worked on: here, in a pool of processes, or on other machines.

A part's result depends on the part alone, so that any spread gives the same bits.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Protocol, TypeVar
from zlib import crc32

import numpy as np

from metrics.metaeval.data import Floats, Indices

P = TypeVar("P")
R = TypeVar("R")


class PartRunner(Protocol):
    """Does the same work on each part; the results come in the order of the parts.

    `done`, where it is given, hears after each finished part how many are done.
    """

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        """The results of `work` for all parts."""
        ...


def in_process(
    work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
) -> list[R]:
    """One part after the other, here."""
    return _collected(map(work, parts), done)


class Processes:
    """A pool of n processes, started when it is first needed and kept; `work` and parts must be picklable.

    A context manager: `with processes(2) as spread: evaluate(..., spread=spread)`.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool: ProcessPoolExecutor | None = None

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        """The results of `work` for all parts, in their order."""
        if self.n <= 1 or len(parts) <= 1:
            return in_process(work, parts, done)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.n, mp_context=get_context("forkserver"))
        return _collected(self._pool.map(work, parts), done)

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def processes(n: int) -> Processes:
    """A spread over n processes of this machine."""
    return Processes(n)


def _collected(results: Iterable[R], done: Callable[[int], None] | None) -> list[R]:
    collected = []
    for result in results:
        collected.append(result)
        if done is not None:
            done(len(collected))
    return collected


# Streams of chance: one per seed, purpose and number of a block, so that any partition draws the same.


def generator(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """The random generator of a block of draws for a purpose; the same for the same three."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(purpose.encode()), block]))


# Draws of chance in blocks of one size, so that any partition of the blocks gives the same numbers.
#
# A block's draws come from (seed, purpose, number of the block) alone. Matrices have the same shape in
# every block, as the last bit of a product may depend on the shape.

#: Draws in a block, and units (questions, answers) whose swaps are at hand at once.
BLOCK = 500
UNITS = 4096
#: Samples in a block of the bootstrap.
SAMPLES = 100


def blocks(draws: int, size: int = BLOCK) -> range:
    """The numbers of the blocks that hold so many draws; of the last one some may be too many."""
    return range(-(-draws // size))


def count_draws(draws: int, block: int, size: int = BLOCK) -> int:
    """How many draws of a block count."""
    return min(size, draws - block * size)


def swaps(seed: int, purpose: str, block: int, units: int) -> Iterator[tuple[slice, Floats]]:
    """Some units at a time: which they are, and (BLOCK, units) 1 where a draw swaps a unit, else 0."""
    rng = generator(seed, purpose, block)
    for first in range(0, units, UNITS):
        width = min(UNITS, units - first)
        bits = rng.integers(0, 256, size=(BLOCK, UNITS // 8), dtype=np.uint8)
        yield slice(first, first + width), np.unpackbits(bits, axis=1)[:, :width].astype(np.float64)


def samples(seed: int, purpose: str, block: int, units: int) -> Floats:
    """(units, SAMPLES) how often each unit is drawn in as many draws with replacement as there are units."""
    rng = generator(seed, purpose, block)
    counts = np.empty((SAMPLES, units), np.int32)  # half of what is given back, so that both are not too much
    for row in counts:
        draws: Indices = rng.integers(units, size=units)
        row[:] = np.bincount(draws, minlength=units)
    return counts.T.astype(np.float64, order="C")
