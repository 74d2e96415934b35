"""Head fields and refusals that hold for every page that is not a file of `static/`."""

import logging
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.http.response import HttpResponseBase
from django.shortcuts import render

from core.storage.outages import StorageUnavailableError

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
