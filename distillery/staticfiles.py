"""Static files as WhiteNoise serves them, texts compressed: on a slow line a first page is all text."""

import gzip
import re
from functools import lru_cache
from typing import Any

from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]

_TEXTS = ("text/", "image/svg+xml", "application/json")
#: Longer files are sent as they are; shorter ones fit into one packet anyway.
_WITH_COMMENTS = ("text/javascript", "text/css", "application/javascript")
_COMMENTS = re.compile(rb"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)$", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(rb"^\s+", re.MULTILINE)
_LONGEST, _SHORTEST = 512 * 1024, 1024


class StaticAddresses(StaticFilesStorage):
    """Addresses of static files, each quoted and joined once: pages name five to ten, always the same."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._addresses: dict[str | None, str] = {}

    def url(self, name: str | None) -> str:
        """The address of a file of ours; names come from templates and code, so there are few."""
        known = self._addresses.get(name)
        if known is None:
            known = self._addresses[name] = super().url(name)
        return known


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # it has no types
    """WhiteNoise, with `Content-Encoding: gzip` for browsers that take it."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponseBase:
        """The file, compressed where that helps."""
        response: HttpResponseBase = WhiteNoiseMiddleware.serve(static_file, request)
        if not _helps(request, response):
            return response
        content = b"".join(getattr(response, "streaming_content", ()))
        response.close()
        # A copy of another length is another representation: its mark may not be the same.
        if response.headers.get("Content-Type", "").startswith(_WITH_COMMENTS):
            content = _without_comments(content)
        compressed = HttpResponse(_compress(content), status=200)
        for name, value in response.headers.items():
            if name not in ("Content-Length", "ETag"):
                compressed.headers[name] = value
        compressed.headers["Content-Encoding"] = "gzip"
        compressed.headers["Vary"] = "Accept-Encoding"
        return compressed


def _helps(request: HttpRequest, response: HttpResponseBase) -> bool:
    return (
        request.method == "GET"
        and response.status_code == 200
        and "gzip" in request.headers.get("Accept-Encoding", "")
        and "Content-Encoding" not in response.headers
        and response.headers.get("Content-Type", "").startswith(_TEXTS)
        and _SHORTEST <= int(response.headers.get("Content-Length") or 0) <= _LONGEST
    )


@lru_cache(maxsize=128)
def _without_comments(content: bytes) -> bytes:
    """A script or style sheet of ours without comments that have lines of their own, and without indentation.

    A sixth of what goes over the line. A test holds that no text of a script goes over several lines.
    """
    return _INDENTATION.sub(b"", _COMMENTS.sub(b"", content))


@lru_cache(maxsize=128)
def _compress(content: bytes) -> bytes:
    return gzip.compress(content, compresslevel=9, mtime=0)
