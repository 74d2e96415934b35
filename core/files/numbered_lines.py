"""Content of a file by blocks and numbered lines: unpacked, decoded, with limits on size and length."""

from collections.abc import Iterator
from typing import IO, ClassVar, Protocol

from core.files import compression
from core.files.encodings import narrow_blocks, narrow_encoding

#: Longest line, or record, of a file in bytes.
LONGEST_LINE = 4_000_000
_BLOCK = 2**18
_BOM = b"\xef\xbb\xbf"
_ARCHIVES = ((0, b"PK\x03\x04", "a zip file"), (257, b"ustar", "a tar archive"))


class LineFile(Protocol):
    """What readers of lines know of a file, and where they say what is wrong with it."""

    encoding: str
    bytes_done: int
    #: What to do about a line or record that is too long.
    long_remedy: ClassVar[str]

    def fault(self, number: int, field: str, what: str, remedy: str) -> None:
        """Note what is wrong with a line."""

    def stop(self, number: int, field: str, what: str, remedy: str) -> Exception:
        """The error for a file that cannot be read any further."""
        ...

    def stop_if_too_many(self) -> None:
        """Raise the error with all faults when there are too many."""


class LineNumber:
    """The number of the line or record that is being read, from 1."""

    number = 1


def numbered(file: LineFile, raw: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Lines without LF and byte order mark. One that is not in the file's encoding is a fault, and empty."""
    where, rest = LineNumber(), b""
    for block in _narrow(file, blocks(file, raw, where), where):
        content = rest + (block if where.number > 1 or rest else block.removeprefix(_BOM))
        cut = content.rfind(b"\n") + 1
        rest = content[cut:]
        yield from _lines(file, where, content[:cut])
        if len(rest) > LONGEST_LINE:
            raise too_long(file, where, "line")
    yield from _lines(file, where, rest)


def blocks(file: LineFile, raw: IO[bytes], where: LineNumber) -> Iterator[bytes]:
    """The unpacked content, some hundred kilobytes at a time."""
    head = raw.read(512)
    _refuse_archives(file, head)
    source, unpacked = compression.unpacked(raw, head), 0
    while True:
        try:
            block = source.read(_BLOCK)
        except compression.DAMAGE as error:
            packed = compression.packing_of(head) or "file"
            what, remedy = f"the {packed} data is damaged ({error})", "Compress it again."
            if compression.wants_too_much(error):
                most = compression.MOST_MEMORY // 2**20
                what, remedy = f"unpacking the {packed} data takes more than {most} MiB", "Pack it with gzip."
            raise file.stop(where.number, "", what, remedy) from error
        file.bytes_done = raw.tell()
        if not block:
            return
        if not unpacked and source is not raw:
            _refuse_archives(file, block)
        unpacked += len(block)
        if source is not raw and compression.grown_too_far(unpacked, file.bytes_done):
            what = f"it unpacks to more than {compression.MOST_GROWTH} times its size"
            raise file.stop(where.number, "", what, "Unpack it and look at it.")
        yield block


def too_long(file: LineFile, where: LineNumber, unit: str, longest: int = LONGEST_LINE) -> Exception:
    """The error for a line or record beyond the limit."""
    what = f"the {unit} is longer than {longest // 1_000_000} MB"
    return file.stop(where.number, "", what, file.long_remedy)


def _refuse_archives(file: LineFile, head: bytes) -> None:
    for at, magic, what in _ARCHIVES:
        if head[at:].startswith(magic):
            raise file.stop(1, "", f"this is {what}, not text", "Take the file out of it.")


def _narrow(file: LineFile, content: Iterator[bytes], where: LineNumber) -> Iterator[bytes]:
    """The content in an encoding whose line feed is one byte: wide ones become UTF-8."""
    try:
        yield from narrow_blocks(content, file.encoding)
    except UnicodeError as error:
        what = f"the text is not {file.encoding.upper()} from here on"
        raise file.stop(where.number, "", what, "Save the file as UTF-8.") from error


def _lines(file: LineFile, where: LineNumber, content: bytes) -> Iterator[tuple[int, str]]:
    """Whole lines of a block; only a block with a fault is decoded line by line."""
    if not content:
        return
    try:
        lines = content.decode(narrow_encoding(file.encoding)).split("\n")
    except UnicodeDecodeError:
        for line in content.removesuffix(b"\n").split(b"\n"):
            yield where.number, _decoded(file, where.number, line)
            where.number += 1
        return
    if not lines[-1]:
        lines.pop()
    for text in lines:
        yield where.number, text
        where.number += 1


def _decoded(file: LineFile, number: int, line: bytes) -> str:
    encoding = narrow_encoding(file.encoding)
    try:
        return line.decode(encoding)
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} ({line[error.start]:#04x}) is no {encoding.upper()}"
        file.fault(number, "", what, "Save the file as UTF-8, or name its encoding.")
        file.stop_if_too_many()
        return ""
