"""Every request has an id, and a place in the histogram where figures are asked for."""

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core.jobs.spans import HEADER, accepted_request_id, request_id_of


class RequestIdMiddleware:
    """Takes the proxy's id of a request or makes one; it comes back in the answer and stands in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer under this id."""
        request_id = accepted_request_id(request.headers.get(HEADER, ""))
        with request_id_of(request_id):
            response = self.get_response(request)
        response.headers.setdefault(HEADER, request_id)
        return response


class TimingMiddleware:
    """Counts answers by view, method and status."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        from distillery.monitoring.instruments import HTTP_SECONDS  # noqa: PLC0415  # makes its folder

        self.get_response = get_response
        self._histogram = HTTP_SECONDS

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and note how long that took."""
        started = time.perf_counter()
        response = self.get_response(request)
        self._histogram.labels(method_name(request), view_name(request), str(response.status_code)).observe(
            time.perf_counter() - started
        )
        return response


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def method_name(request: HttpRequest) -> str:
    """The method of a request, "other" for one that HTTP does not define: clients may send any word."""
    return request.method if request.method in _METHODS else "other"


def view_name(request: HttpRequest) -> str:
    """The name of the view: a bounded set, as addresses are not."""
    if request.resolver_match is not None:
        return request.resolver_match.view_name or "unnamed"
    if request.path.startswith(settings.STATIC_URL):
        return "static"
    if request.path.startswith("/health/"):
        return "health"
    return "mturk" if request.path.startswith("/mturk/") else "none"
