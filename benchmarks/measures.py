"""What is measured, one function per figure of the table."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.browser import Browser, Frame, Page, frame_of
from benchmarks.first_page import processor_seconds
from benchmarks.load import Job, Result, Work, middle, p95, quiet, together
from tests.clients import mturk_client
from tests.server import ROOT, RunningServer

WORKERS = 8
CLIENTS = 4
ANSWER = "An answer of a usual length, in the worker's own words: it says what the passages say, and no more."
#: Rates that the project asks for, per second.
TARGETS = {
    "sqlite": {"cycle": 200.0, "page": 650.0, "create": 400.0},
    "postgres": {"cycle": 150.0, "page": 650.0, "create": 400.0},
}


@dataclass(frozen=True)
class Figure:
    """One line of the table."""

    what: str
    value: str
    target: str = ""
    met: bool | None = None
    note: str = ""


class Bench:
    """A server with people in it, ready to be measured."""

    def __init__(self, server: RunningServer, database: str, seconds: float) -> None:
        self.server, self.database, self.seconds = server, database, seconds
        self.host, port = server.url.removeprefix("http://").split(":")
        self.port = int(port)
        self.requester = self.fill("requester")
        self.people = self.fill("web_workers", WORKERS)

    def fill(self, what: str, *numbers: object) -> Any:  # JSON
        """Make data in bulk with the server's settings."""
        command = [sys.executable, "-m", "benchmarks.fill", what, *map(str, numbers)]
        made = subprocess.run(
            command, cwd=ROOT, env=self.server.environment, capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise RuntimeError(f"benchmarks.fill {what}: {made.stderr[-2000:]}")
        return json.loads(made.stdout)

    def job(self, person: dict[str, str], group_id: str) -> Job:
        """What a load process needs to be this person."""
        return {"host": self.host, "port": self.port, "group": group_id, **person}

    def run(self, work: Work, jobs: list[Job]) -> tuple[Result, str]:
        """The load, and what one of its operations took of the processor: of the server, and of who asks it.

        The database's own processes are not in it.
        """
        marks: list[float] = []
        result = together(
            work, jobs, self.seconds, begin=lambda: marks.append(processor_seconds(self.server))
        )
        server = (processor_seconds(self.server) - marks[0]) / max(1, result.done) * 1000
        asking = result.processor / max(1, result.done) * 1000
        return result, f"processor: server {server:.1f}, clients {asking:.1f} ms each"

    def target(self, name: str) -> float:
        """Rate to reach on this database."""
        return TARGETS[self.database][name]


def _enter(job: Job) -> Browser:
    browser = Browser(job["host"], job["port"])
    browser.log_in(job["username"], job["password"])
    return browser


def _accept(browser: Browser, group_id: str) -> Page:
    return browser.post(f"/projects/{group_id}/tasks/accept", {})


def _submit(browser: Browser, frame: Frame) -> Page:
    return browser.post(frame.submit_path, {"assignmentId": frame.assignment_id, "answer": ANSWER}, own=False)


# Accept, look, submit


def cycles(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One logged-in worker: accept the next HIT, open its working page, submit an answer; again and again."""
    browser = _enter(job)
    _cycle(browser, job["group"], Result())
    deadline = line_up()
    while time.perf_counter() < deadline:
        _cycle(browser, job["group"], result)


def _cycle(browser: Browser, group_id: str, result: Result) -> None:
    at = time.perf_counter()
    accepted = _accept(browser, group_id)
    at = result.add("accept", at)
    if accepted.status not in (302, 303) or "assignment_id=" not in accepted.location:
        return result.refuse(f"accept {accepted.status} {accepted.location} {accepted.body[:200]!r}")
    working = browser.get(accepted.location)
    at = result.add("page", at)
    if working.status != 200:
        return result.refuse(f"page {working.status} {working.location}")
    submitted = _submit(browser, frame_of(working))
    result.add("submit", at)
    if submitted.status != 200:
        return result.refuse(f"submit {submitted.status} {submitted.body[:200]!r}")
    result.done += 1
    return None


def full_cycle(bench: Bench) -> Iterator[Figure]:
    """Rate of whole assignments with eight workers who all want the next HIT of one group."""
    places = int(bench.seconds * 250) + 100
    group_id = bench.fill("hits", places // 3 + WORKERS, 3, "cycle")
    result, processor = bench.run(cycles, [bench.job(person, group_id) for person in bench.people])
    target = bench.target("cycle")
    steps = ", ".join(
        f"{step} {middle(times):.0f}/{p95(times):.0f} ms" for step, times in sorted(result.times.items())
    )
    yield Figure(
        f"accept + working page + submit, {WORKERS} workers",
        f"{result.per_second:.1f}/s",
        f"≥ {target:.0f}/s",
        result.per_second >= target,
        f"median/p95: {steps}; {processor}",
    )
    total = result.done + result.refused
    yield Figure(
        "refused under that load",
        f"{result.refused} of {total}",
        "0",
        result.refused == 0,
        "; ".join(result.troubles[:1]),
    )


# One page


def pages(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One logged-in worker who opens the working page of the same assignment again and again."""
    browser = _enter(job)
    location = _accept(browser, job["group"]).location
    browser.get(location)
    deadline = line_up()
    while (at := time.perf_counter()) < deadline:
        page = browser.get(location)
        result.add("page", at)
        if page.status == 200:
            result.done += 1
        else:
            result.refuse(f"page {page.status}")


def working_page(bench: Bench) -> Iterator[Figure]:
    """Rate of GETs of the working page."""
    group_id = bench.fill("hits", WORKERS, 3, "pages")
    people = bench.people[:CLIENTS]
    result = together(pages, [bench.job(person, group_id) for person in people], bench.seconds)
    target = bench.target("page")
    yield Figure(
        f"GET of a working page, {len(people)} workers",
        f"{result.per_second:.0f}/s",
        f"≥ {target:.0f}/s",
        result.per_second >= target and not result.refused,
        f"median/p95: {middle(result.times['page']):.1f}/{p95(result.times['page']):.1f} ms",
    )


def framed_pages(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One browser that opens the page for signing in again and again, beside those who work."""
    browser = Browser(job["host"], job["port"])
    path = "/accounts/login/"
    browser.get(path)
    deadline = line_up()
    while (at := time.perf_counter()) < deadline:
        page = browser.get(path)
        result.add("page", at)
        if page.status == 200:
            result.done += 1
        else:
            result.refuse(f"page {page.status}")


def framed_page(bench: Bench) -> Iterator[Figure]:
    """Rate of GETs of the sample task page that stands in the frame."""
    people = bench.people[:CLIENTS]
    result = together(framed_pages, [bench.job(person, "") for person in people], bench.seconds)
    yield Figure(
        f"GET of the task page inside the frame, {len(people)} browsers",
        f"{result.per_second:.0f}/s",
        note=f"median/p95: {middle(result.times['page']):.1f}/{p95(result.times['page']):.1f} ms"
        + "".join(f"; {trouble}" for trouble in result.troubles[:1]),
    )


# Accepting among few and among many


def accepts(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One worker alone who accepts and submits `count` times; accepting is what is timed."""
    browser = _enter(job)
    line_up()
    for number in range(job["count"]):
        _cycle(browser, job["group"], result)
        if number == 4:  # the first ones warm the server up
            result.times.clear()


def accept_cost(bench: Bench) -> Iterator[Figure]:
    """Time to accept with a thousand open HITs in the group, and with a hundred thousand."""
    found = []
    for count in (1_000, 100_000):
        group_id = bench.fill("hits", count, 3, f"{count} open")
        bench.fill("settle")
        job = {**bench.job(bench.people[0], group_id), "count": 150}
        result = together(accepts, [job], bench.seconds)
        times = result.times["accept"]
        found.append(quiet(times))
        steady = len(found) == 1 or found[1] <= found[0] * 1.5
        yield Figure(
            f"accept among {count:,} open HITs",
            f"{middle(times):.1f} ms",
            "" if len(found) == 1 else "as among 1,000",
            None if len(found) == 1 else steady and not result.refused,
            f"lower quartile {quiet(times):.1f} ms, p95 {p95(times):.1f} ms",
        )


# The requester's side


def creations(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One boto3 client that posts HITs of one type."""
    client = mturk_client(job["endpoint"], job["access_key"], job["secret"])
    properties = {"Title": "Posted by boto3", "Description": "Measured.", "Reward": "0.01"}
    hit_type = client.create_hit_type(AssignmentDurationInSeconds=600, **properties)["HITTypeId"]
    question = (
        '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
        'ExternalQuestion.xsd"><ExternalURL>https://tasks.example.org/1</ExternalURL>'
        "<FrameHeight>600</FrameHeight></ExternalQuestion>"
    )
    deadline = line_up()
    while (at := time.perf_counter()) < deadline:
        token = f"{job['number']}-{result.done + result.refused}"
        try:
            client.create_hit_with_hit_type(
                HITTypeId=hit_type,
                LifetimeInSeconds=3600,
                MaxAssignments=3,
                Question=question,
                UniqueRequestToken=token,
            )
            result.done += 1
        except client.exceptions.ClientError as error:
            result.refuse(str(error))
        result.add("create", at)


def creation(bench: Bench) -> Iterator[Figure]:
    """Rate of CreateHITWithHITType calls of unmodified boto3 clients."""
    jobs = [
        {"endpoint": bench.server.api_url, "number": number, **bench.requester} for number in range(CLIENTS)
    ]
    result, processor = bench.run(creations, jobs)
    target = bench.target("create")
    yield Figure(
        f"CreateHITWithHITType, {CLIENTS} boto3 clients",
        f"{result.per_second:.0f}/s",
        f"≥ {target:.0f}/s",
        result.per_second >= target and not result.refused,
        f"median/p95: {middle(result.times['create']):.1f}/{p95(result.times['create']):.1f} ms; {processor}"
        + "".join(f"; {trouble}" for trouble in result.troubles[:1]),
    )


def listing(bench: Bench) -> Iterator[Figure]:
    """Time of the first, a middle and the last page of a HIT with ten thousand submitted assignments."""
    count, size, rounds = 10_000, 100, 30
    hit_id = bench.fill("submitted", count)
    bench.fill("settle")
    client = mturk_client(bench.server.api_url, **bench.requester)

    def ask(token: dict[str, str]) -> Any:  # boto3's own
        return client.list_assignments_for_hit(HITId=hit_id, MaxResults=size, **token)

    tokens: list[dict[str, str]] = [{}]
    seen = 0
    while (page := ask(tokens[-1]))["NumResults"]:
        seen += page["NumResults"]
        tokens.append({"NextToken": page["NextToken"]})
    chosen = [tokens[0], tokens[len(tokens) // 2], tokens[-2]]
    times: list[list[float]] = [[] for _ in chosen]
    for _ in range(rounds):
        for taken, token in zip(times, chosen, strict=True):
            at = time.perf_counter()
            ask(token)
            taken.append((time.perf_counter() - at) * 1000)
    typical = [quiet(taken) for taken in times]
    yield Figure(
        f"ListAssignmentsForHIT, {size} of {count:,}: first, middle, last page",
        ", ".join(f"{value:.1f}" for value in typical) + " ms",
        "constant",
        max(typical) <= min(typical) * 1.5 and seen == count,
        f"lower quartile of {rounds}; {seen:,} seen on {len(tokens) - 1} pages",
    )


MEASURES: dict[str, Callable[[Bench], Iterator[Figure]]] = {
    "cycle": full_cycle,
    "page": working_page,
    "framed": framed_page,
    "accept": accept_cost,
    "create": creation,
    "list": listing,
}
