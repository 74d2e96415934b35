"""Length as a metric: what a metric that only looked at length would say. A floor for all others.

length            = tokens of the candidate
length-difference = -|tokens of the candidate - tokens of a reference|, the reference closest in length
"""

from functools import partial
from typing import Any

import numpy as np

from metrics.answers.references import best, measured, owners
from metrics.base import ChunkValues, Metric, signature
from metrics.profiles import Profile
from metrics.texts import Chunk
from metrics.tokens.registry import tokeniser as tokeniser_named
from metrics.tokens.tokeniser import Tokeniser


def _length(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> ChunkValues:
    return ChunkValues(chunk.tokens(tokeniser).lengths[chunk.candidates].astype(np.float64))


def _difference(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> ChunkValues:
    lengths = chunk.tokens(tokeniser).lengths
    apart = np.abs(lengths[chunk.candidates][owners(chunk.starts)] - lengths[chunk.references])
    return measured(best(-apart.astype(np.float64), chunk.starts)[0], chunk.starts)


def make_length(name: str, profile: Profile) -> Metric:
    """`length`, which needs no reference."""
    tokeniser = tokeniser_named(profile.tokeniser_for("length"))
    said = signature(name, 1, tok=tokeniser.label)
    return Metric(name, "Length", said, partial(_length, tokeniser=tokeniser), high=float("inf"))


def make_difference(name: str, profile: Profile) -> Metric:
    """`length-difference`, at most 0."""
    tokeniser = tokeniser_named(profile.tokeniser_for("length"))
    said = signature(name, 1, tok=tokeniser.label, refs="closest")
    measure = partial(_difference, tokeniser=tokeniser)
    return Metric(name, "Length difference", said, measure, low=float("-inf"), high=0.0)
