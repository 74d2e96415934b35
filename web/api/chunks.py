"""Bodies that come in chunks, without their length: a program writes rows while it makes them.

Django takes a request without Content-Length for one without a body. Where the server says that its input
ends with the request, the body is read to its end; elsewhere the request is refused.
"""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest

from web.api.problems import ProblemError


class ChunkStream:
    """The input of the server; read at once, it has no more than a body in memory may have."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def read(self, size: int | None = -1) -> bytes:
        """Some bytes, or all of a small body."""
        if size is not None and size >= 0:
            return bytes(self._source.read(size))
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        found = bytes(self._source.read(most + 1))
        if len(found) > most:
            raise RequestDataTooBig
        return found

    def readline(self, size: int | None = -1) -> bytes:
        """A line, or as much of it."""
        if size is None or size < 0:
            size = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        return bytes(self._source.readline(size))

    def close(self) -> None:
        """The server closes its input."""


def open_chunks(request: HttpRequest) -> None:
    """Let Django read a body sent in chunks; ProblemError where the server does not mark its end."""
    if "chunked" not in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        return
    if not request.META.get("wsgi.input_terminated"):
        raise ProblemError(400, "length_required", "Send the length of the body as Content-Length.")
    request._stream = ChunkStream(request.META["wsgi.input"])  # type: ignore[assignment]
