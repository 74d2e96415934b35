"""Word vectors of other people's files: word2vec (.bin and .txt), fastText (.vec) and GloVe, plain or gzip.

The form is seen by the content. A file is read once, in constant memory but for the words of the corpus. A
word without a vector gets the one of its Porter stem, if there is one: so did CROWN (its published code).
"""

import gzip
import io
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from core.files.refusals import Fault
from retrieval.errors import FileRefusedError
from retrieval.network.vectors import Rows

_GZIP = b"\x1f\x8b"
#: No word of a file is longer, in bytes; a binary file that seems to have one is damaged.
_LONGEST = 4096
_MOST_DIMENSIONS = 10_000
#: Fewer digits than this have the numbers of a header.
_DIGITS = 19
_AT_ONCE = 1 << 20


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
    wanted = {word.encode() for word in words} | {stem.encode() for stem in stems}
    rows: dict[bytes, Rows] = {}
    for word, row in read(path):
        if word in wanted:
            rows.setdefault(word, row)
    exact = {place: word.encode() for place, word in enumerate(words) if word.encode() in rows}
    others = {
        place: stem.encode()
        for place, stem in enumerate(stems)
        if place not in exact and stem.encode() in rows
    }
    found = exact | others
    if not found:
        raise _refused(
            path, 0, "no word of the corpus is in it", "Give a file of the corpus' language, in lower case"
        )
    return LoadedVectors(
        np.fromiter(found, dtype=np.int64, count=len(found)),
        np.stack([rows[name] for name in found.values()]),
        len(others),
    )


def check(path: Path) -> None:
    """FileRefusedError where the first word cannot be read."""
    with closing(read(path)) as words:
        first = next(words, None)
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
    with io.BufferedReader(io.FileIO(path), _AT_ONCE) as file:
        is_packed = file.peek(2)[:2] == _GZIP
        if not is_packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield io.BufferedReader(cast(io.RawIOBase, unpacked), _AT_ONCE)


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
