"""The marketplace over HTTP: creating HITs by boto3, workers' whole cycles, one page; Turkle in the same run.

    python -m benchmarks.marketplace --database sqlite postgres [--seconds 10] [--turkle FOLDER]

PostgreSQL writes to disk as an installation does (fsync on). Clients, server and database share the machine.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import common
from benchmarks.browser import Browser, frame_of
from benchmarks.common import Figure, run_step
from benchmarks.load import Job, Result, run_together
from benchmarks.turkle import WORKERS, measure_turkle
from tests.clients import external_question, mturk_client
from tests.server import RunningServer

CLIENTS = 4
ANSWER = "An answer of a usual length, in the worker's own words: it says what the passages say, and no more."
#: Wanted a second, by database.
GOALS = {"sqlite": {"create": 400, "cycle": 200}, "postgres": {"create": 400, "cycle": 150}}


class Bench:
    """A server with a requester and workers who are signed in."""

    def __init__(self, server: RunningServer, seconds: float) -> None:
        self.server, self.seconds = server, seconds
        self.keys = self.make("requester")
        parts = urlsplit(server.url)
        self.people = [
            {"host": parts.hostname, "port": parts.port, **worker} for worker in self.make("workers", WORKERS)
        ]

    def make(self, *words: object) -> object:
        """Rows in bulk; see `benchmarks.market_rows`."""
        return run_step("benchmarks.market_rows", *words, environment=self.server.environment)["value"]

    def load(self, work: Callable[..., None], jobs: list[Job]) -> Result:
        """So many processes for the time that a rate is measured."""
        return run_together(work, jobs, self.seconds, pids=self.server.pids)


def enter(job: Job) -> Browser:
    """The browser of a worker who is signed in."""
    browser = Browser(job["host"], job["port"])
    browser.cookies[job["cookie"]] = job["session"]
    browser.get("/")  # its CSRF token
    return browser


def work_on_next(browser: Browser, group: str, result: Result) -> None:
    """Accept the next HIT, open its working page, submit an answer."""
    now = time.perf_counter()
    accepted = browser.post(f"/projects/{group}/tasks/accept", {})
    now = result.add("accept", now)
    if accepted.status not in (302, 303) or "assignment_id=" not in accepted.location:
        return result.refuse(f"accept {accepted.status} {accepted.location} {accepted.body[:200]!r}")
    page = browser.get(accepted.location)
    now = result.add("page", now)
    if page.status != 200:
        return result.refuse(f"page {page.status} {page.location}")
    assignment, path = frame_of(page)
    submitted = browser.post(path, {"assignmentId": assignment, "answer": ANSWER}, own=False)
    result.add("submit", now)
    if submitted.status != 200:
        return result.refuse(f"submit {submitted.status} {submitted.body[:200]!r}")
    result.done += 1
    return None


def run_cycles(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One worker: cycle after cycle."""
    browser = enter(job)
    work_on_next(browser, job["group"], Result())
    deadline = line_up()
    while time.perf_counter() < deadline:
        work_on_next(browser, job["group"], result)


def open_page(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One worker who opens the working page of the same assignment again and again."""
    browser = enter(job)
    location = browser.post(f"/projects/{job['group']}/tasks/accept", {}).location
    deadline = line_up()
    while (now := time.perf_counter()) < deadline:
        page = browser.get(location)
        result.add("page", now)
        if page.status == 200:
            result.done += 1
        else:
            result.refuse(f"page {page.status}")


def create_hits(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One boto3 client that posts HITs of one type."""
    client = mturk_client(job["endpoint"], job["access_key"], job["secret"])
    hit_type = client.create_hit_type(
        Title="Posted by boto3", Description="Measured.", Reward="0.01", AssignmentDurationInSeconds=600
    )
    question = external_question("https://tasks.example.org/1")
    deadline = line_up()
    while (now := time.perf_counter()) < deadline:
        try:
            client.create_hit_with_hit_type(
                HITTypeId=hit_type["HITTypeId"],
                LifetimeInSeconds=3600,
                MaxAssignments=3,
                Question=question,
                UniqueRequestToken=f"{job['number']}-{result.done + result.refused}",
            )
            result.done += 1
        except client.exceptions.ClientError as error:
            result.refuse(str(error))
        result.add("create", now)


def measure_creation(bench: Bench) -> tuple[str, Result]:
    """`CreateHITWithHITType` by unmodified boto3 clients of one requester."""
    endpoint = bench.server.api_url
    jobs = [{"endpoint": endpoint, "number": number, **bench.keys} for number in range(CLIENTS)]
    return f"CreateHITWithHITType, {CLIENTS} boto3 clients", bench.load(create_hits, jobs)


def measure_cycles(bench: Bench) -> tuple[str, Result]:
    """Workers who all want the next HIT of one group."""
    places = int(bench.seconds * 300) + 100
    group = bench.make("hits", places // 3 + WORKERS, 3, "cycle")
    jobs = [{"group": group, **person} for person in bench.people]
    return f"accept, working page, submit, {WORKERS} workers", bench.load(run_cycles, jobs)


def measure_page(bench: Bench) -> tuple[str, Result]:
    """The working page alone."""
    group = bench.make("hits", WORKERS, 3, "pages")
    jobs = [{"group": group, **person} for person in bench.people[:CLIENTS]]
    return f"working page, {CLIENTS} workers", bench.load(open_page, jobs)


MEASURES = {"create": measure_creation, "cycle": measure_cycles, "page": measure_page}


def measure(database: str, seconds: float, names: list[str], turkle: Path | None) -> Iterator[Figure]:
    """All figures on one database, whose server starts empty; then Turkle's, on a database of its own."""
    with common.our_server() as server:
        bench = Bench(server, seconds)
        yield Figure("database", str(bench.make("settle")))
        for name in names:
            title, result = MEASURES[name](bench)
            goal = GOALS[database].get(name)
            met = result.per_second >= goal if goal else None
            rate = f"{result.per_second:.0f}/s, {result.refused} refused"
            yield Figure(title, rate, f"≥ {goal}/s" if goal else "", met, result.describe())
    if turkle:
        for title, result in measure_turkle(turkle, seconds, ANSWER).items():
            rate = f"{result.per_second:.1f}/s, {result.refused} refused"
            yield Figure(f"Turkle: {title}", rate, note=result.describe())


def main() -> int:
    """Measure what the command line asks for; 1 where a goal was missed."""
    parser = common.parser_of(__doc__)
    common.add_databases(parser)
    parser.add_argument("--seconds", type=float, default=10, help="how long each rate is measured")
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--turkle", type=Path, metavar="FOLDER", help="a checkout of Turkle")
    options = parser.parse_args()
    print(common.describe_machine("waitress", "boto3", "psycopg2-binary"))
    good = True
    for name in options.database:
        with common.use_database(name):
            figures = measure(name, options.seconds, options.only, options.turkle)
            good &= common.print_table(f"The marketplace on {name}", figures)
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
