"""Streams of chance: one per seed, purpose and number of a block, so that any partition draws the same."""

from zlib import crc32

import numpy as np


def generator(seed: int, purpose: str, block: int = 0) -> np.random.Generator:
    """The random generator of a block of draws for a purpose; the same for the same three."""
    return np.random.default_rng(np.random.SeedSequence([seed, crc32(purpose.encode()), block]))
