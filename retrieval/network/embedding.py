"""Word vectors from the network's own counts: positive PMI and a singular value decomposition.

PPMI with the context distribution smoothed by 0.75 (Levy, Goldberg and Dagan 2015, section 3.1), then the
first singular vectors by randomised range finding (Halko, Martinsson and Tropp 2011, algorithm 4.4) with a
fixed seed, each multiplied by the root of its singular value (Levy et al., section 3.3), then centred.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.network.codes import Codes
from retrieval.network.counting import SHIFT
from retrieval.network.segment import Segment
from retrieval.network.vectors import Rows

DIMENSIONS = 100
#: Words in fewer passages than this have too few neighbours for a vector.
LEAST_PASSAGES = 5
_SMOOTHING = 0.75
_OVERSAMPLING, _ITERATIONS, _SEED = 20, 2, 20200726
_LOW = np.uint64((1 << 32) - 1)


def embedded(
    segment: Segment, *, dimensions: int = DIMENSIONS, progress: Callable[[str], None] = lambda words: None
) -> tuple[Codes, Rows]:
    """Codes and rows of the words of a segment that holds the whole network."""
    words = np.flatnonzero(segment.df >= LEAST_PASSAGES)
    matrix = _ppmi(segment, words)
    present = np.flatnonzero(np.diff(matrix.indptr))
    size = min(dimensions, max(1, len(present) - 1))
    if len(present) < 2:
        return segment.codes[words[:0]], np.zeros((0, dimensions), dtype=np.float32)
    left, values = _decomposed(matrix, size)
    rows = (left * np.sqrt(values)).astype(np.float32)[present]
    rows -= rows.mean(axis=0)
    return segment.codes[words[present]], rows


def _ppmi(segment: Segment, words: NDArray[np.int64]) -> Any:  # a sparse matrix; scipy has no types
    """Positive PMI of words (rows) with words near them (columns)."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415  # heavy

    number = np.full(segment.facts.words, -1, dtype=np.int32)
    number[words] = np.arange(len(words), dtype=np.int32)
    first = number[(segment.keys >> SHIFT).astype(np.int64)]
    second = number[(segment.keys & _LOW).astype(np.int64)]
    keep = (first >= 0) & (second >= 0)
    first, second, counts = first[keep], second[keep], segment.counts[keep].astype(np.float64)
    size = len(words)
    together = np.bincount(first, counts, size) + np.bincount(second, counts, size)
    smoothed = together**_SMOOTHING
    total = smoothed.sum() or 1.0
    with np.errstate(divide="ignore"):
        row, column = np.log(together), np.log(smoothed / total)
    joint = np.log(counts)
    forth = (joint - row[first] - column[second]).astype(np.float32)
    back = (joint - row[second] - column[first]).astype(np.float32)
    up, down = forth > 0, back > 0
    values = np.concatenate([forth[up], back[down]])
    places = np.concatenate([first[up], second[down]]), np.concatenate([second[up], first[down]])
    return csr_matrix((values, places), shape=(size, size))


def _decomposed(matrix: Any, size: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Left singular vectors and singular values, the largest ones."""
    width = min(size + _OVERSAMPLING, matrix.shape[0])
    start = np.random.default_rng(_SEED).standard_normal((matrix.shape[1], width)).astype(np.float32)
    transposed = matrix.T.tocsr()
    basis, _ = np.linalg.qr(matrix @ start)
    for _ in range(_ITERATIONS):
        basis, _ = np.linalg.qr(transposed @ basis)
        basis, _ = np.linalg.qr(matrix @ basis)
    small = (transposed @ basis).T
    inner, values, _ = np.linalg.svd(small @ small.T, hermitian=True)
    return basis @ inner[:, :size], np.sqrt(np.maximum(values[:size], 0.0))
