"""Word vectors of a network as files: one row a word, of length 1, found by the word's code.

FOLDER/facts.json   where they come from, dimensions, words, sizes of files
FOLDER/codes        (words,) uint64, rising
FOLDER/rows         (words, dimensions) float16
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from retrieval.errors import NetworkBrokenError
from retrieval.network.counts import SHIFT
from retrieval.network.segment import Codes, Segment, write_json

# What a node threshold means in a space of word vectors: how many neighbours a word has above it.
#
# CROWN's 0.75 was chosen for vectors of GoogleNews. In other spaces the same threshold lets a thousand
# neighbours through, or one. The curve is measured when vectors are made, and kept with them.

Rows = NDArray[np.float32]

#: Thresholds at which neighbours are counted.
ALPHAS = tuple(round(0.3 + step / 100, 2) for step in range(70))
#: The words that are looked at: the commonest ones, and every so many of them.
COMMONEST, EVERY = 20_000, 10
_AT_ONCE = 256


def curve(rows: Rows) -> list[float]:
    """Mean number of other words above each of ALPHAS, among the commonest words; rows by falling frequency.

    For more than 2,000 words, every tenth is compared with all.
    """
    common = rows[:COMMONEST]
    lengths = np.linalg.norm(common, axis=1, keepdims=True)
    common = (common / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    asked = np.arange(0, len(common), EVERY if len(common) > COMMONEST // EVERY else 1)
    if len(common) < 2:
        return [0.0] * len(ALPHAS)
    edges = np.array([*ALPHAS, 2.0])
    found = np.zeros(len(ALPHAS))
    for start in range(0, len(asked), _AT_ONCE):
        some = asked[start : start + _AT_ONCE]
        cosines = common[some] @ common.T
        cosines[np.arange(len(some)), some] = -1.0
        near = cosines[cosines > ALPHAS[0]]
        found += np.histogram(near, edges)[0]
    above = np.cumsum(found[::-1])[::-1] / len(asked)
    return [round(float(value), 4) for value in above]


def neighbours_at(alpha: float, found: Sequence[float]) -> float:
    """Mean number of neighbours above a threshold, between the measured ones by a straight line."""
    return float(np.interp(alpha, ALPHAS, found))


def alpha_for(target: float, found: Sequence[float]) -> float:
    """The lowest measured threshold with at most so many neighbours on average."""
    return next((alpha for alpha, mean in zip(ALPHAS, found, strict=True) if mean <= target), ALPHAS[-1])


# Word vectors from the network's own counts: positive PMI and a singular value decomposition.
#
# PPMI with the context distribution smoothed by 0.75 (Levy, Goldberg and Dagan 2015, section 3.1), then the
# first singular vectors by randomised range finding (Halko, Martinsson and Tropp 2011, algorithm 4.4) with a
# fixed seed, each multiplied by the root of its singular value (Levy et al., section 3.3), then centred.

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


_SIGN_EXPONENT_FRACTION = np.int32(-0x70002000)  # 0x8FFFE000
_BIAS = np.float32(2.0 ** (127 - 15))


@dataclass(frozen=True)
class VectorFacts:
    """What the rows are. `source` says how they were made, for people and for the provenance of a search.

    `neighbours`: see `calibration`; `by_stem`: how many words have the vector of their stem.
    """

    source: str
    words: int
    dimensions: int
    neighbours: Sequence[float]
    by_stem: int = 0


@dataclass(frozen=True)
class Vectors:
    """Open word vectors."""

    folder: Path
    facts: VectorFacts

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Look at the facts and sizes. NetworkBrokenError where they do not fit."""
        try:
            facts = VectorFacts(**json.loads((folder / "facts.json").read_bytes()))
            sizes = (folder / "codes").stat().st_size, (folder / "rows").stat().st_size
        except FileNotFoundError as error:
            raise NetworkBrokenError(f"A file of the word vectors is missing: {error.filename}.") from error
        except (OSError, ValueError, TypeError) as error:
            raise NetworkBrokenError(f"The word vectors in {folder} cannot be read: {error}") from error
        if sizes != (8 * facts.words, 2 * facts.words * facts.dimensions):
            raise NetworkBrokenError(
                f"The word vectors in {folder} are damaged: a file is too short or too long."
            )
        return cls(folder, facts)

    @cached_property
    def codes(self) -> Codes:
        """(words,) rising."""
        return self._column("codes", np.uint64)

    @cached_property
    def rows(self) -> NDArray[np.float16]:
        """(words, dimensions)."""
        column: NDArray[np.float16] = self._column("rows", np.float16)
        return column.reshape(self.facts.words, self.facts.dimensions)

    @property
    def curve(self) -> list[float]:
        """Mean number of neighbours at each of `calibration.ALPHAS`."""
        return list(self.facts.neighbours)

    def mapped(self) -> Self:
        """Map all columns now: they can be read then even when the files are removed."""
        for name in ("codes", "rows"):
            getattr(self, name)
        return self

    def of(self, codes: Codes) -> tuple[Rows, NDArray[np.bool_]]:
        """Rows of words, and which of them have one; the others are 0."""
        if not self.facts.words:
            return np.zeros((len(codes), self.facts.dimensions), np.float32), np.zeros(len(codes), np.bool_)
        places = np.searchsorted(self.codes, codes)
        places[places == self.facts.words] = 0
        there = np.asarray(self.codes[places] == codes)
        found = single_precision(self.rows.take(places, axis=0))
        found[~there] = 0
        return found, there

    def cosines(self, codes: Codes, others: Codes) -> NDArray[np.float64]:
        """Cosines, (codes, others); -1 where one of the two has no vector."""
        rows, there = self.of(codes)
        columns, theirs = self.of(others)
        # No matrix multiplication: on a busy machine its threads wait for each other, for longer than this.
        found = np.einsum("ij,kj->ik", rows, columns).astype(np.float64)
        found[~there] = -1.0
        found[:, ~theirs] = -1.0
        clipped: NDArray[np.float64] = np.clip(found, -1.0, 1.0)
        return clipped

    def _column(self, name: str, kind: type[np.generic]) -> NDArray[Any]:  # of that type
        if not self.facts.words * self.facts.dimensions:
            return np.zeros(0, dtype=kind)
        try:
            # As a plain array: looking at parts of a memmap makes objects that cost more than the look.
            return np.asarray(np.memmap(self.folder / name, dtype=kind, mode="r"))
        except (OSError, ValueError) as error:
            raise NetworkBrokenError(f"{self.folder / name} cannot be read: {error}") from error


