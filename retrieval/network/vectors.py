"""Word vectors of a network, from its own counts or other people's files: one row a word, of length 1.

FOLDER/facts.json   where they come from, dimensions, words, sizes of files
FOLDER/codes        (words,) uint64, rising
FOLDER/rows         (words, dimensions) float16
"""

import gzip
import io
import json
import os
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from core.files.refusals import Fault
from retrieval.errors import FileRefusedError, NetworkBrokenError
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
    sample = np.arange(0, len(common), EVERY if len(common) > COMMONEST // EVERY else 1)
    if len(common) < 2:
        return [0.0] * len(ALPHAS)
    edges = np.array([*ALPHAS, 2.0])
    histogram = np.zeros(len(ALPHAS))
    for start in range(0, len(sample), _AT_ONCE):
        batch = sample[start : start + _AT_ONCE]
        cosines = common[batch] @ common.T
        cosines[np.arange(len(batch)), batch] = -1.0
        near = cosines[cosines > ALPHAS[0]]
        histogram += np.histogram(near, edges)[0]
    above = np.cumsum(histogram[::-1])[::-1] / len(sample)
    return [round(float(value), 4) for value in above]


def neighbours_at(alpha: float, means: Sequence[float]) -> float:
    """Mean number of neighbours above a threshold, between the measured ones by a straight line."""
    return float(np.interp(alpha, ALPHAS, means))


def alpha_for(target: float, means: Sequence[float]) -> float:
    """The lowest measured threshold with at most so many neighbours on average."""
    return next((alpha for alpha, mean in zip(ALPHAS, means, strict=True) if mean <= target), ALPHAS[-1])


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
    word_numbers = np.flatnonzero(segment.df >= LEAST_PASSAGES)
    matrix = _ppmi(segment, word_numbers)
    present = np.flatnonzero(np.diff(matrix.indptr))
    if len(present) < 2:
        return word_numbers[:0], np.zeros((0, dimensions), dtype=np.float32)
    left, values = _decomposed(matrix, min(dimensions, len(present) - 1))
    rows = (left * np.sqrt(values)).astype(np.float32)[present]
    rows -= rows.mean(axis=0)
    return word_numbers[present], rows


def _ppmi(segment: Segment, word_numbers: NDArray[np.int64]) -> Any:  # a sparse matrix; scipy has no types
    """Positive PMI of words (rows) with words near them (columns)."""
    from scipy.sparse import csr_matrix  # heavy

    number = np.full(segment.facts.words, -1, dtype=np.int32)
    number[word_numbers] = np.arange(len(word_numbers), dtype=np.int32)
    first = number[(segment.keys >> SHIFT).astype(np.int64)]
    second = number[(segment.keys & _LOW).astype(np.int64)]
    least = 2 if segment.facts.pairs > _MANY_PAIRS else 1
    keep = (first >= 0) & (second >= 0) & (segment.counts >= least)
    first, second, counts = first[keep], second[keep], segment.counts[keep].astype(np.float64)
    size = len(word_numbers)
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
        block = columns[start : start + _ROWS_AT_ONCE].astype(np.float64)
        total += block.T @ block
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

    def places_of(self, codes: Codes) -> NDArray[np.int64]:
        """Numbers of the rows of words; -1 where a word has none."""
        if not self.facts.words:
            return np.full(len(codes), -1, np.int64)
        places = np.searchsorted(self.codes, codes)
        places[places == self.facts.words] = 0
        places_found: NDArray[np.int64] = np.where(self.codes[places] == codes, places, -1)
        return places_found

    def of(self, codes: Codes) -> tuple[Rows, NDArray[np.bool_]]:
        """Rows of words, and which of them have one; the others are 0."""
        return self.at(self.places_of(codes))

    def at(self, places: NDArray[np.int64]) -> tuple[Rows, NDArray[np.bool_]]:
        """Rows by their numbers, and which there are; those of -1 are 0."""
        has_row = places >= 0
        if not self.facts.words:
            return np.zeros((len(places), self.facts.dimensions), np.float32), has_row
        rows = single_precision(self.rows.take(np.maximum(places, 0), axis=0))
        rows[~has_row] = 0
        return rows, has_row

    def cosines(self, places: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cosines of words by the numbers of their rows, (places, others); -1 where one has no vector."""
        rows, has_row = self.at(places)
        columns, theirs = self.at(others)
        # No matrix multiplication: on a busy machine its threads wait for each other, for longer than this.
        cosines = np.einsum("ij,kj->ik", rows, columns).astype(np.float64)
        cosines[~has_row] = -1.0
        cosines[:, ~theirs] = -1.0
        clipped: NDArray[np.float64] = np.clip(cosines, -1.0, 1.0)
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


def write_vectors(folder: Path, new_vectors: "NewVectors") -> Vectors:
    """Store rows for words in any order; each is divided by its length, and one of length 0 left out."""
    lengths = np.linalg.norm(new_vectors.rows, axis=1)
    order = np.argsort(new_vectors.codes)
    order = order[lengths[order] > 0]
    folder.mkdir(parents=True)
    facts = VectorFacts(
        new_vectors.source,
        len(order),
        int(new_vectors.rows.shape[1]),
        curve(new_vectors.rows[new_vectors.commonest]),
        new_vectors.by_stem,
    )
    with (folder / "codes").open("wb") as file:
        file.write(new_vectors.codes[order].data)
        file.flush()
        os.fsync(file.fileno())
    with (folder / "rows").open("wb") as file:
        for start in range(0, len(order), 1 << 15):
            block = order[start : start + (1 << 15)]
            file.write((new_vectors.rows[block] / lengths[block, np.newaxis]).astype(np.float16).data)
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


# Word vectors of other people's files: word2vec (.bin and .txt), fastText (.vec) and GloVe, plain or gzip.
#
# The form is seen by the content. A file is read once, in constant memory but for the words of the corpus. A
# word without a vector gets the one of its Porter stem, if there is one: so did CROWN (its published code).

_GZIP = b"\x1f\x8b"
#: No word of a file is longer, in bytes; a binary file that seems to have one is damaged.
_LONGEST = 4096
_MOST_DIMENSIONS = 10_000
#: Fewer digits than this have the numbers of a header.
_DIGITS = 19
_BUFFER_BYTES = 1 << 20


class BinaryFile(Protocol):
    """An open file whose next bytes can be seen without taking them."""

    def peek(self, size: int, /) -> bytes:
        """Some of the next bytes."""

    def read(self, size: int, /) -> bytes:
        """So many bytes, fewer at the end."""

    def readline(self, size: int = -1, /) -> bytes:
        """A line with its line feed."""


@dataclass(frozen=True)
class LoadedVectors:
    """Rows for some of the words asked for: (found,) their places, (found, dimensions); how many by stem."""

    places: NDArray[np.int64]
    rows: Rows
    by_stem: int


def load(path: Path, words: Sequence[str]) -> LoadedVectors:
    """Rows of a file for lower-case words. FileRefusedError names the line or the word that is wrong."""
    import Stemmer  # noqa: PLC0415  # only where a file is read

    stems = Stemmer.Stemmer("porter").stemWords(list(words))
    names_needed = {word.encode() for word in words} | {stem.encode() for stem in stems}
    rows: dict[bytes, Rows] = {}
    for word, row in read(path):
        if word in names_needed:
            rows.setdefault(word, row)
    exact = {place: word.encode() for place, word in enumerate(words) if word.encode() in rows}
    others = {
        place: stem.encode()
        for place, stem in enumerate(stems)
        if place not in exact and stem.encode() in rows
    }
    row_names = exact | others
    if not row_names:
        raise _refused(
            path, 0, "no word of the corpus is in it", "Give a file of the corpus' language, in lower case"
        )
    return LoadedVectors(
        np.fromiter(row_names, dtype=np.int64, count=len(row_names)),
        np.stack([rows[name] for name in row_names.values()]),
        len(others),
    )


def check(path: Path) -> None:
    """FileRefusedError where the first word cannot be read."""
    with closing(read(path)) as rows:
        first = next(rows, None)
    if first is None:
        raise _refused(path, 1, "it has no words", "Give a file of word vectors")


def read(path: Path) -> Generator[tuple[bytes, Rows], None, None]:
    """Words and rows of a file, in its order."""
    try:
        with _opened(path) as file:
            first = file.readline(_LONGEST * 16)
            header = first.split()
            if len(header) == 2 and all(each.isdigit() and len(each) < _DIGITS for each in header):
                count, dimensions = int(header[0]), int(header[1])
                if not 0 < dimensions <= _MOST_DIMENSIONS:
                    raise _refused(path, 1, f"{dimensions} dimensions", "Give a file of word vectors")
                yield from _after_header(path, file, count, dimensions)
            else:
                yield from _text(path, file, first, 1, len(header) - 1)
    except (OSError, EOFError, zlib.error) as error:
        raise _refused(path, 0, f"it cannot be read: {error}", "Fetch it again") from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryFile]:
    with io.BufferedReader(io.FileIO(path), _BUFFER_BYTES) as file:
        is_packed = file.peek(2)[:2] == _GZIP
        if not is_packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield io.BufferedReader(cast(io.RawIOBase, unpacked), _BUFFER_BYTES)


def _after_header(path: Path, file: BinaryFile, count: int, dimensions: int) -> Iterator[tuple[bytes, Rows]]:
    """Rows of word2vec's binary or text form; a line of text has as many numbers as the header says."""
    line = file.peek(1).split(b"\n", 1)[0]
    values = line.split()[-dimensions:]
    if len(values) == dimensions and all(map(_is_number, values[:3])):
        yield from _text(path, file, b"", 2, dimensions)
        return
    for number in range(1, count + 1):
        word = _word(path, file, number)
        data = file.read(4 * dimensions)
        if len(data) < 4 * dimensions:
            raise _refused(
                path, number, f"it ends in the vector of {word[:40]!r}", "Fetch the file again", "word"
            )
        row = np.frombuffer(data, dtype="<f4").astype(np.float32, copy=False)
        if not np.isfinite(row).all():
            raise _refused(
                path, number, "the vector has values that are no numbers", "Fetch it again", "word"
            )
        yield word, row


def _word(path: Path, file: BinaryFile, number: int) -> bytes:
    """The next word of a binary file: up to a space, after the line feed that some writers put."""
    letters = bytearray()
    while (letter := file.read(1)) != b" ":
        if not letter or len(letters) > _LONGEST:
            raise _refused(
                path, number, "there is no word where one has to be", "Fetch the file again", "word"
            )
        if letter != b"\n" or letters:
            letters += letter
    return bytes(letters)


def _text(
    path: Path, file: BinaryFile, first: bytes, number: int, dimensions: int
) -> Iterator[tuple[bytes, Rows]]:
    """Rows of a text file: a word, a space, and the numbers; words may have spaces in them (GloVe's do)."""
    if not 0 < dimensions <= _MOST_DIMENSIONS:
        raise _refused(path, 1, "it has no numbers after the first word", "Give a file of word vectors")
    line = first or file.readline()
    while line:
        parts = line.rstrip().rsplit(b" ", dimensions)
        if line.strip():
            if len(parts) != dimensions + 1:
                raise _refused(
                    path, number, f"not a word and {dimensions} numbers", "Mend the line or leave it out"
                )
            try:
                row = np.array([float(value) for value in parts[1:]], dtype=np.float32)
            except ValueError as error:
                raise _refused(path, number, f"not {dimensions} numbers", "Mend the line") from error
            if not np.isfinite(row).all():
                raise _refused(path, number, "values that are no numbers", "Mend the line or leave it out")
            yield parts[0], row
        line = file.readline()
        number += 1


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _refused(path: Path, line: int, what: str, remedy: str, kind: str = "") -> FileRefusedError:
    where = f"{kind} {line}: " if kind else ""
    return FileRefusedError(path.name, [Fault(0 if kind else line, "", where + what, f"{remedy}.")])
