"""An hour of a busy marketplace: 200 workers, 100,000 HITs, a requester's scripts, all at once.

    python -m benchmarks.market_hour [--database postgres] [--minutes 20] [--workers 200] [--hits 100000]

The hour is the marketplace's own: its clock, and the people, run three times as fast where it takes twenty
minutes. Each person and each script is a thread with a pace in seconds of that clock.
"""

import random
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from benchmarks import common
from benchmarks.browser import Browser, Page, frame_of
from benchmarks.common import Figure, memory_mib, percentile, run_step, spread
from benchmarks.load import Job, Result, run_together
from benchmarks.marketplace import ANSWER, enter
from tests.clients import external_question, mturk_client, post_json
from tests.server import RunningServer

#: Processes that the workers are spread over.
CROWDS = 4
#: What is wanted: 95 of 100 answers within this time; memory that stays as it is.
WITHIN_MS, MORE_MIB = 100.0, 24.0
#: Seconds of the hour between accepting and submitting, between sweeps, between two published HITs.
WORK_SECONDS, SWEEP_EVERY, PUBLISH_EVERY = (40.0, 160.0), 10, 2
RETURNED, ABANDONED, REJECTED, BONUSED = 0.03, 0.02, 0.04, 0.05
LISTS = ["/", "/", "/?sort=reward", "/?sort=available", "/?page=2", "/?page=3", "/?q=passage+question"]
_GROUP = re.compile(rb'href="/projects/([A-Z0-9]+)/tasks"')
_HIT = re.compile(rb'name="hit_id" value="([A-Z0-9]+)"')
_NEXT = re.compile(rb"/tasks/continue/\d+")


class Hour:
    """The time that is left, a pace, and what one person or script saw."""

    def __init__(self, deadline: float, job: Job, seed: int) -> None:
        self.deadline, self.speed = deadline, job["speed"]
        self.random, self.result = random.Random(seed), Result()

    @property
    def is_over(self) -> bool:
        """Whether the hour has passed."""
        return time.perf_counter() >= self.deadline

    def wait(self, seconds: float) -> bool:
        """Let so many seconds of the hour pass; whether there is time left."""
        time.sleep(max(0.0, min(seconds / self.speed, self.deadline - time.perf_counter())))
        return not self.is_over

    def between(self, low: float, high: float) -> bool:
        """Let some time between these pass."""
        return self.wait(self.random.uniform(low, high))

    def count(self, name: str) -> None:
        """Note that something happened."""
        self.result.times.setdefault(f"#{name}", []).append(1.0)


Task = Callable[[Hour], None]


