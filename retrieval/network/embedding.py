"""Word vectors from the network's own counts: positive PMI and a singular value decomposition.

PPMI with the context distribution smoothed by 0.75 (Levy, Goldberg and Dagan 2015, section 3.1), then the
first singular vectors by randomised range finding (Halko, Martinsson and Tropp 2011, algorithm 4.4) with a
fixed seed, each multiplied by the root of its singular value (Levy et al., section 3.3), then centred.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.network.counts import SHIFT
from retrieval.network.segment import Segment
from retrieval.network.vectors import Rows

DIMENSIONS = 100
#: Words in fewer passages than this have too few neighbours for a vector.
LEAST_PASSAGES = 5
_SMOOTHING = 0.75
_OVERSAMPLING, _ITERATIONS, _SEED = 20, 2, 20200726
_LOW = np.uint64((1 << 32) - 1)
_ROWS_AT_ONCE = 1 << 14
#: Above so many pairs, those of a single passage are left out: most are chance, and they are two thirds.
_MANY_PAIRS = 10_000_000


def embedded(segment: Segment, *, dimensions: int = DIMENSIONS) -> tuple[NDArray[np.int64], Rows]:
    """Numbers and rows of the words of a segment that holds the whole network."""
    words = np.flatnonzero(segment.df >= LEAST_PASSAGES)
    matrix = _ppmi(segment, words)
    present = np.flatnonzero(np.diff(matrix.indptr))
    if len(present) < 2:
        return words[:0], np.zeros((0, dimensions), dtype=np.float32)
    left, values = _decomposed(matrix, min(dimensions, len(present) - 1))
    rows = (left * np.sqrt(values)).astype(np.float32)[present]
    rows -= rows.mean(axis=0)
    return words[present], rows


def _ppmi(segment: Segment, words: NDArray[np.int64]) -> Any:  # a sparse matrix; scipy has no types
    """Positive PMI of words (rows) with words near them (columns)."""
    from scipy.sparse import csr_matrix  # heavy

    number = np.full(segment.facts.words, -1, dtype=np.int32)
    number[words] = np.arange(len(words), dtype=np.int32)
    first = number[(segment.keys >> SHIFT).astype(np.int64)]
    second = number[(segment.keys & _LOW).astype(np.int64)]
    least = 2 if segment.facts.pairs > _MANY_PAIRS else 1
    keep = (first >= 0) & (second >= 0) & (segment.counts >= least)
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


def _decomposed(matrix: Any, size: int) -> tuple[Rows, Rows]:
    """Left singular vectors and singular values, the largest ones."""
    width = min(size + _OVERSAMPLING, matrix.shape[0])
    start = np.random.default_rng(_SEED).standard_normal((matrix.shape[1], width)).astype(np.float32)
    transposed = matrix.T.tocsr()
    basis = _orthonormal(matrix @ start)
    for _ in range(_ITERATIONS):
        basis = _orthonormal(matrix @ _orthonormal(transposed @ basis))
    basis = _orthonormal(basis)
    small = transposed @ basis
    squares, inner = np.linalg.eigh(_gram(small))
    largest = np.argsort(-squares, kind="stable")[:size]
    values = np.sqrt(np.maximum(squares[largest], 0.0)).astype(np.float32)
    return basis @ inner[:, largest].astype(np.float32), values


def _orthonormal(columns: Rows) -> Rows:
    """A basis of the columns, orthonormal but for rounding, by the eigenvectors of their products.

    (A QR decomposition of such a tall matrix takes as long as all the rest.)
    """
    values, vectors = np.linalg.eigh(_gram(columns))
    keep = values > values[-1] * 1e-9
    basis: Rows = columns @ (vectors[:, keep] / np.sqrt(values[keep])).astype(np.float32)
    return basis


def _gram(columns: Rows) -> NDArray[np.float64]:
    """Products of all columns, summed in double precision."""
    total = np.zeros((columns.shape[1], columns.shape[1]))
    for start in range(0, len(columns), _ROWS_AT_ONCE):
        some = columns[start : start + _ROWS_AT_ONCE].astype(np.float64)
        total += some.T @ some
    return total
