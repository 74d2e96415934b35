"""Content by blocks and lines: unpacked, decoded, numbered; damage, bombs and endless lines stop a file."""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from retrieval.reading import packing

if TYPE_CHECKING:
    from retrieval.reading.file import PassageFile

#: Longest line, or record, of a file in bytes.
LONGEST_LINE = 4_000_000
_BLOCK = 2**18
_BOM = b"\xef\xbb\xbf"
_NOT_UTF8 = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_ARCHIVES = ((0, b"PK\x03\x04", "a zip file"), (257, b"ustar", "a tar archive"))


class Where:
    """The number of the line or record that is being read, from 1."""

    number = 1


def numbered(file: "PassageFile", raw: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Lines without LF and byte order mark. One that is no UTF-8 is a fault, and an empty line."""
    where, rest = Where(), b""
    for block in blocks(file, raw, where):
        content = rest + (block if where.number > 1 or rest else block.removeprefix(_BOM))
        cut = content.rfind(b"\n") + 1
        rest = content[cut:]
        yield from _lines(file, where, content[:cut])
        if len(rest) > LONGEST_LINE:
            raise too_long(file, where, "line")
    yield from _lines(file, where, rest)


def blocks(file: "PassageFile", raw: IO[bytes], where: Where) -> Iterator[bytes]:
    """The unpacked content, some hundred kilobytes at a time."""
    head = raw.read(512)
    _refuse_archives(file, head)
    source, unpacked = packing.unpacked(raw, head), 0
    while True:
        try:
            block = source.read(_BLOCK)
        except Exception as error:
            if not packing.is_damage(error):
                raise
            what = f"the {packing.packing_of(head) or 'file'} data is damaged ({error})"
            raise file.stop(where.number, "", what, "Compress it again.") from error
        file.bytes_done = raw.tell()
        if not block:
            return
        if not unpacked and source is not raw:
            _refuse_archives(file, block)
        unpacked += len(block)
        if source is not raw and packing.grown_too_far(unpacked, file.bytes_done):
            what = f"it unpacks to more than {packing.MOST_GROWTH} times its size"
            raise file.stop(where.number, "", what, "Unpack it and look at it.")
        yield block


def too_long(file: "PassageFile", where: Where, unit: str) -> Exception:
    """The error for a line or record that nobody's passage has."""
    what = f"the {unit} is longer than {LONGEST_LINE // 1_000_000} MB"
    return file.stop(where.number, "", what, "Cut the page into passages.")


def _refuse_archives(file: "PassageFile", head: bytes) -> None:
    for at, magic, what in _ARCHIVES:
        if head[at:].startswith(magic):
            raise file.stop(1, "", f"this is {what}, not UTF-8 text", "Take the file out of it.")
    for mark, what in _NOT_UTF8:
        if head.startswith(mark):
            raise file.stop(1, "", f"this is {what}, not UTF-8 text", "Save it as UTF-8.")


def _lines(file: "PassageFile", where: Where, content: bytes) -> Iterator[tuple[int, str]]:
    """Whole lines of a block; only a block with a fault is decoded line by line."""
    if not content:
        return
    try:
        lines = content.decode("utf-8").split("\n")
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


def _decoded(file: "PassageFile", number: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} ({line[error.start]:#04x}) is no UTF-8"
        file.fault(number, "", what, "Save the file as UTF-8.")
        file.stop_if_too_many()
        return ""