def single_precision(halves: NDArray[np.float16]) -> Rows:
    """The same finite numbers as `halves.astype(np.float32)`, four times as fast.

    NumPy converts half precision number by number. Here sign, exponent and fraction are moved to their places
    in all of them at once; what is left is the difference of the two exponents' biases, 127 and 15.
    """
    moved = (halves.view(np.int16).astype(np.int32) << 13) & _SIGN_EXPONENT_FRACTION
    return moved.view(np.float32) * _BIAS


def write_vectors(folder: Path, made: "NewVectors") -> Vectors:
    """Store rows for words in any order; each is divided by its length, and one of length 0 left out."""
    lengths = np.linalg.norm(made.rows, axis=1)
    order = np.argsort(made.codes)
    order = order[lengths[order] > 0]
    folder.mkdir(parents=True)
    facts = VectorFacts(
        made.source, len(order), int(made.rows.shape[1]), curve(made.rows[made.commonest]), made.by_stem
    )
    with (folder / "codes").open("wb") as file:
        file.write(made.codes[order].data)
        file.flush()
        os.fsync(file.fileno())
    with (folder / "rows").open("wb") as file:
        for start in range(0, len(order), 1 << 15):
            some = order[start : start + (1 << 15)]
            file.write((made.rows[some] / lengths[some, np.newaxis]).astype(np.float16).data)
        file.flush()
        os.fsync(file.fileno())
    write_json(folder / "facts.json", asdict(facts))
    return Vectors(folder, facts)


@dataclass(frozen=True)
class NewVectors:
    """New vectors: codes (words,), rows (words, dimensions), places of the commonest words by frequency."""

    source: str
    codes: Codes
    rows: Rows
    commonest: NDArray[np.int64]
    by_stem: int = 0
