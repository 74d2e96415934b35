"""What calls of the protocol and steps of a worker take of a processor, in one process with all middleware.

    .venv/bin/python -m benchmarks.calls --count 300
    .venv/bin/python -m benchmarks.calls --profile submit
    .venv/bin/python -m benchmarks.calls --http

Rates by the wall's clock say little on a machine that others use as well; seconds of the processor do. Each
request goes through the WSGI application as a server would hand it over, and what its database process takes
is added on PostgreSQL (DATABASE_URL). Nothing of a client is counted. `--http` asks a real server instead,
with boto3 and lean browsers, and counts what the server's processes took.
"""

import argparse
import cProfile
import io
import json
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from benchmarks.load import Result
from tests.server import RunningServer, drop_database, new_database

HOST = "127.0.0.1:8000"
TARGET = "MTurkRequesterServiceV20170117."
#: Steps of a worker's cycle, in their order; the others are calls of a requester.
CYCLE = ("accept", "page", "submit")


@dataclass
class Answer:
    """What the application answered."""

    status: int
    headers: dict[str, str]
    cookies: dict[str, str]
    body: bytes


@dataclass
class Meter:
    """Milliseconds of the processor by step: of this process, and of the one that serves its database."""

    own: dict[str, list[float]] = field(default_factory=dict)
    theirs: dict[str, float] = field(default_factory=dict)
    profiled: str = ""
    profile: cProfile.Profile = field(default_factory=cProfile.Profile)

    def run(self, step: str, work: Callable[[], Answer]) -> Answer:
        """Do one step and note what it took."""
        theirs = _backend_seconds()
        if step == self.profiled:
            self.profile.enable()
        started = time.process_time()
        answer = work()
        taken = time.process_time() - started
        self.profile.disable()
        self.own.setdefault(step, []).append(taken * 1000)
        self.theirs[step] = self.theirs.get(step, 0.0) + (_backend_seconds() - theirs) * 1000
        return answer