def run_job(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One process of the hour: some workers, or a requester's scripts, or the clock."""
    tasks: list[Task]
    if job["kind"] == "workers":
        tasks = [Person(enter({**job, **cookie})).live for cookie in job["people"]]
    elif job["kind"] == "requester":
        tasks = [Script(job, behaviour).live for behaviour in (publish, review, walk_hits, watch)]
    else:
        tasks = [lambda hour: keep_time(hour, job)]
    deadline = line_up()
    hours = [Hour(deadline, job, job["seed"] + number) for number in range(len(tasks))]
    threads = [
        threading.Thread(target=_guard, args=pair) for pair in zip(tasks, hours, strict=True)
    ]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for hour in hours:
        result.merge(hour.result)


def _guard(task: Task, hour: Hour) -> None:
    try:
        task(hour)
    except Exception as error:
        hour.result.refuse(f"{type(error).__name__}: {error}")


class Person:
    """A worker in front of a browser."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser

    def live(self, hour: Hour) -> None:
        """Look for a group, work in it for a while, look at the earnings, look for another."""
        self.hour = hour
        hour.between(0, sum(WORK_SECONDS))
        while not hour.is_over:
            page = self.get("groups", hour.random.choice(LISTS))
            groups = sorted({group.decode() for group in _GROUP.findall(page.body)})
            if groups and hour.between(5, 20):
                self.work_in(hour.random.choice(groups))
                self.get("earnings", hour.random.choice(["/dashboard", "/history", "/tasks"]))

    def work_in(self, group: str) -> None:
        """Preview, accept, work, submit; then the next ones of the group."""
        previewed = _HIT.search(self.get("preview", f"/projects/{group}/tasks").body)
        if previewed is None:
            self.hour.wait(10)
            return
        fields = {"hit_id": previewed[1].decode()}
        while self.hour.between(2, 10):
            if not self.work_on_next(group, fields) or self.hour.random.random() < 0.2:
                return
            fields = {}

    def work_on_next(self, group: str, fields: dict[str, str]) -> bool:
        """One assignment from its acceptance on; whether the worker goes on in the group."""
        accepted = self.post("accept", f"/projects/{group}/tasks/accept", fields)
        if "assignment_id=" not in accepted.location:
            self.hour.count("overtaken")  # somebody was faster, or nothing is left: the page says so
            return False
        page = self.get("working page", accepted.location)
        if page.status != 200 or not self.hour.between(*WORK_SECONDS):
            return False
        assignment, path = frame_of(page)
        lot = self.hour.random.random()
        if lot < ABANDONED:
            return False
        if lot < ABANDONED + RETURNED:
            back = accepted.location.partition("?")[0] + "/return"
            self.post("return", back, {"assignment_id": assignment})
            return False
        answer = {"assignmentId": assignment, "answer": ANSWER}
        following = _NEXT.search(self.post("submit", path, answer, own=False).body)
        if following is None:
            return False
        self.hour.result.done += 1
        self.get("after submitting", following[0].decode())
        return True

    def get(self, name: str, path: str) -> Page:
        """A GET that must succeed."""
        return self.note(name, (200,), lambda: self.browser.get(re.sub(r"^https?://[^/]+", "", path)))

    def post(self, name: str, path: str, fields: dict[str, str], *, own: bool = True) -> Page:
        """A POST that leads on to another page, or that the marketplace takes from a task's frame."""
        return self.note(
            name, (302, 303) if own else (200,), lambda: self.browser.post(path, fields, own=own)
        )

    def note(self, name: str, statuses: tuple[int, ...], ask: Callable[[], Page]) -> Page:
        """One request, timed; another status is an error."""
        now = time.perf_counter()
        page = ask()
        self.hour.result.add(name, now)
        if page.status not in statuses:
            self.hour.result.refuse(f"{name} {page.status} {page.location} {page.body[:200]!r}")
        return page


class Script:
    """A requester's script with a client of its own."""

    def __init__(self, job: Job, behaviour: "Callable[[Script], Iterator[float]]") -> None:
        self.client = mturk_client(job["endpoint"], job["access_key"], job["secret"])
        self.behaviour = behaviour

    def live(self, hour: Hour) -> None:
        """Call, pause as long as the behaviour says, and so on until the hour is over."""
        self.hour = hour
        for pause in self.behaviour(self):
            if not hour.wait(pause):
                return

    def call(self, operation: str, **parameters: Any) -> Any:
        """One call, timed under its name; None where it was refused."""
        now, answer = time.perf_counter(), None
        try:
            answer = getattr(self.client, operation)(**parameters)
        except (ClientError, BotoCoreError) as error:
            self.hour.result.refuse(f"{operation}: {error}")
        self.hour.result.add(self.client.meta.method_to_api_mapping[operation], now)
        self.hour.result.done += 1
        return answer


def publish(script: Script) -> Iterator[float]:
    """New HITs of a type, one by one, all through the hour."""
    properties = {"Title": "Fresh questions", "Description": "Posted while others work.", "Reward": "0.15"}
    hit_type = script.call("create_hit_type", AssignmentDurationInSeconds=600, **properties)["HITTypeId"]
    question = external_question("http://127.0.0.1:9/task")
    while True:
        hit = {"HITTypeId": hit_type, "LifetimeInSeconds": 86_400, "MaxAssignments": 3}
        if script.call("create_hit_with_hit_type", Question=question, **hit):
            script.hour.count("published")
        yield PUBLISH_EVERY


def review(script: Script) -> Iterator[float]:
    """Every minute: what is reviewable, its assignments, a decision on each, a bonus for some."""
    while True:
        token: dict[str, str] = {}
        while page := script.call("list_reviewable_hits", MaxResults=100, **token):
            for hit in page["HITs"]:
                if not hit["Title"].startswith("Auto-approved"):
                    _decide(script, hit["HITId"])
                    yield 0
            if not page["NumResults"]:
                break
            token = {"NextToken": page["NextToken"]}
        yield 60


def _decide(script: Script, hit: str) -> None:
    chance = script.hour.random.random
    page = script.call("list_assignments_for_hit", HITId=hit, AssignmentStatuses=["Submitted"])
    for work in page["Assignments"] if page else []:
        assignment = {"AssignmentId": work["AssignmentId"]}
        if chance() < REJECTED:
            script.call("reject_assignment", RequesterFeedback="No answer in it.", **assignment)
            script.hour.count("rejected")
            continue
        script.call("approve_assignment", **assignment)
        script.hour.count("approved")
        if chance() < BONUSED:
            bonus = {"BonusAmount": "0.05", "Reason": "Good work.", "WorkerId": work["WorkerId"]}
            script.call("send_bonus", **bonus, **assignment)
            script.hour.count("bonuses")
    script.call("update_hit_review_status", HITId=hit)


def walk_hits(script: Script) -> Iterator[float]:
    """What old scripts do to know where they stand: all HITs there are, a hundred at a time, once."""
    token: dict[str, str] = {}
    while (page := script.call("list_hits", MaxResults=100, **token)) and page["NumResults"]:
        token = {"NextToken": page["NextToken"]}
        yield 3


def watch(script: Script) -> Iterator[float]:
    """A dashboard that asks about this and that."""
    while True:
        script.call("get_account_balance")
        page = script.call("list_hits", MaxResults=20)
        for hit in (page or {"HITs": []})["HITs"][:3]:
            script.call("get_hit", HITId=hit["HITId"])
            script.call("list_assignments_for_hit", HITId=hit["HITId"])
        yield 20


def keep_time(hour: Hour, job: Job) -> None:
    """Move the marketplace's clock, and write down every second how much memory of its own the server has."""
    last, late = time.perf_counter(), 0.0
    while not hour.is_over:
        time.sleep(min(1.0, max(0.0, hour.deadline - time.perf_counter())))
        now = time.perf_counter()
        late += (now - last) * (hour.speed - 1)
        last = now
        if int(late):
            post_json(f"{job['url']}/mturk/test/clock", {"advance_seconds": int(late)}, job["token"])
            late -= int(late)
        memory = sum(memory_mib("RssAnon", pid) for pid in job["pids"])
        hour.result.times.setdefault("#memory", []).append(memory)


# The table


def measure(server: RunningServer, minutes: float, workers: int, hits: int) -> Iterator[Figure]:
    """Everybody at work for the hour, and what came of it."""

    def make(*words: object) -> Any:
        return run_step("benchmarks.market_rows", *words, environment=server.environment)["value"]

    seconds, speed = minutes * 60, 60 / minutes
    keys, parts = make("requester"), urlsplit(server.url)
    make("stock", hits)
    people = make("workers", workers)
    yield Figure("database", make("settle"))
    common_part = {"host": parts.hostname, "port": parts.port, "url": server.url, "speed": speed}
    jobs = [{"kind": "workers", "people": people[number::CROWDS]} for number in range(CROWDS)]
    jobs.append({"kind": "requester", "endpoint": server.api_url, **keys})
    jobs.append({"kind": "clock", "pids": server.pids, "token": server.test_token})
    seeded = [{**common_part, **job, "seed": 1_000 * number} for number, job in enumerate(jobs)]
    with ThreadPoolExecutor(1) as pool:
        sweeps = pool.submit(make, "timer", int(seconds), f"{SWEEP_EVERY / speed:.3f}")
        result = run_together(run_job, seeded, seconds, pids=server.pids)
    yield Figure("the sweep", spread(sweeps.result()), note=f"every {SWEEP_EVERY} s of the hour")
    yield from _describe(result, make("count"), seconds)


def _describe(result: Result, rows: dict[str, Any], seconds: float) -> Iterator[Figure]:
    memory = result.times.pop("#memory")
    counts = {name[1:]: len(times) for name, times in result.times.items() if name.startswith("#")}
    times = {name: values for name, values in result.times.items() if not name.startswith("#")}
    requests = sum(map(len, times.values()))
    each = result.server * 1000 / max(1, requests)
    note = f"{requests / seconds:.0f}/s, {each:.1f} ms of the server's processors each"
    yield Figure("requests in the hour", f"{requests:,}", note=note)
    yield Figure("errors", str(result.refused), "0", not result.refused, "; ".join(result.troubles[:2]))
    decisions = [rows["approved"] - rows["auto_approved"], rows["rejected"], rows["bonuses"]]
    orders = [counts.get(name, 0) for name in ("approved", "rejected", "bonuses")]
    yield Figure("approved, rejected, bonuses", str(decisions), str(orders), decisions == orders)
    submitted = rows["submitted"] + rows["approved"] + rows["rejected"]
    yield Figure("submitted, with their answers", f"{submitted:,}", f"{rows['answers']:,}")
    yield Figure("faults of the ledger", "; ".join(rows["faults"]) or "none", "none", not rows["faults"])
    for title, is_call in (("pages of workers", False), ("calls of requesters", True)):
        names = [name for name in times if name[0].isupper() == is_call]
        together = [value for name in names for value in times[name]]
        is_quick = percentile(together, 0.95) < WITHIN_MS
        yield Figure(title, spread(together), f"p95 < {WITHIN_MS:.0f} ms", is_quick, f"{len(together):,}")
        for name in sorted(names):
            yield Figure(f"- {name}", spread(times[name]), note=f"{len(times[name]):,}")
    start, end = memory[len(memory) // 20], memory[-1]
    sizes = f"{start:.0f}, {memory[len(memory) // 2]:.0f}, {end:.0f} MiB"
    yield Figure("memory at 5, 50, 100 %", sizes, f"grows < {MORE_MIB:.0f} MiB", end - start < MORE_MIB)


def main() -> int:
    """Measure; 1 where a goal was missed."""
    parser = common.parser_of(__doc__)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="postgres")
    parser.add_argument("--minutes", type=float, default=20, help="what the hour takes")
    parser.add_argument("--workers", type=int, default=200)
    parser.add_argument("--hits", type=int, default=100_000, help="open HITs at the start")
    options = parser.parse_args()
    print(common.describe_machine("waitress", "boto3", "psycopg2-binary"))
    server = RunningServer(workers=common.PROCESSES, threads=common.THREADS)  # with test controls
    with common.use_database(options.database), server:
        figures = measure(server, options.minutes, options.workers, options.hits)
        return int(not common.print_table("An hour of a busy marketplace", figures))


if __name__ == "__main__":
    sys.exit(main())
