"""How long answers and their references are, in tokens: measured beside the metrics, on the same tokens."""

from functools import partial

import numpy as np

from metrics.base import ChunkValues, Floats, Metric
from metrics.texts import Chunk
from metrics.tokens.registry import tokeniser

ANSWER, REFERENCE = "tokens of the answer", "tokens of the references"


def lengths(name: str) -> list[Metric]:
    """Two more columns beside metrics: tokens of each answer, and the mean over its references."""
    return [
        Metric(ANSWER, ANSWER, "", partial(_answers, name), high=np.inf),
        Metric(REFERENCE, REFERENCE, "", partial(_references, name), high=np.inf),
    ]


def _tokens(name: str, chunk: Chunk) -> Floats:
    return chunk.tokens(tokeniser(name)).lengths.astype(np.float64)


def _answers(name: str, chunk: Chunk, _found: object) -> ChunkValues:
    return ChunkValues(_tokens(name, chunk)[chunk.candidates])


def _references(name: str, chunk: Chunk, _found: object) -> ChunkValues:
    each = _tokens(name, chunk)[chunk.references]
    counts = np.diff(chunk.starts)
    owners = np.repeat(np.arange(len(chunk)), counts)
    sums = np.bincount(owners, weights=each, minlength=len(chunk))
    return ChunkValues(np.divide(sums, counts, out=np.full(len(chunk), np.nan), where=counts > 0))
