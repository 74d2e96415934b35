"""A file as a stream of text: gzip, byte order marks, encodings, newlines and limits are dealt with here.

Nothing above this module sees bytes. Memory is bounded by one block and one line of the greatest length.
"""

import codecs
import gzip
import hashlib
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from core.files.compression import packing_of
from core.files.encodings import (
    WIDE,
    EncodingError,
    Guess,
    guess_encoding,
    marked_encoding,
    narrow_blocks,
    narrow_encoding,
    text_encoding,
)
from core.files.refusals import FileRefusedError, Refuse
from core.files.workbooks import MAGIC, Workbook, WorkbookError, open_workbook

BLOCK = 2**20
#: Bytes that texts are made of in most encodings: all but control characters.
_TEXTUAL = bytes([7, 8, 9, 10, 11, 12, 13, 27, *range(32, 127), *range(128, 256)])
_MOST_STRANGE, _STRANGE_SHARE, _NUL_SHARE = 8, 0.02, 0.1
_LOOK = 2**14

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a file may ask of memory and disk.

    A value of one character in four bytes, or of nothing but small objects, takes up to thirty times its
    length in memory: with these limits reading stays below 300 MiB in all.
    """

    line_bytes: int = 8 * 2**20
    value_chars: int = 6 * 2**20
    #: Objects and lists in one line.
    line_parts: int = 200_000
    expansion: int = 200
    expansion_from: int = 64 * 2**20
    unpacked_bytes: int = 2**40


class Bytes(Protocol):
    """What gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Up to so many, empty at the end."""
        ...


def fingerprint(path: Path) -> str:
    """SHA-256 of a file as it lies there."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def encoding_of(source: "TextSource") -> dict[str, str]:
    """Of a report: how the file was read, by name and in words."""
    return {"encoding": source.encoding, "encoding_words": source.encoding_said}


class TextSource:
    """A file that can be read from its start any number of times.

    `progress` is told bytes read of the file as it lies there, and its size.
    """

    def __init__(
        self,
        path: Path,
        *,
        name: str = "",
        encoding: str = "",
        sheet: str = "",
        limits: Limits | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.path, self.name = path, name or path.name
        self.limits = limits or Limits()
        self.progress = progress
        try:
            self.size = path.stat().st_size
            with path.open("rb") as file:
                start = file.read(max(map(len, MAGIC)))
        except OSError as error:
            raise FileRefusedError(f"{self.name} cannot be read: {error.strerror}.") from error
        self.packed = packing_of(start) == "gzip"
        #: The sheet to read, where the file is a workbook of a spreadsheet.
        self.workbook = self._workbook(sheet) if start.startswith(MAGIC) else None
        if sheet and self.workbook is None:
            raise FileRefusedError(
                f"{self.name} is no workbook, so it has no sheet {sheet[:60]!r}. Name none."
            )
        #: What the encoding was guessed to be, where nobody named it.
        self.guess: Guess | None = None
        self.encoding = "utf-8" if self.workbook else self._encoding(encoding)

    def _workbook(self, sheet: str) -> Workbook:
        try:
            return open_workbook(self.path, name=self.name, sheet=sheet)
        except WorkbookError as error:
            raise FileRefusedError(str(error)) from error

    def _encoding(self, encoding: str) -> str:
        start = next(self._raw(_LOOK), b"")
        if not start:
            raise FileRefusedError(f"{self.name} is empty.")
        marked = marked_encoding(start)
        try:
            encoding = text_encoding(encoding) if encoding else ""
        except EncodingError as error:
            raise FileRefusedError(f"{self.name}: {error}") from error
        if marked or encoding:
            return marked or encoding
        self.guess = guess_encoding(self._raw())
        if not self.guess.encoding.startswith(WIDE) and _is_binary(start):
            raise FileRefusedError(
                f"{self.name} is no text but binary data (a picture, a program, a packed file). Give a table "
                "as CSV, TSV, JSON or .xlsx."
            )
        return self.guess.encoding

    @property
    def encoding_said(self) -> str:
        """The encoding in words, with a caution where it is a guess; nothing for a workbook."""
        if self.workbook:
            return ""
        return self.guess.description if self.guess else Guess(self.encoding, 1).description

    def _raw(self, block: int = BLOCK) -> Iterator[bytes]:
        """The file's bytes, unpacked."""
        with self.path.open("rb") as file:
            stream: Bytes = _GzipStream(file, self) if self.packed else file
            while data := stream.read(block):
                if self.progress and block == BLOCK:
                    self.progress(file.tell(), self.size)
                yield data

    def blocks(self) -> Iterator[bytes]:
        """Bytes of an encoding whose newlines are single bytes, without a mark; wide ones become UTF-8."""
        if not self.encoding.startswith(WIDE):
            raw = self._raw()
            first = next(raw, b"")
            yield first[3:] if self.encoding == "utf-8-sig" else first
            yield from raw
            return
        try:
            yield from narrow_blocks(self._raw(), self.encoding)
        except UnicodeError as error:
            raise FileRefusedError(
                f"{self.name} begins like {self.encoding.upper()} and is not: {error}."
            ) from error

    @property
    def narrow(self) -> str:
        """Encoding of what `blocks` gives."""
        return narrow_encoding(self.encoding)

    def chunks(self, refuse: Refuse) -> Iterator[tuple[int, str]]:
        """Whole lines, many at a time: the number of the first, and their text with plain newlines.

        A line that is refused is kept as an empty one, so that the numbers stay right.
        """
        line = 1
        for data in self._whole_lines(refuse):
            text = self._text(data, line, refuse)
            yield line, text
            line += text.count("\n")

    def _whole_lines(self, refuse: Refuse) -> Iterator[bytes]:
        """Bytes cut after line ends; a line beyond the limit is skipped, its end kept."""
        carry: list[bytes] = []
        buffered, line, skipping = 0, 1, False
        for block in self.blocks():
            cut = block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, -1) + 1
            if not cut:
                buffered += len(block)
                if buffered > self.limits.line_bytes and not skipping:
                    self._refuse_long(line + _line_ends(b"".join(carry)), refuse)
                    skipping = True
                    carry = _complete(carry)
                if not skipping:
                    carry.append(block)
                continue
            head = block[:cut]
            if skipping:
                ends = [place for place in (head.find(b"\n"), head.find(b"\r")) if place >= 0]
                head, skipping = head[min(ends) :], False
            data = b"".join([*carry, head])
            line += _line_ends(data)
            yield data
            carry, buffered = [block[cut:]], len(block) - cut
        rest = b"".join(carry)
        if skipping:
            rest += b"\n"
        if rest:
            yield rest if rest.endswith((b"\n", b"\r")) else rest + b"\n"

    def _refuse_long(self, line: int, refuse: Refuse) -> None:
        refuse(line, f"The line is longer than {self.limits.line_bytes:,} bytes.")

    def _text(self, data: bytes, line: int, refuse: Refuse) -> str:
        """Text of whole lines."""
        if b"\0" not in data and len(data) <= self.limits.line_bytes:
            try:
                return _newlines(data.decode(self.narrow))
            except UnicodeDecodeError:
                pass
        return "".join(
            self._line(each, line + offset, refuse) + "\n" for offset, each in enumerate(data.splitlines())
        )

    def _line(self, data: bytes, line: int, refuse: Refuse) -> str:
        if len(data) > self.limits.line_bytes:
            self._refuse_long(line, refuse)
        elif b"\0" in data:
            refuse(line, f"The line has a NUL byte at byte {data.index(0) + 1}; text has none.")
        else:
            try:
                return data.decode(self.narrow)
            except UnicodeDecodeError as error:
                refuse(
                    line,
                    f"Byte {error.start + 1} (0x{data[error.start]:02X}) is not {self.narrow.upper()}. "
                    "Save the file as UTF-8, or name its encoding.",
                )
        return ""

    def characters(self) -> Iterator[str]:
        """The whole text in pieces, for formats that are one document; FileRefusedError if it is no text."""
        decoder = codecs.getincrementaldecoder(self.narrow)()
        at = 0
        try:
            for block in self.blocks():
                if b"\0" in block:
                    raise FileRefusedError(
                        f"{self.name} has a NUL byte at byte {at + block.index(0) + 1}; text has none."
                    )
                yield decoder.decode(block)
                at += len(block)
            yield decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise FileRefusedError(
                f"{self.name} is not {self.narrow.upper()} near byte {at + error.start + 1}. "
                "Save it as UTF-8, or name its encoding."
            ) from error


