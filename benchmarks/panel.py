"""Measures reading and booking 10,000 submissions of a simulated Prolific study: one command, one table.

    .venv/bin/python -m benchmarks.panel --submissions 10000

The panel simulator runs in a process of its own on a state filled beforehand; everything is asked of it over
HTTP. The database is a new SQLite file, or the empty one that DATABASE_URL names.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django
import urllib3

ROOT = Path(__file__).resolve().parent.parent
_FOLDER = tempfile.TemporaryDirectory()
os.environ.setdefault("DATABASE_URL", f"sqlite:///{_FOLDER.name}/distillery.sqlite3")
os.environ.setdefault("DATA_DIR", _FOLDER.name)
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
django.setup()

from django.core.management import call_command  # noqa: E402

from crowd import budget  # noqa: E402
from crowd.adapters.base import CallSuccess  # noqa: E402
from crowd.adapters.prolific_client import MOST_APPROVALS, ProlificClient  # noqa: E402
from crowd.models import Assignment, PanelStudy, Stage, Worker  # noqa: E402
from crowd.services import panels  # noqa: E402
from crowd.services.endpoints import create_endpoint  # noqa: E402
from crowd.simulation import prolific_submissions  # noqa: E402
from crowd.simulation.prolific_server import Simulator, WireCall  # noqa: E402
from crowd.simulation.prolific_state import Options  # noqa: E402
from tests.crowd import world  # noqa: E402
from tests.crowd.panels.worlds import draft  # noqa: E402

TOKEN = "benchmark"
_PER_HIT = 100
WANTED_PER_SECOND = 500


def fill_panel(path: Path, count: int) -> tuple[str, str, list[tuple[str, str]]]:
    """A state with a full study: its workspace, its id, and submissions with their participants."""
    simulator = Simulator(path, TOKEN, Options(balance=10**9))
    state = simulator.state
    ask = Caller(simulator)
    study = ask("POST", "/api/v1/studies/", draft(total_available_places=count))["id"]
    ask("POST", f"/api/v1/studies/{study}/transition/", {"action": "PUBLISH"})
    people = ask("POST", "/_control/participants", {"n": count})["ids"]
    made = []
    with state.call():
        for person in people:
            submission = prolific_submissions.reserve_place(state, study, person)
            prolific_submissions.open_study(state, submission)
            prolific_submissions.complete(state, submission, "DONE")
            made.append((submission["id"], person))
        workspace = state.fact("workspace")
    simulator.close()
    return workspace, study, made


class Caller:
    """Calls of a simulator in this process."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    def __call__(self, method: str, path: str, body: Any = None) -> Any:
        """What a call answers."""
        raw = b"" if body is None else json.dumps(body).encode()
        return self._simulator.answer(WireCall(method, path, TOKEN, raw)).body


@contextmanager
def running_panel(path: Path) -> Iterator[str]:
    """The simulator's address while it runs."""
    process = subprocess.Popen(
        [
            sys.executable,
            "manage.py",
            "panel-simulator",
            "--port",
            "0",
            "--token",
            TOKEN,
            "--state",
            str(path),
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[3].removesuffix("/api/v1/,")
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def make_stage(url: str, workspace: str, study: str, known: list[tuple[str, str]]) -> Stage:
    """A stage whose people answered, each with an assignment; the panel was not asked yet."""
    endpoint = create_endpoint(name="panel", preset="prolific", url=url, access_key=workspace, secret=TOKEN)
    now = datetime.now(UTC)
    stage = world.make_stage(
        endpoint, world.make_project(10**9), reward_cents=160, budget_cents=10**9, redundancy=1
    )
    PanelStudy.objects.create(
        stage=stage, endpoint=endpoint, external_id=study, state="open", places=len(known), created_at=now
    )
    workers = Worker.objects.bulk_create(
        Worker(endpoint=endpoint, external_id=person, first_seen_at=now) for _, person in known
    )
    hits = [
        world.make_hit(stage, f"item:{number}", places=_PER_HIT, fee_cents=64)
        for number in range(-(-len(known) // _PER_HIT))
    ]
    Assignment.objects.bulk_create(
        Assignment(
            stage=stage,
            hit=hits[number // _PER_HIT],
            worker=workers[number],
            external_id=submission,
            state=Assignment.State.SUBMITTED,
            arrived_at=now,
            stored_at=now,
            submitted_at=now,
            response={},
        )
        for number, (submission, _) in enumerate(known)
    )
    whole = budget.Cost(160 * len(known), 64 * len(known))
    budget.reserve(stage, whole, budget.MovementPurpose("benchmark"), at=now)
    return stage


def measure(count: int, folder: Path) -> list[tuple[str, float]]:
    """What was measured, per second."""
    workspace, study, known = fill_panel(folder / "panel.sqlite3", count)
    call_command("migrate", verbosity=0)
    figures = []

    def time_it(name: str, what: Callable[[], int]) -> None:
        begun = time.perf_counter()
        done = what()
        figures.append((f"{name} ({done:,})", done / (time.perf_counter() - begun)))

    with running_panel(folder / "panel.sqlite3") as url:
        client = ProlificClient(url=url, token=TOKEN)
        stage = make_stage(url, workspace, study, known)

        def sync() -> int:
            panels.sync(stage, force=True)
            return count

        time_it("listed by the client", lambda: len(list(client.submissions(study))))
        time_it("looked at one by one", lambda: len([client.submission(key) for key, _ in known[:1_000]]))
        time_it("read and stored for the first time", sync)
        time_it("read again, nothing new", sync)
        for start in range(0, count, MOST_APPROVALS):
            chosen = [key for key, _ in known[start : start + MOST_APPROVALS]]
            assert isinstance(client.approve_in_bulk(chosen), CallSuccess)
        # The simulator answers when all that became due is done, here ten thousand payments.
        urllib3.request("POST", f"{url}/_control/clock", json={"seconds": 120}, timeout=600)
        time_it("approved at the panel: read, stored and booked", sync)
        assert stage.assignments.filter(state="approved").count() == count
        paid = client.ask("GET", "/_control/payments").document()["total"]
        spent = sum(stage.assignments.filter(state="approved").values_list("hit__reward_cents", flat=True))
        assert paid == spent, "the books do not agree"
    return figures


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=10_000)
    given = parser.parse_args()
    figures = measure(given.submissions, Path(_FOLDER.name))
    print("| submissions | per second | wanted |")
    print("|---|---|---|")
    for name, rate in figures:
        print(f"| {name} | {rate:,.0f} | {WANTED_PER_SECOND} |")


if __name__ == "__main__":
    main()
