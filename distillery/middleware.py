"""What holds for every answer: its head fields, refusals, the policy of contents, and files of `static/`."""

import gzip
import logging
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.http.response import HttpResponseBase
from django.shortcuts import render
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]

from core.storage_outages import StorageUnavailableError

logger = logging.getLogger(__name__)
#: What our pages never use.
PERMISSIONS = ", ".join(
    f"{name}=()"
    for name in ("camera", "display-capture", "geolocation", "microphone", "payment", "serial", "usb")
)
_HIGHEST_PORT = 65_535


class HeadersMiddleware:
    """No cache keeps what a signed-in person got, no other site embeds it, and ports of hosts exist."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Refuse an absurd port; complete the answer's head."""
        _, port = split_domain_port(request.get_host())
        if port and int(port) > _HIGHEST_PORT:
            raise DisallowedHost("The port of the host is not one.")
        response = self.get_response(request)
        session = request.session
        if (settings.SESSION_COOKIE_NAME in request.COOKIES or session.modified) and SESSION_KEY in session:
            response["Cache-Control"] = "no-store"
        response.setdefault("Permissions-Policy", PERMISSIONS)
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response


class StorageOutageMiddleware:
    """A page that needs the storage of all hosts while it does not answer says so, with 503."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass it on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page, for this error only."""
        if not isinstance(error, StorageUnavailableError):
            return None
        logger.error("%s", error, exc_info=error)
        return render(request, "503.html", status=503)


# The head field Content-Security-Policy, composed once for each policy that pages have.

#: Policies with addresses of requesters in them are many; then it begins with none again.
_MOST = 500


class PolicyMiddleware(CSPMiddleware):
    """django-csp's own, but for composing the policy, which took a twentieth of every short page."""

    _composed: dict[str, str] = {}

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set it where the page has none and wants one."""
        if settings.DEBUG or getattr(settings, "CONTENT_SECURITY_POLICY_REPORT_ONLY", None):
            return super().process_response(request, response)
        if HEADER in response or getattr(response, "_csp_exempt", False):
            return response
        parts = self.get_policy_parts(request, response)
        key = f"{settings.CONTENT_SECURITY_POLICY!r} {parts!r}"
        policy = self._composed.get(key)
        if policy is None:
            if len(self._composed) >= _MOST:
                self._composed.clear()
            policy = self._composed[key] = build_policy(**asdict(parts))
        response.headers[HEADER] = policy
        return response


# Static files, texts compressed: on a slow line a first page is all text.

_TEXTS = ("text/", "image/svg+xml", "application/json")
_WITH_COMMENTS = ("text/javascript", "text/css", "application/javascript")
_COMMENTS = re.compile(rb"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)$", re.MULTILINE | re.DOTALL)
_INDENTATION = re.compile(rb"^\s+", re.MULTILINE)
#: Longer files are sent as they are; shorter ones fit into one packet anyway.
_LONGEST, _SHORTEST = 512 * 1024, 1024


class StaticAddresses(StaticFilesStorage):
    """Addresses of static files, each quoted and joined once: pages name five to ten, always the same."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._addresses: dict[str | None, str] = {}

    def url(self, name: str | None) -> str:
        """The address of a file of ours; names come from templates and code, so there are few."""
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = super().url(name)
        return address


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
