"""Spans reach a collector over HTTP, and what belongs to one request is one trace."""

import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from core.jobs import handlers, runner, spans
from core.jobs.services import enqueue
from core.jobs.spans import HEADER, request_id_of
from crowd.adapters.base import MarketplaceDownError
from crowd.adapters.mturk import Account, MTurkAdapter
from distillery import traces
from distillery.checks import check_tracing
from distillery.traces import RequestIdMiddleware


class Collector(ThreadingHTTPServer):
    """Takes spans; refuses all other calls as a marketplace that is down does."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.batches: list[bytes] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Taking(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_spans = self.path == "/v1/traces"
        if is_spans:
            self.server.batches.append(body)
        self.send_response(200 if is_spans else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def collector(monkeypatch):
    """A collector, and this process as one that sends to it."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
    server = Collector()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    for name in ("OTEL_SDK_DISABLED", "OTEL_TRACES_SAMPLER", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.address)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    traces.provider.cache_clear()
    traces.connect()
    yield server
    spans.install(None)
    traces.provider().shutdown()
    traces.provider.cache_clear()
    server.shutdown()
    server.server_close()


def sent_to(collector) -> list:
    """Every span that came, with the name of the service that sent it as `service`."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    assert traces.provider().force_flush()
    found = []
    for batch in collector.batches:
        for resource in ExportTraceServiceRequest.FromString(batch).resource_spans:
            found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


def attributes_of(span) -> dict:
    kinds = ("string_value", "int_value", "bool_value", "double_value")
    return {
        each.key: next(getattr(each.value, kind) for kind in kinds if each.value.HasField(kind))
        for each in span.attributes
    }


@pytest.mark.django_db
def test_a_page_its_job_and_the_jobs_call_are_one_trace(collector, monkeypatch):
    adapter = MTurkAdapter(Account(f"{collector.address}/mturk/api", "us-east-1", "AK", "secret", rate=0.0))

    def work(_):
        with pytest.raises(MarketplaceDownError):
            adapter.check()

    def page(request):
        enqueue(kind="tests.traced", payload={})
        return HttpResponse(status=201)

    monkeypatch.setattr(handlers, "find", lambda _: work)
    asked = RequestFactory().get("/desk/secret-slug/?token=secret")
    answer = RequestIdMiddleware(traces.TracingMiddleware(page))(asked)
    job = runner.services.Job.objects.get()
    runner.run(job_id=job.pk)
    by_name = {span.name: span for span in sent_to(collector)}
    assert set(by_name) == {"GET none", "job tests.traced", "mturk GetAccountBalance"}
    assert {span.trace_id.hex() for span in by_name.values()} == {answer[HEADER]}
    assert by_name["mturk GetAccountBalance"].parent_span_id == by_name["job tests.traced"].span_id
    known = {name: attributes_of(span) for name, span in by_name.items()}
    assert {each["distillery.request_id"] for each in known.values()} == {answer[HEADER]}
    assert known["GET none"]["http.response.status_code"] == 201
    assert known["job tests.traced"]["job.outcome"] == "done"
    assert known["mturk GetAccountBalance"]["http.response.status_code"] == 503
    assert b"secret" not in b"".join(collector.batches)


def test_a_call_that_reaches_nobody_has_the_class_of_its_error(collector):
    adapter = MTurkAdapter(Account("http://127.0.0.1:1/mturk/api", "us-east-1", "AK", "secret", rate=0.0))
    with request_id_of("from-a-proxy"), pytest.raises(MarketplaceDownError):
        adapter.check()
    [span] = sent_to(collector)
    assert attributes_of(span)["error.type"] == "EndpointConnectionError"
    assert int(span.trace_id.hex(), 16) == traces.trace_id_of("from-a-proxy")


def test_what_goes_wrong_in_a_view_goes_on_to_its_caller(collector):
    def fail(_):
        raise ZeroDivisionError("an address of olga@example.org")

    with pytest.raises(ZeroDivisionError):
        traces.TracingMiddleware(fail)(RequestFactory().generic("WHATEVER", "/"))
    [span] = sent_to(collector)
    known = attributes_of(span)
    assert (span.status.code, known["error.type"]) == (2, "ZeroDivisionError")
    assert known["http.request.method"] == "other"
    assert b"olga" not in b"".join(collector.batches)


@pytest.mark.long
def test_nothing_is_imported_when_it_is_off():
    program = (
        "import sys, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings_test'\n"
        "import django; django.setup()\n"
        "from core.jobs.spans import is_on, open_span\n"
        "import crowd.adapters.mturk, distillery.traces\n"
        "with open_span('x') as note: note('a', 1)\n"
        "print(is_on(), [name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split("\n")[-2] == "False []"


@pytest.mark.parametrize(("wanted", "there", "found"), [(1, 0, ["distillery.E007"]), (1, 1, []), (0, 0, [])])
def test_a_collector_without_its_client_is_an_error_in_words(settings, monkeypatch, wanted, there, found):
    settings.TRACES = bool(wanted)
    monkeypatch.setattr(traces, "is_installed", lambda: bool(there))
    assert [each.id for each in check_tracing(None)] == found
