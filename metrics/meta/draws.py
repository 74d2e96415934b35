"""Draws of chance in blocks of one size, so that any partition of the blocks gives the same numbers.

A block's draws come from (seed, purpose, number of the block) alone. Matrices have the same shape in every
block, as the last bit of a product may depend on the shape.
"""

from collections.abc import Iterator

import numpy as np

from metrics.meta.chance import generator
from metrics.meta.rows import Indices
from metrics.meta.scored_answers import Floats

#: Draws in a block, and units (questions, answers) whose swaps are at hand at once.
BLOCK = 500
UNITS = 4096
#: Samples in a block of the bootstrap.
SAMPLES = 100


def blocks(draws: int, size: int = BLOCK) -> range:
    """The numbers of the blocks that hold so many draws; of the last one some may be too many."""
    return range(-(-draws // size))


def kept(draws: int, block: int, size: int = BLOCK) -> int:
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
    found = np.empty((SAMPLES, units))
    for row in found:
        drawn: Indices = rng.integers(units, size=units)
        row[:] = np.bincount(drawn, minlength=units)
    return np.ascontiguousarray(found.T)
