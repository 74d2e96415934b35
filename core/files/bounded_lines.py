"""Bytes of a file for readers that take a line or a quoted field whole into memory, such as pandas."""

import io
from collections.abc import Callable
from typing import IO, Any


def check_nothing() -> None:
    """Where fields need no check."""


class BoundedLines(io.RawIOBase):
    """The bytes of a file, as long as its lines and fields are of a length that people write.

    Readers take a line or a quoted field whole into memory, and a packed file of 200 kB may hold one of a
    gigabyte. `check_fields` is asked once, where a quotation mark may have been open for `longest` bytes.
    """

    def __init__(
        self,
        source: IO[bytes],
        longest: int,
        too_long: Callable[[], Exception],
        check_fields: Callable[[], None],
    ) -> None:
        super().__init__()
        self._source, self._longest = source, longest
        self._too_long, self._check_fields = too_long, check_fields
        self._length, self._behind_quote, self._quotes = 0, 0, 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere, as if a line began there."""
        self._length, self._behind_quote, self._quotes = 0, 0, 0
        return self._source.seek(offset, whence)

    def readinto(self, buffer: Any) -> int:
        """Read on; the error of `too_long` where a line does not end."""
        piece = self._source.read(len(buffer))
        buffer[: len(piece)] = piece
        last = max(piece.rfind(b"\n"), piece.rfind(b"\r"))
        self._length = self._length + len(piece) if last < 0 else len(piece) - last
        if self._length > self._longest:
            raise self._too_long()
        self._look_at_quotes(piece)
        return len(piece)

    def _look_at_quotes(self, piece: bytes) -> None:
        """A mark inside of a field has no meaning: an exact reader then finds no fault."""
        self._quotes += piece.count(b'"')
        last = piece.rfind(b'"')
        self._behind_quote = self._behind_quote + len(piece) if last < 0 else len(piece) - last
        if self._quotes % 2 and self._behind_quote > self._longest:
            check, self._check_fields = self._check_fields, check_nothing
            check()

    def close(self) -> None:
        """Close the file."""
        self._source.close()
        super().close()