class _GzipStream:
    """A gzip stream that ends with a clear error where it is damaged or unpacks to far too much."""

    def __init__(self, file: BinaryIO, source: TextSource) -> None:
        self._file, self._source = file, source
        self._stream = gzip.GzipFile(fileobj=file, mode="rb")
        self._given = 0

    def read(self, size: int, /) -> bytes:
        """Unpacked bytes."""
        limits, name = self._source.limits, self._source.name
        try:
            data = self._stream.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FileRefusedError(
                f"{name} is damaged: its gzip data cannot be unpacked after {self._given:,} bytes. "
                "Get the file again."
            ) from error
        self._given += len(data)
        allowed = max(limits.expansion_from, limits.expansion * max(1, self._file.tell()))
        if self._given > min(allowed, limits.unpacked_bytes):
            raise FileRefusedError(
                f"{name} unpacks to more than {self._given // 2**20:,} MiB from "
                f"{self._source.size:,} bytes, which no query log does. Unpack it yourself if you trust it."
            )
        return data


def _is_binary(start: bytes) -> bool:
    """Whether it begins like no text in any encoding: many bytes that print nothing, and no UTF-8."""
    strange = len(start.translate(None, delete=_TEXTUAL))
    if strange < _MOST_STRANGE or strange < len(start) * _STRANGE_SHARE:
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return True
    return start.count(0) > len(start) * _NUL_SHARE


def _line_ends(data: bytes) -> int:
    if b"\r" not in data:
        return data.count(b"\n")
    return data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n")


def _complete(pieces: list[bytes]) -> list[bytes]:
    """The whole lines of what was held back, without the unfinished one."""
    data = b"".join(pieces)
    return [data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]]


def _newlines(text: str) -> str:
    """With one kind of newline."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def unchanged(path: Path, before: os.stat_result) -> bool:
    """Whether a file is still the one that was looked at."""
    now = path.stat()
    return (now.st_size, now.st_mtime_ns, now.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
