"""Sending a file in whole or in part (RFC 9110, 13 and 14), in constant memory."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header

#: Bytes in memory at a time.
_PIECE = 1 << 18
_RANGE = re.compile(r"bytes=\s*(\d{0,18})-(\d{0,18})\s*", re.ASCII)
_TYPES = {
    "json": "application/json", "jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8", "md": "text/markdown; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes from `start` to before `stop` of `size` bytes; `whole` where nobody asked for a part."""

    start: int
    stop: int
    size: int
    whole: bool

    @property
    def length(self) -> int:
        """How many bytes."""
        return self.stop - self.start


class OutsideError(ValueError):
    """A part that lies outside of the file."""


def part_of(header: str, size: int) -> Part:
    """The part that a Range header asks for. One that cannot be read, or has several, is the whole file."""
    whole = Part(0, size, size, True)
    found = _RANGE.fullmatch(header.strip())
    if found is None or found[0].strip() == "bytes=-":
        return whole
    first, last = found.groups()
    if not first:
        if not last or not int(last):
            raise OutsideError(header)
        return Part(max(0, size - int(last)), size, size, False)
    start, stop = int(first), size if not last else min(int(last) + 1, size)
    if last and int(last) < start:
        return whole
    if start >= size:
        raise OutsideError(header)
    return Part(start, stop, size, False)


def wanted(request: HttpRequest, etag: str, size: int) -> Part:
    """The part that a request asks for; whole where `If-Range` names another state of the file."""
    header = request.headers.get("Range", "")
    only_if = request.headers.get("If-Range", "")
    if not header or request.method not in ("GET", "HEAD") or (only_if and only_if != etag):
        return Part(0, size, size, True)
    return part_of(header, size)


def known(request: HttpRequest, etag: str) -> bool:
    """Whether the asking side says that it has the file as it is."""
    given = request.headers.get("If-None-Match", "")
    return given.strip() == "*" or etag in [each.strip().removeprefix("W/") for each in given.split(",")]


def send(
    request: HttpRequest, *, opened: Callable[[], BinaryIO], part: Part, name: str, etag: str
) -> HttpResponseBase:
    """The part of a file; to HEAD its head alone, and the file is not opened."""
    status = 200 if part.whole else 206
    answer: HttpResponseBase
    if request.method == "HEAD":
        answer = HttpResponse(status=status)
    else:
        answer = StreamingHttpResponse(_Pieces(opened(), part), status=status)
    answer["Content-Type"] = type_of(name)
    answer["Content-Length"] = str(part.length)
    if not part.whole:
        answer["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{part.size}"
    return headed(answer, name=name, etag=etag)


def outside(size: int, etag: str) -> HttpResponse:
    """Nothing of the file lies where the request asks."""
    answer = HttpResponse(status=416)
    answer["Content-Range"] = f"bytes */{size}"
    answer["ETag"] = etag
    return answer


def not_modified(etag: str) -> HttpResponse:
    """The asking side has the file as it is."""
    answer = HttpResponse(status=304)
    answer["ETag"] = etag
    return answer


def headed(answer: HttpResponseBase, *, name: str, etag: str = "") -> HttpResponseBase:
    """Head fields of every download: saved and not shown, and never taken for another type."""
    answer["Content-Disposition"] = content_disposition_header(True, name)
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Cache-Control"] = "private, no-cache"
    if etag:
        answer["ETag"] = etag
        answer["Accept-Ranges"] = "bytes"
    return answer


def type_of(name: str) -> str:
    """The media type by the end of a name."""
    return _TYPES.get(name.rpartition(".")[2].lower(), "application/octet-stream")


class _Pieces:
    """The bytes of a part, some at a time. It closes its file also where nobody reads it to the end."""

    def __init__(self, file: BinaryIO, part: Part) -> None:
        self._file, self._left = file, part.length
        file.seek(part.start)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        piece = self._file.read(min(_PIECE, self._left)) if self._left else b""
        if not piece:
            self.close()
            raise StopIteration
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        """Let the file go."""
        self._left = 0
        self._file.close()
