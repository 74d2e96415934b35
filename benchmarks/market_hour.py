"""What workers and requesters do in the hour that `benchmarks/market_load.py` measures.

Everybody has a pace in seconds of the marketplace's clock, which runs `speed` times as fast as the real one.
Each function is one person or one script, in a thread of its own.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from benchmarks.browser import Browser, Frame, Page, frame_of
from benchmarks.load import Job, Result
from benchmarks.measures import ANSWER
from tests.clients import external_question, mturk_client, post_json

#: Seconds of the simulated hour between accepting a HIT and submitting it.
WORKING = (40.0, 160.0)
RETURNED, ABANDONED = 0.03, 0.02
#: Of submitted work.
REJECTED, BONUSED = 0.04, 0.05
PUBLISHED_PER_MINUTE = 30
GROUP = re.compile(rb'href="/projects/([A-Z0-9]+)/tasks"')
HIT_FIELD = re.compile(rb'name="hit_id" value="([A-Z0-9]+)"')
NO_MORE = re.compile(rb"No HIT of this group is left|You cannot accept this yet")
NEXT = re.compile(rb"/tasks/continue/\d+")
LOCAL = re.compile(r"^https?://[^/]+")


class Hour:
    """The time that is left, and a pace."""

    def __init__(self, deadline: float, speed: float, seed: int) -> None:
        self.deadline, self.speed = deadline, speed
        self.random = random.Random(seed)

    @property
    def over(self) -> bool:
        """Whether the hour has passed."""
        return time.perf_counter() >= self.deadline

    def wait(self, seconds: float) -> bool:
        """Let so many seconds of the hour pass; whether there is time left."""
        time.sleep(max(0.0, min(seconds / self.speed, self.deadline - time.perf_counter())))
        return not self.over


def run(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One process of the hour: some workers, or a requester's scripts, or the clock."""
    tasks = {"workers": workers, "requester": scripts, "clock": keep_time}[job["kind"]](job)
    deadline = line_up()
    parts = [Result() for _ in tasks]
    threads = [
        threading.Thread(target=_guarded, args=(task, Hour(deadline, job["speed"], job["seed"] + n), part))
        for n, (task, part) in enumerate(zip(tasks, parts, strict=True))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for part in parts:
        result.done += part.done
        result.refused += part.refused
        result.troubles += part.troubles
        for step, times in part.times.items():
            result.times.setdefault(step, []).extend(times)


Task = Callable[[Hour, Result], None]


def _guarded(task: Task, hour: Hour, result: Result) -> None:
    try:
        task(hour, result)
    except Exception as error:
        result.refuse(f"{type(error).__name__}: {error}")


# Workers


def workers(job: Job) -> list[Task]:
    """People in front of browsers."""
    return [_Person(job, who).live for who in job["people"]]


class _Person:
    def __init__(self, job: Job, who: dict[str, str]) -> None:
        self.browser = Browser(job["host"], job["port"])
        self.browser.cookies[who["cookie"]] = who["session"]

    def live(self, hour: Hour, result: Result) -> None:
        """Look for a group, work in it for a while, look at one's earnings, look for another."""
        self.hour, self.result = hour, result
        if not hour.wait(hour.random.uniform(0, sum(WORKING))):
            return
        while not hour.over:
            group = self.look_for_work()
            if group is None or not hour.wait(hour.random.uniform(5, 20)):
                continue
            self.work_in(group)
            if hour.over:
                return
            self.page(
                *hour.random.choice(
                    [("earnings", "/dashboard"), ("history", "/history"), ("queue", "/tasks")]
                )
            )

    def look_for_work(self) -> str | None:
        """The list of groups, in some order and on some page; one of them."""
        choose = self.hour.random.choice
        query = choose(
            ["", "", "?sort=reward", "?sort=available", "?page=2", "?page=3", "?q=passage+question"]
        )
        listed = self.page("groups", "/" + query)
        groups = sorted({each.decode() for each in GROUP.findall(listed.body)})
        return choose(groups) if groups else None

    def work_in(self, group: str) -> None:
        """Preview, accept, work, submit; then the next ones of the group."""
        previewed = self.page("preview", f"/projects/{group}/tasks")
        found = HIT_FIELD.search(previewed.body)
        if found is None:
            if not NO_MORE.search(previewed.body):
                self.result.refuse(f"preview {previewed.status} without a HIT: {previewed.body[:200]!r}")
            self.hour.wait(10)
            return
        fields = {"hit_id": found[1].decode()}
        while self.hour.wait(self.hour.random.uniform(2, 10)):
            if not self.do_one(group, fields) or self.hour.random.random() < 0.2:
                return
            fields = {}

    def do_one(self, group: str, fields: dict[str, str]) -> bool:
        """One assignment from its acceptance on; whether the worker goes on in the group."""
        accepted = self.post("accept", f"/projects/{group}/tasks/accept", fields)
        if "assignment_id=" not in accepted.location:
            self.note("overtaken")  # somebody was faster, or nothing is left: the page says so
            return False
        working = self.page("working page", accepted.location)
        if working.status != 200 or not self.hour.wait(self.hour.random.uniform(*WORKING)):
            return False
        frame = frame_of(working)
        chance = self.hour.random.random()
        if chance < ABANDONED:
            self.note("walked away")
            return False
        if chance < ABANDONED + RETURNED:
            own = {"assignment_id": frame.assignment_id}
            self.post("return", accepted.location.partition("?")[0] + "/return", own)
            return False
        return self.submit(frame)

    def submit(self, frame: Frame) -> bool:
        """Post the form in the frame, and see what comes after."""
        at = time.perf_counter()
        answer = {"assignmentId": frame.assignment_id, "answer": ANSWER}
        submitted = self.browser.post(frame.submit_path, answer, own=False)
        self.result.add("submit", at)
        after = NEXT.search(submitted.body)
        if submitted.status != 200 or after is None:
            self.result.refuse(f"submit {submitted.status} {submitted.body[:200]!r}")
            return False
        self.result.done += 1
        self.page("after submitting", after[0].decode())
        return True

    def page(self, name: str, path: str) -> Page:
        """A GET that must succeed."""
        at = time.perf_counter()
        page = self.browser.get(LOCAL.sub("", path))
        self.result.add(name, at)
        if page.status != 200:
            self.result.refuse(f"{name} {page.status} {page.location} {page.body[:200]!r}")
        return page

    def post(self, name: str, path: str, fields: dict[str, str]) -> Page:
        """A POST that leads on to another page."""
        at = time.perf_counter()
        page = self.browser.post(path, fields)
        self.result.add(name, at)
        if page.status not in (302, 303):
            self.result.refuse(f"{name} {page.status} {page.body[:200]!r}")
        return page

    def note(self, what: str) -> None:
        self.result.times.setdefault(f"#{what}", []).append(1.0)


# A requester's scripts


def scripts(job: Job) -> list[Task]:
    """Four scripts that run beside each other, each with a client of its own."""
    return [_Script(job, behaviour).live for behaviour in (_publish, _review, _walk, _watch)]


class _Script:
    def __init__(self, job: Job, behaviour: "Callable[[_Script], Iterator[float]]") -> None:
        self.client = mturk_client(job["endpoint"], job["access_key"], job["secret"])
        self.behaviour = behaviour

    def live(self, hour: Hour, result: Result) -> None:
        """Call, pause as long as the behaviour says, and so on until the hour is over."""
        self.hour, self.result = hour, result
        for pause in self.behaviour(self):
            if not hour.wait(pause):
                return

    def call(self, operation: str, **parameters: Any) -> Any:
        """One call, timed under its name; None where it was refused."""
        at = time.perf_counter()
        try:
            answer = getattr(self.client, operation)(**parameters)
        except (ClientError, BotoCoreError) as error:
            self.result.refuse(f"{operation}: {error}")
            answer = None
        self.result.add(self.client.meta.method_to_api_mapping[operation], at)
        self.result.done += 1
        return answer

    def note(self, what: str) -> None:
        self.result.times.setdefault(f"#{what}", []).append(1.0)


def _publish(script: _Script) -> Iterator[float]:
    """New HITs of a type, one by one, all through the hour."""
    made = script.call(
        "create_hit_type",
        Title="Fresh questions",
        Description="Posted while others work.",
        Reward="0.15",
        AssignmentDurationInSeconds=600,
    )
    for number in range(10**9):
        published = script.call(
            "create_hit_with_hit_type",
            HITTypeId=made["HITTypeId"],
            LifetimeInSeconds=86_400,
            MaxAssignments=3,
            Question=external_question("http://127.0.0.1:9/task"),
            RequesterAnnotation=f"unit {number}",
            UniqueRequestToken=f"publish-{number}",
        )
        if published:
            script.note("published")
        yield 60 / PUBLISHED_PER_MINUTE


def _review(script: _Script) -> Iterator[float]:
    """Every minute: what is reviewable, its assignments, a decision on each, a bonus for some, put away."""
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


def _decide(script: _Script, hit_id: str) -> None:
    chance = script.hour.random.random
    found = script.call(
        "list_assignments_for_hit", HITId=hit_id, AssignmentStatuses=["Submitted"], MaxResults=100
    )
    for work in found["Assignments"] if found else []:
        assignment_id = work["AssignmentId"]
        if chance() < REJECTED:
            script.call("reject_assignment", AssignmentId=assignment_id, RequesterFeedback="No answer in it.")
            script.note("rejected")
            continue
        script.call("approve_assignment", AssignmentId=assignment_id)
        script.note("approved")
        if chance() < BONUSED:
            script.call(
                "send_bonus",
                AssignmentId=assignment_id,
                WorkerId=work["WorkerId"],
                BonusAmount="0.05",
                Reason="Good work.",
                UniqueRequestToken=f"bonus-{assignment_id}",
            )
            script.note("bonus")
    script.call("update_hit_review_status", HITId=hit_id)


def _walk(script: _Script) -> Iterator[float]:
    """What old scripts do to know where they stand: all HITs there are, a hundred at a time, once an hour."""
    token: dict[str, str] = {}
    while page := script.call("list_hits", MaxResults=100, **token):
        if not page["NumResults"]:
            return
        for _ in page["HITs"]:
            script.note("listed")
        token = {"NextToken": page["NextToken"]}
        yield 3


def _watch(script: _Script) -> Iterator[float]:
    """A dashboard that asks about this and that."""
    while True:
        script.call("get_account_balance")
        page = script.call("list_hits", MaxResults=20)
        for hit in (page or {"HITs": []})["HITs"][:3]:
            script.call("get_hit", HITId=hit["HITId"])
            script.call("list_bonus_payments", HITId=hit["HITId"])
            work = script.call("list_assignments_for_hit", HITId=hit["HITId"])
            for each in work["Assignments"][:1] if work else []:
                script.call("get_assignment", AssignmentId=each["AssignmentId"])
        yield 20


# The clock


def keep_time(job: Job) -> list[Task]:
    """Moves the marketplace's clock, and writes down every second how much memory the server has."""

    def tick(hour: Hour, result: Result) -> None:
        before = processor_s(job["pids"])
        last = time.perf_counter()
        owed = 0.0
        while not hour.over:
            time.sleep(min(1.0, max(0.0, hour.deadline - time.perf_counter())))
            now = time.perf_counter()
            owed += (now - last) * (hour.speed - 1)
            last = now
            if int(owed):
                post_json(f"{job['url']}/mturk/test/clock", {"advance_seconds": int(owed)}, job["test_token"])
                owed -= int(owed)
            result.times.setdefault("memory", []).append(memory_mib(job["pids"]))
        result.times["processor"] = [processor_s(job["pids"]) - before]

    return [tick]


def processor_s(pids: list[int]) -> float:
    """Processor time that the server's processes have used so far."""
    ticks = 0
    for pid in pids:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(after_name[11]) + int(after_name[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_mib(pids: list[int]) -> float:
    """Memory of the server's processes; what they share is counted once (PSS)."""
    total = 0
    for pid in pids:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += int(re.search(r"^Pss: +(\d+)", text, re.M)[1])  # type: ignore[index]
    return total / 1024
