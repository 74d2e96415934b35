"""Request ids in the log, and traces for a collector of OpenTelemetry (OTEL_EXPORTER_OTLP_ENDPOINT).

Spans of one request id are one trace: a page, the jobs that it queued, on any host, and their calls of
marketplaces. A request id of ours is also the id of the trace. Spans contain no addresses, no queries and no
texts; of an error they have the class, never the message.
"""

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from core.errors import on_failure
from core.jobs import spans
from core.jobs.spans import HEADER, accepted_request_id, current_request_id, request_id_of
from distillery.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import StatusCode

_OURS = re.compile(r"(?!0{32})[0-9a-f]{32}")


def is_installed() -> bool:
    """Whether the packages of the extra are there."""
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def connect() -> None:
    """Open spans from now on. The exporter and its thread start with the first one, after any fork."""
    spans.install(_open)


@contextmanager
def _open(name: str, attributes: Mapping[str, spans.Value]) -> Iterator[spans.Note]:
    tracer = provider().get_tracer("distillery", VERSION)
    all_attributes = {"distillery.request_id": current_request_id(), **attributes}
    with tracer.start_as_current_span(
        name, attributes=all_attributes, record_exception=False, set_status_on_exception=False
    ) as span:

        def note(name: str, value: spans.Value) -> None:
            if name == "name":
                span.update_name(value)
            else:
                span.set_attribute(name, value)

        def note_error(error: BaseException) -> None:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(_error_status())

        with on_failure(note_error):
            yield note


def _error_status() -> "StatusCode":
    from opentelemetry.trace import StatusCode

    return StatusCode.ERROR


@cache
def provider() -> "TracerProvider":
    """Sends spans in batches from its own thread; spans that the collector does not take in time are lost."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class RequestTraceIds(RandomIdGenerator):  # type: ignore[misc]
        def generate_trace_id(self) -> int:
            return trace_id_of(current_request_id()) or int(super().generate_trace_id())

    named = {"service.version": VERSION}
    if settings.OTEL_SERVICE_NAME:
        named["service.name"] = settings.OTEL_SERVICE_NAME
    tracer_provider = TracerProvider(resource=Resource.create(named), id_generator=RequestTraceIds())
    tracer_provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return tracer_provider


def trace_id_of(request_id: str) -> int:
    """The trace that a request belongs to; 0 for none. Ids from a proxy may have any length."""
    if _OURS.fullmatch(request_id):
        return int(request_id, 16)
    digest = hashlib.sha256(request_id.encode()).digest()
    return int.from_bytes(digest[:16]) if request_id else 0


class TracingMiddleware:
    """A span for each request, named by method and view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer inside the span."""
        method = method_name(request)
        attributes: dict[str, Any] = {"http.request.method": method}
        with spans.open_span("request", **attributes) as note:
            response = self.get_response(request)
            view = view_name(request)
            note("name", f"{method} {view}")
            note("http.route", view)
            note("http.response.status_code", response.status_code)
        return response


# Middleware for ids and durations of requests, with or without traces.


class RequestIdMiddleware:
    """Takes the proxy's id of a request or makes one; it comes back in the answer and is in the log."""

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
        from distillery.prometheus import HTTP_SECONDS  # noqa: PLC0415  # makes its folder

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


# Lines of the log, as JSON for programs that collect them (LOG_FORMAT=json).


class RequestIdFilter(logging.Filter):
    """Gives every record the id of the request that it belongs to."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        record.request_id = current_request_id()
        return True


class SecurityFormatter(logging.Formatter):
    """A security event with the id of the request in which it happened, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The event as one line."""
        event: dict[str, Any] = getattr(record, "event", {"event": record.getMessage()})
        line = {**event, "request_id": getattr(record, "request_id", "")}
        return json.dumps(line, ensure_ascii=True)


class JsonFormatter(logging.Formatter):
    """One object per line: at, level, logger, message, request_id, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": getattr(record, "request_id", ""),
            "process": record.process,
            "thread": record.threadName,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
