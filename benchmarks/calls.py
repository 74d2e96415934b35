"""What calls of the protocol and the steps of a worker take of a processor, in one process with all middleware.

    .venv/bin/python -m benchmarks.calls --count 300
    .venv/bin/python -m benchmarks.calls --profile submit

Rates by the wall's clock say little on a machine that others use as well; seconds of the processor do. Each request
goes through the WSGI application as gunicorn would hand it over, and what its database process takes is added on
PostgreSQL (DATABASE_URL). Nothing of a client is counted.
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
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.server import drop_database, new_database

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
    theirs: Counter[str] = field(default_factory=Counter)
    statements: dict[str, int] = field(default_factory=dict)
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
        self.theirs[step] += (_backend_seconds() - theirs) * 1000  # type: ignore[assignment]
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
        url = new_database(Path(folder))
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
    group = ""
    for number in range(count + warm):
        if number == warm:
            meter.own.clear()
            meter.theirs.clear()
            meter.profile.clear()
        create = script.prepare(
            "CreateHITWithHITType", HITTypeId=hit_type, UniqueRequestToken=f"n{number}", **hit
        )
        group = _result(meter.run("CreateHITWithHITType", create))["HIT"]["HITGroupId"]
        whole = script.prepare("CreateHIT", UniqueRequestToken=f"w{number}", **properties, **hit)
        _good(meter.run("CreateHIT", whole), 200)
        accepted = _good(
            meter.run("accept", lambda: browser.post(f"/projects/{group}/tasks/accept", {})), 302
        )
        location = accepted.headers["Location"]
        page = _good(meter.run("page", lambda: browser.ask("GET", location)), 200)  # noqa: B023  # called at once
        fields, submit_path = _form_of(page)
        _good(
            meter.run(
                "submit",
                lambda: browser.post(submit_path, fields | {"answer": fill.ANSWER}, own=False),  # noqa: B023  # as above
            ),
            200,
        )
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


def count_statements(meter: Meter) -> None:
    """Statements of each step when it is warm, with BEGIN and COMMIT."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    counted = Meter()
    run = counted.run

    def counting(step: str, work: Callable[[], Answer]) -> Answer:
        with CaptureQueriesContext(connection) as queries:
            answer = run(step, work)
        meter.statements[step] = len(queries)
        return answer

    counted.run = counting  # type: ignore[method-assign]
    measure(counted, 2, warm=2)


def main() -> int:
    """Print the table, or a profile of one step."""
    parser = argparse.ArgumentParser(description="Measure the processor time of calls.")
    parser.add_argument("--count", type=int, default=300, help="how often each step is measured")
    parser.add_argument("--profile", default="", help="print where this step spends its time")
    arguments = parser.parse_args()
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