def _backend_seconds() -> float:
    """Seconds of the processor that the database's process of this connection has taken; 0 for SQLite."""
    from django.db import connection

    if connection.vendor != "postgresql" or connection.connection is None:
        return 0.0
    stat = Path(f"/proc/{connection.connection.info.backend_pid}/stat").read_text(encoding="ascii")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Client:
    """Hands requests to the application, as a web server does."""

    def __init__(self) -> None:
        from distillery.wsgi import application

        self._application = application
        self.cookies: dict[str, str] = {}

    def ask(self, method: str, target: str, body: bytes = b"", **environ: str) -> Answer:
        """One request; its cookies are kept."""
        path, _, query = target.partition("?")
        request: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": HOST,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            **environ,
        }
        if self.cookies and "HTTP_COOKIE" not in request:
            request["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        found: dict[str, Any] = {}

        def start(status: str, headers: list[tuple[str, str]], *_: Any) -> None:
            found.update(status=int(status[:3]), headers=headers)

        response = self._application(request, start)
        content = b"".join(response)
        response.close()
        for name, value in found["headers"]:
            if name.lower() == "set-cookie":
                self.cookies.update([value.strip().partition(";")[0].split("=", 1)])
        return Answer(found["status"], dict(found["headers"]), self.cookies, content)

    def post(self, target: str, fields: dict[str, str], *, own: bool = True) -> Answer:
        """A form, with the site's token unless it is not our own."""
        if own:
            fields = fields | {"csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}
        return self.ask(
            "POST",
            target,
            urlencode(fields).encode(),
            CONTENT_TYPE="application/x-www-form-urlencoded",
            **({} if own else {"HTTP_COOKIE": ""}),
        )


class Script:
    """A requester's script that signs as boto3 does."""

    def __init__(self, client: Client, access_key: str, secret: str) -> None:
        from botocore.credentials import Credentials

        self._client, self._credentials = client, Credentials(access_key, secret)

    def prepare(self, operation: str, **parameters: Any) -> Callable[[], Answer]:
        """A signed call that is ready to be made, so that signing is not measured."""
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest

        body = json.dumps(parameters).encode()
        request = AWSRequest(
            "POST",
            f"http://{HOST}/mturk/api",
            data=body,
            headers={"X-Amz-Target": TARGET + operation, "Content-Type": "application/x-amz-json-1.1"},
        )
        request.context["timestamp"] = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
        SigV4Auth(self._credentials, "mturk-requester", "us-east-1").add_auth(request)
        environ = {
            "CONTENT_TYPE": request.headers["Content-Type"],
            "HTTP_X_AMZ_TARGET": request.headers["X-Amz-Target"],
            "HTTP_X_AMZ_DATE": request.headers["X-Amz-Date"],
            "HTTP_AUTHORIZATION": request.headers["Authorization"],
            "HTTP_COOKIE": "",
        }
        return lambda: self._client.ask("POST", "/mturk/api", body, **environ)


def _good(answer: Answer, *statuses: int) -> Answer:
    if answer.status not in statuses:
        raise RuntimeError(f"{answer.status} {answer.headers} {answer.body[:400]!r}")
    return answer


def _result(answer: Answer) -> Any:  # JSON
    return json.loads(_good(answer, 200).body)


@contextmanager
def _installation() -> Iterator[None]:
    """Django on a database that has all tables and no rows; the database goes with the block."""
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        url, server = new_database(Path(folder)), os.environ.get("DATABASE_URL")
        os.environ.update(
            DATABASE_URL=url,
            DATA_DIR=folder,
            DJANGO_SETTINGS_MODULE="distillery.settings",
            MARKETPLACE_TEST_TOKEN="",
            MARKETPLACE_REQUESTS_PER_SECOND="0",
            SECOND_FACTOR="off",
        )
        import django
        from django.db import connections

        django.setup()
        try:
            yield
        finally:
            connections.close_all()
            if server:
                os.environ["DATABASE_URL"] = server  # a database is dropped from beside it
            drop_database(url)


def measure(meter: Meter, count: int, *, warm: int = 20) -> None:
    """Each step so often, the first ones for nothing."""
    from benchmarks import fill

    client, browser = Client(), Client()
    script = Script(client, **fill.requester())
    person = fill.web_workers(1)[0]
    _good(browser.ask("GET", "/accounts/login/"), 200)
    _good(browser.post("/accounts/login/", person), 302)
    properties = {
        "Title": "t",
        "Description": "d",
        "Reward": "0.10",
        "AssignmentDurationInSeconds": 600,
        "AutoApprovalDelayInSeconds": 86_400,
    }
    hit_type = _result(script.prepare("CreateHITType", **properties)())["HITTypeId"]
    hit = {"MaxAssignments": 1, "LifetimeInSeconds": 3600, "Question": fill.QUESTION}
    for number in range(count + warm):
        if number == warm:
            meter.own.clear()
            meter.theirs.clear()
            meter.profile.clear()
        create = script.prepare(
            "CreateHITWithHITType", HITTypeId=hit_type, UniqueRequestToken=f"n{number}", **hit
        )
        group = _result(meter.run("CreateHITWithHITType", create))["HIT"]["HITGroupId"]
        accept = partial(browser.post, f"/projects/{group}/tasks/accept", {})
        whole = script.prepare("CreateHIT", UniqueRequestToken=f"w{number}", **properties, **hit)
        _good(meter.run("CreateHIT", whole), 200)
        accepted = _good(meter.run("accept", accept), 302)
        page = _good(meter.run("page", partial(browser.ask, "GET", accepted.headers["Location"])), 200)
        fields, path = _form_of(page)
        submit = partial(browser.post, path, fields | {"answer": fill.ANSWER}, own=False)
        _good(meter.run("submit", submit), 200)
        approve = script.prepare("ApproveAssignment", AssignmentId=fields["assignmentId"])
        _good(meter.run("ApproveAssignment", approve), 200)


def _form_of(page: Answer) -> tuple[dict[str, str], str]:
    from html import unescape

    from benchmarks.browser import FRAME

    found = FRAME.search(page.body)
    assert found is not None
    query = parse_qs(urlsplit(unescape(found[1].decode())).query)
    return {
        "assignmentId": query["assignmentId"][0]
    }, f"{urlsplit(query['turkSubmitTo'][0]).path}/mturk/externalSubmit"


def _server_seconds(server: RunningServer) -> float:
    """Seconds of the processor that the processes of a server have taken."""
    total = 0
    for pid in server.pids:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
        total += sum(map(int, stat.rpartition(")")[2].split()[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def measure_server(count: int) -> int:
    """The same over HTTP: what a call and a cycle take of the processes of a server, parsing included."""
    from benchmarks.marketplace import PROCESSES, THREADS, UNLIMITED
    from benchmarks.measures import Bench, _cycle, _enter
    from tests.clients import mturk_client

    with RunningServer(environment=UNLIMITED, workers=PROCESSES, threads=THREADS) as server:
        bench = Bench(server, "sqlite", 1)
        client = mturk_client(server.api_url, **bench.requester)
        hit_type = client.create_hit_type(
            Title="t", Description="d", Reward="0.10", AssignmentDurationInSeconds=600
        )["HITTypeId"]
        group = bench.fill("hits", count + 50, 1, "calls")
        browser = _enter(bench.job(bench.people[0], group))
        result = Result()

        def create() -> None:
            client.create_hit_with_hit_type(
                HITTypeId=hit_type, LifetimeInSeconds=3600, Question=fill_question
            )

        fill_question = (
            '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
            '2006-07-14/ExternalQuestion.xsd"><ExternalURL>https://tasks.example.org/1</ExternalURL>'
            "<FrameHeight>600</FrameHeight></ExternalQuestion>"
        )
        for what, work in (
            ("CreateHITWithHITType", create),
            ("a worker's cycle", lambda: _cycle(browser, group, result)),
        ):
            for _ in range(20):
                work()
            before = _server_seconds(server)
            for _ in range(count):
                work()
            print(f"{what} | {(_server_seconds(server) - before) / count * 1000:.2f} ms of the server")
        if result.refused:
            raise RuntimeError(f"{result.refused} cycles were refused: {result.troubles}")
    return 0


def main() -> int:
    """Print the table, or a profile of one step."""
    parser = argparse.ArgumentParser(description="Measure the processor time of calls.")
    parser.add_argument("--count", type=int, default=300, help="how often each step is measured")
    parser.add_argument("--profile", default="", help="print where this step spends its time")
    parser.add_argument("--http", action="store_true", help="ask a server of two processes over HTTP")
    arguments = parser.parse_args()
    if arguments.http:
        return measure_server(arguments.count)
    meter = Meter(profiled=arguments.profile)
    with _installation():
        measure(meter, arguments.count)
    if arguments.profile:
        pstats.Stats(meter.profile).sort_stats("tottime").print_stats(45)
        pstats.Stats(meter.profile).sort_stats("cumulative").print_stats(70)
        return 0
    cycle = 0.0
    print("step | processor, mean ms | median ms | database, mean ms")
    for step, times in meter.own.items():
        mean, theirs = sum(times) / len(times), meter.theirs[step] / len(times)
        cycle += mean if step in CYCLE else 0
        print(f"{step} | {mean:.2f} | {median(times):.2f} | {theirs:.2f}")
    print(f"a worker's cycle | {cycle:.2f} | | {sum(meter.theirs[s] for s in CYCLE) / arguments.count:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
