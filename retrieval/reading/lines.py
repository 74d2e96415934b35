"""Content by blocks and lines: unpacked, decoded, numbered; damage, bombs and endless lines stop a file."""

import codecs
from collections.abc import Iterator
from typing import IO

from retrieval.reading import compression
from retrieval.reading.passage_source import PassageSource

#: Longest line, or record, of a file in bytes.
LONGEST_LINE = 4_000_000
_BLOCK = 2**18
_BOM = b"\xef\xbb\xbf"
_WIDE = ("utf-16", "utf-32")  # with or without -le, -be
_ARCHIVES = ((0, b"PK\x03\x04", "a zip file"), (257, b"ustar", "a tar archive"))


class LineNumber:
    """The number of the line or record that is being read, from 1."""

    number = 1


def numbered(file: PassageSource, raw: IO[bytes]) -> Iterator[tuple[int, str]]:
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


def blocks(file: PassageSource, raw: IO[bytes], where: LineNumber) -> Iterator[bytes]:
    """The unpacked content, some hundred kilobytes at a time."""
    head = raw.read(512)
    _refuse_archives(file, head)
    source, unpacked = compression.unpacked(raw, head), 0
    while True:
        try:
            block = source.read(_BLOCK)
        except Exception as error:
            if not compression.is_damage(error):
                raise
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


def too_long(file: PassageSource, where: LineNumber, unit: str, longest: int = LONGEST_LINE) -> Exception:
    """The error for a line or record that nobody's passage has."""
    what = f"the {unit} is longer than {longest // 1_000_000} MB"
    return file.stop(where.number, "", what, "Cut the page into passages.")


def _refuse_archives(file: PassageSource, head: bytes) -> None:
    for at, magic, what in _ARCHIVES:
        if head[at:].startswith(magic):
            raise file.stop(1, "", f"this is {what}, not text", "Take the file out of it.")


def _narrow(file: PassageSource, content: Iterator[bytes], where: LineNumber) -> Iterator[bytes]:
    """The content in an encoding whose line feed is one byte: wide ones become UTF-8."""
    if not file.encoding.startswith(_WIDE):
        yield from content
        return
    decoder = codecs.getincrementaldecoder(file.encoding)()
    try:
        for block in content:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        what = f"the text is not {file.encoding.upper()} from here on"
        raise file.stop(where.number, "", what, "Save the file as UTF-8.") from error


def _codec(file: PassageSource) -> str:
    return "utf-8" if file.encoding.startswith((*_WIDE, "utf-8")) else file.encoding


def _lines(file: PassageSource, where: LineNumber, content: bytes) -> Iterator[tuple[int, str]]:
    """Whole lines of a block; only a block with a fault is decoded line by line."""
    if not content:
        return
    try:
        lines = content.decode(_codec(file)).split("\n")
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


def _decoded(file: PassageSource, number: int, line: bytes) -> str:
    try:
        return line.decode(_codec(file))
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} ({line[error.start]:#04x}) is no {_codec(file).upper()}"
        file.fault(number, "", what, "Save the file as UTF-8, or name its encoding.")
        file.stop_if_too_many()
        return ""
