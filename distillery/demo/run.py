"""The demonstration from beginning to end: its server, its campaigns, and what it prints."""

import contextlib
import ctypes
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection, connections
from django.urls import reverse
from rich.progress import track

from core.money import dollars
from core.projects.models import Project
from crowd.models import Stage
from crowd.simulation.accounts import Account
from distillery.demo import answers, campaigns, judging, lab, sources
from distillery.demo.answers import AnswersSummary
from distillery.demo.campaigns import Scene
from distillery.demo.judging import EvaluationSummary, JudgingSummary, ReleaseSummary
from distillery.demo.people import People, make_crowd, make_people
from distillery.demo.screen import MiddleSummary, Screen, SourcesSummary, StageSummary, tally, waiting_in
from distillery.demo.sources import DemoPanel, simulated_panel
from distillery.demo.task_pages import all_tasks
from distillery.demo.tour import mark
from distillery.empty_database import load_schema

# The demonstration's own server: `manage.py up` as a process beside this one.

START_SECONDS = 60
STOP_SECONDS = 30
#: Of prctl(2): the signal that the kernel sends a process when its parent dies.
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Server:
    """A server that was started, with its words in `log`."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Where it is reached from this machine."""
        return f"http://localhost:{self.port}"

    def wait_until_healthy(self) -> None:
        """Stay until it answers. Raises CommandError with its last words where it does not come up."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if _healthy(self.port):
                return
            time.sleep(0.1)
        words = self.log.read_text(encoding="utf-8", errors="replace")
        raise CommandError(f"The server did not start. Its last words:\n{words[-3000:]}")

    def wait(self) -> int:
        """Stay until the server ends by itself; gives its exit status."""
        return self.process.wait()


def choose_port(wanted: int) -> int:
    """The port that was asked for, or a free one where somebody listens on it already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", wanted))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(port: int) -> Iterator[Server]:
    """A server on `port` for as long as the block runs; it comes up while other things are done."""
    log = settings.DATA_DIR / "server.log"
    environment = {**os.environ, "PORT": str(port)}
    with log.open("wb") as words:
        process = subprocess.Popen(  # noqa: S603  # our own command
            [*settings.COMMAND, "up"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509  # no thread was started yet
        )
    try:
        yield Server(process, port, log)
    finally:
        _stop(process)


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Summary:
    """What the demonstration did, as `summary.json` keeps it; money in cents."""

    database: str
    url: str
    hits_posted: int
    assignments_offered: int
    assignments_done: int
    deposited_cents: int
    available_cents: int
    held_cents: int
    paid_cents: int
    fees_cents: int
    stages: list[StageSummary]
    filters: dict[str, Any]
    alpha: dict[str, float | None]
    release: ReleaseSummary | None
    evaluation: EvaluationSummary | None
    batch: lab.BatchSummary
    poll: lab.PollSummary
    answers: AnswersSummary
    judging: JudgingSummary | None
    middle: MiddleSummary
    sources: SourcesSummary
    wall_seconds: float


def demonstrate(*, wanted_port: int, stay: bool, started: float) -> None:
    """Set everything up, show it, and serve it until Ctrl-C (or, without `stay`, end there)."""
    screen = Screen()
    load_schema()
    call_command("migrate", verbosity=0, interactive=False)
    connections.close_all()
    screen.done(f"A {connection.vendor} database is ready; data lives in {settings.DATA_DIR}")
    port = choose_port(wanted_port)
    if port != wanted_port:
        screen.note(f"Port {wanted_port} is taken; using {port}")
    with running(port) as server:
        people = make_people()
        connections.close_all()
        screen.done(
            f"A researcher and a guest, two workers, a lab with ${dollars(people.requester.deposited_cents)} "
            "of play money"
        )
        server.wait_until_healthy()
        screen.done(f"The server answers on {server.url}")
        # The panel ends with the demonstration: who goes on with its study finds it as long as this runs.
        with simulated_panel(settings.DATA_DIR / f"panel{people.suffix}.sqlite3") as panel:
            summary = _campaigns(people, server, screen, started, panel)
            (settings.DATA_DIR / "summary.json").write_text(json.dumps(asdict(summary), indent=2) + "\n")
            _tell(people, server, screen, summary)
            if stay:
                screen.stay()
                server.wait()


def _campaigns(people: People, server: Server, screen: Screen, started: float, panel: DemoPanel) -> Summary:
    """HITs of the lab's script, a batch, a poll; campaigns that are finished, half done, of three sources."""
    requester = people.requester
    offered = _post(people, server, screen)
    workers = iter(
        make_crowd(
            lab.CROWD + lab.POLL_CROWD + campaigns.CROWD + campaigns.OPEN_CROWD + sources.CROWD, people.suffix
        )
    )
    requester.refresh_from_db()
    batch = lab.publish_batch(requester, workers=[next(workers) for _ in range(lab.CROWD)], site=server.url)
    screen.batch(batch)
    began = time.monotonic()
    stage, poll = _poll(people, [next(workers) for _ in range(lab.POLL_CROWD)], server, screen)
    seconds = {stage.pk: time.monotonic() - began}
    scene = Scene(people, stage.endpoint, workers, server.url, settings.DATA_DIR, screen)
    lines = answers.lines_of_log(judging.truths())
    done = campaigns.finish_campaign(scene, lines[::2])
    going = campaigns.start_campaign(scene, lines[1::2])
    three = sources.run_study(scene, panel, lab=requester)
    of_three = Project.objects.get(slug=three.project)
    mark(finished=done.project, middle=going.project, sources=of_three, actor=people.owner)
    ours = Stage.objects.filter(project__in=[done.project, going.project, stage.project]).order_by("pk")
    stages = tally(ours.select_related("project"), {**seconds, **done.seconds, **going.seconds})
    requester.refresh_from_db()
    screen.books(
        stages, requester.paid_cents, requester.fees_cents, by_script=(50, 10), of_three=three.paid_here
    )
    connections.close_all()
    return Summary(
        database=connection.vendor,
        url=server.url,
        hits_posted=offered // lab.ASSIGNMENTS_PER_HIT,
        assignments_offered=offered,
        assignments_done=1,
        deposited_cents=requester.deposited_cents,
        available_cents=requester.available_cents,
        held_cents=requester.held_cents,
        paid_cents=requester.paid_cents,
        fees_cents=requester.fees_cents,
        stages=stages,
        filters=done.filters,
        alpha={
            "before": done.judged.alpha_before if done.judged else None,
            "after": done.judged.alpha_after if done.judged else None,
            "cross_fitted": done.judged.alpha_cross_fitted if done.judged else None,
        },
        release=done.release,
        evaluation=done.evaluation,
        batch=batch,
        poll=poll,
        answers=answers.summarise(done.project, done.passages),
        judging=done.judged,
        middle=waiting_in(going.project),
        sources=three,
        wall_seconds=round(time.time() - started, 2),
    )


def _post(people: People, server: Server, screen: Screen) -> int:
    """Post HITs as any lab's script does, and do one by a script; how many assignments are on offer."""
    client = _key(people, server).client()
    hits = list(track(lab.post_hits(client, base_url=server.url), "Posting HITs", total=len(all_tasks())))
    screen.done(
        f"{len(hits)} HITs posted by boto3, for {lab.ASSIGNMENTS_PER_HIT} workers each at ${lab.REWARD}"
    )
    assignment_id = lab.Robot(server.url, people.script_token).work_on(hits[0])
    client.approve_assignment(AssignmentId=assignment_id, RequesterFeedback="Thank you, script.")
    screen.done("One assignment done by a scripted worker (marked simulated), approved and paid")
    return len(hits) * lab.ASSIGNMENTS_PER_HIT


def _poll(
    people: People, workers: list[Account], server: Server, screen: Screen
) -> tuple[Stage, lab.PollSummary]:
    """A stage of our own on the same marketplace, from opening to the last cent."""
    people.requester.refresh_from_db()
    paid_before = (people.requester.paid_cents, people.requester.fees_cents)
    stage = lab.open_poll(people, url=server.url, suffix=people.suffix)
    total = stage.redundancy * len(all_tasks()) // stage.units_per_hit
    screen.done(f"A poll stage is open: {total} assignments wanted, budget ${dollars(stage.budget_cents)}")
    with screen.progress("Simulated workers at work", total) as progress:
        lab.work_on_poll(stage, workers=workers, site=server.url, progress=progress)
    summary = lab.summarise_poll(stage, people, paid_before=paid_before)
    screen.money(summary)
    return stage, summary


def _tell(people: People, server: Server, screen: Screen, summary: Summary) -> None:
    if summary.release is not None:
        screen.released(summary.release)
    screen.key(_key(people, server))
    researcher = reverse("desk:project", args=[summary.answers.project])
    screen.links(server.url, researcher=researcher, people=people, study=summary.sources)


def _key(people: People, server: Server) -> lab.Key:
    return lab.Key(f"{server.url}/mturk/api", people.key.access_key, people.key.secret)
