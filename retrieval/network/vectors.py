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
from retrieval.network.calibration import curve
from retrieval.network.codes import Codes
from retrieval.network.segment import write_json

Rows = NDArray[np.float32]
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
