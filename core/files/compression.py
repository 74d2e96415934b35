"""What a file holds once it is unpacked: gzip, bzip2, xz and Zstandard, told by their first bytes.

A packed file may be a bomb: callers count what comes out against what went in (`grown_too_far`), and no
reading here gives more than some megabytes at once.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

#: A packed file may grow by this factor and no more once it is past the first 100 MB.
MOST_GROWTH = 200
FREE_GROWTH = 100_000_000
#: First bytes of what is packed, and of archives, which hold several files.
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "Zstandard"}
#: A kilobyte of Zstandard holds at most 256 blocks of 128 kB.
_PIECE = 1024
#: Memory that unpacking may ask for, as the head of a file says; `xz -9` wants half of it.
MOST_MEMORY = 2**27
#: What reading raises where packed data is broken or ends too soon.
DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError)
_OUT, _XZ_PIECE = 2**18, 2**16
_HEAD, _BLOCK = 16, 2**20


def packing_of(head: bytes) -> str:
    """gzip, bzip2, xz or Zstandard; empty for a plain file."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def unpacked(raw: IO[bytes], head: bytes) -> IO[bytes]:
    """The content from its beginning; `head` is what the file begins with."""
    raw.seek(0)
    packing = packing_of(head)
    if packing == "gzip":
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if packing == "bzip2":
        return bz2.BZ2File(raw)
    if packing == "xz":
        return io.BufferedReader(_Pieces(_xz(raw)))
    return io.BufferedReader(_Pieces(_zstandard(raw))) if packing else raw


def grown_too_far(unpacked: int, packed: int) -> bool:
    """Whether so many bytes out of so few are a trap rather than a file."""
    return unpacked > max(FREE_GROWTH, MOST_GROWTH * max(packed, 1))


def wants_too_much(error: BaseException) -> bool:
    """Whether one of DAMAGE says that unpacking wants more memory than it gets."""
    return "memory" in str(error).lower()


def sound_blocks(path: Path) -> Iterator[bytes]:
    """The unpacked content as far as it can be had; whoever reads the file says what is wrong with it."""
    with path.open("rb") as raw:
        try:
            source = unpacked(raw, raw.read(_HEAD))
            while block := source.read(_BLOCK):
                yield block
        except DAMAGE:
            return


def sound_start(raw: IO[bytes], size: int) -> bytes:
    """The first bytes, unpacked; none where they cannot be."""
    try:
        return unpacked(raw, raw.read(_HEAD)).read(size)
    except DAMAGE:
        return b""


def _xz(raw: IO[bytes]) -> Iterator[bytes]:
    """Streams one after the other, which may have zeros between them. The library's own has no limit."""
    while piece := raw.read(_XZ_PIECE).lstrip(b"\0"):
        while piece:
            stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
            while not stream.eof:
                if content := stream.decompress(piece, _OUT):
                    yield content
                piece = raw.read(_XZ_PIECE) if stream.needs_input and not stream.eof else b""
                if stream.needs_input and not stream.eof and not piece:
                    raise EOFError("it ends in the middle")
            piece = stream.unused_data.lstrip(b"\0")


def _zstandard(raw: IO[bytes]) -> Iterator[bytes]:
    """Frames one after the other. The library's own reader takes one that ends too soon for whole."""
    from zstandard import ZstdDecompressor, ZstdError  # only for such files

    frame: Any = None
    while piece := raw.read(_PIECE):
        while piece:
            frame = frame or ZstdDecompressor(max_window_size=MOST_MEMORY).decompressobj()
            try:
                content = frame.decompress(piece)
            except ZstdError as error:
                raise OSError(str(error)) from error
            if content:
                yield content
            piece = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame is not None:
        raise EOFError("it ends in the middle")


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the next piece goes."""
        rest = self._rest or next(self._pieces, b"")
        piece = rest[: len(buffer)]
        buffer[: len(piece)] = piece
        self._rest = rest[len(piece) :]
        return len(piece)
