"""Hands requests of the API to it before the rest of the site.

So no session, cookie, redirect to log-in or page of errors ever reaches a program.
"""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from web.api import ROOT


class ApiMiddleware:
    """Answers what begins with `ROOT`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, or pass the request on."""
        if not request.path_info.startswith(ROOT):
            return self.get_response(request)
        from web.api import dispatch  # noqa: PLC0415  # loads every operation, which no start waits for

        return dispatch.answer(request)
