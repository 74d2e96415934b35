"""Texts of numbered passages in one file, read by number: memory holds where each begins, not the texts."""

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import IO


class TextFile:
    """Texts in the order of their numbers, from 1; written once with `append`, then read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts = array("q", [0])
        self._written: IO[bytes] | None = path.open("wb")
        self._read: IO[bytes] | None = None

    def __len__(self) -> int:
        return len(self._starts) - 1

    def append(self, text: str) -> int:
        """Add a text; its number."""
        if self._written is None:
            raise ValueError(f"{self._path} is complete.")
        # A lone surrogate in a JSON file is no character; it stays readable and harms nobody.
        self._starts.append(self._starts[-1] + self._written.write(text.encode("utf-8", "replace")))
        return len(self)

    def close(self) -> None:
        """No more texts come, or nothing is read any more."""
        for file in (self._written, self._read):
            if file is not None:
                file.close()
        self._written = self._read = None

    def text(self, number: int) -> str:
        """A text. IndexError for a number that was never given."""
        if not 1 <= number <= len(self):
            raise IndexError(number)
        start, end = self._starts[number - 1], self._starts[number]
        if self._read is None:
            if self._written is not None:
                self.close()
            self._read = self._path.open("rb")
        self._read.seek(start)
        return self._read.read(end - start).decode("utf-8")

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return ((number, self.text(number)) for number in range(1, len(self) + 1))
