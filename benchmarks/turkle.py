"""Turkle beside our marketplace: the same load on a Turkle that is started for it.

The folder is a checkout of https://github.com/hltcoe/turkle with an environment of its own:

    git clone https://github.com/hltcoe/turkle && cd turkle
    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt gunicorn psycopg2-binary

Nothing is written into it. Turkle has its own settings but for the database, and gunicorn with as many
processes and threads as ours. A worker accepts the next task, opens its page and submits an answer, through
Turkle's site; one who is refused reads the page that says why, and tries again.
"""

import contextlib
import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.browser import Browser
from benchmarks.load import Job, Result, middle, p95, together
from benchmarks.measures import ANSWER, WORKERS, Figure
from tests.server import blank_database, drop_database, free_port

_SETTINGS = "from turkle_site.settings import *\nDATABASES = {{'default': {database!r}}}\n"
_STOCK = """
import json, sys
import django
django.setup()
from django.contrib.auth.models import User
from turkle.models import Batch, Project, Task
tasks, people = json.loads(sys.argv[1])
project = Project.objects.create(
    name="cycle",
    html_template="<p>${question}</p><textarea name='answer'></textarea>",
    fieldnames={"question": True},
)
batch = Batch.objects.create(name="cycle", project=project, assignments_per_task=3, filename="cycle.csv")
Task.objects.bulk_create(
    [Task(batch=batch, input_csv_fields={"question": f"question {number}"}) for number in range(tasks)]
)
names = [f"worker{number}" for number in range(people)]
for name in names:
    User.objects.create_user(name, password="a long password")
print(json.dumps({"batch": batch.pk, "names": names}))
"""


_ALERT = re.compile(rb'class="alert[^>]*>\s*([^<]+)')


class TurkleError(Exception):
    """The folder holds no Turkle that can be started."""


class Turkle:
    """A running Turkle with a batch of tasks and people, on a database that it alone has."""

    def __init__(self, folder: Path, place: Path, database: dict[str, str]) -> None:
        self.folder, self.port = folder.resolve(), free_port()
        self.python = self.folder / ".venv" / "bin" / "python"
        for needed in (self.folder / "turkle_site" / "settings.py", self.python):
            if not needed.exists():
                raise TurkleError(
                    f"{needed} is missing: give a checkout of Turkle with its environment in .venv"
                )
        (place / "measured_settings.py").write_text(_SETTINGS.format(database=database), encoding="utf-8")
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "PYTHON"))
        }
        self.environment = {
            **kept,
            "DJANGO_SETTINGS_MODULE": "measured_settings",
            "PYTHONPATH": os.pathsep.join([str(place), str(self.folder)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def call(self, *arguments: str) -> str:
        """Run Turkle's own Python; what it printed."""
        made = subprocess.run(
            [str(self.python), *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise TurkleError(f"{' '.join(arguments)[:80]}: {made.stderr[-1500:]}")
        return made.stdout

    def prepare(self, tasks: int) -> Any:  # JSON
        """Tables, a batch and people; the batch's key and the names."""
        self.call("-m", "django", "migrate", "--verbosity", "0")
        return json.loads(self.call("-c", _STOCK, json.dumps([tasks, WORKERS])).splitlines()[-1])

    @contextlib.contextmanager
    def running(self, processes: int, threads: int) -> Iterator[None]:
        """Its server, until the block ends."""
        numbers = ["--workers", str(processes), "--threads", str(threads)]
        address = ["--bind", f"127.0.0.1:{self.port}", "turkle_site.wsgi"]
        server = subprocess.Popen(
            [str(self.python), "-m", "gunicorn", *numbers, *address],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._wait(server)
            yield
        finally:
            server.terminate()
            server.wait(30)

    def _wait(self, server: "subprocess.Popen[bytes]") -> None:
        end = time.monotonic() + 60
        while time.monotonic() < end and server.poll() is None:
            with contextlib.suppress(OSError):
                Browser("127.0.0.1", self.port).get("/login/")
                return
            time.sleep(0.2)
        raise TurkleError("Turkle's server does not answer.")


def cycles(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One logged-in worker: accept the next task, open its page, submit an answer; again and again."""
    browser = Browser(job["host"], job["port"])
    browser.get("/login/")
    if browser.post("/login/", {"username": job["name"], "password": "a long password"}).status != 302:
        raise RuntimeError(f"{job['name']} could not log in")
    deadline = line_up()
    while time.perf_counter() < deadline:
        _cycle(browser, job["batch"], result)


def _cycle(browser: Browser, batch: int, result: Result) -> None:
    at = time.perf_counter()
    accepted = browser.get(f"/batch/{batch}/accept_next_task/")
    at = result.add("accept", at)
    path = urlsplit(accepted.location).path
    if "/assignment/" not in path:
        said = _ALERT.search(browser.get(path).body)
        return result.refuse(f"accept: {said[1].decode().strip() if said else accepted.location}")
    page = browser.get(path)
    at = result.add("page", at)
    if page.status != 200:
        return result.refuse(f"page {page.status} {page.location}")
    submitted = browser.post(path, {"answer": ANSWER})
    result.add("submit", at)
    if submitted.status != 302 or "accept_next_task" not in submitted.location:
        return result.refuse(f"submit {submitted.status} {submitted.location}")
    result.done += 1
    return None


def measure_turkle(folder: Path, seconds: float, processes: int, threads: int) -> list[Figure]:
    """Turkle's rate of whole assignments with eight workers, on DATABASE_URL's PostgreSQL or on SQLite."""
    with tempfile.TemporaryDirectory() as name, _database(Path(name)) as database:
        turkle = Turkle(folder, Path(name), database)
        known = turkle.prepare(int(seconds * 100) + 100)
        with turkle.running(processes, threads):
            common = {"host": "127.0.0.1", "port": turkle.port, "batch": known["batch"]}
            result = together(cycles, [{**common, "name": name} for name in known["names"]], seconds)
    steps = ", ".join(
        f"{step} {middle(times):.0f}/{p95(times):.0f} ms" for step, times in sorted(result.times.items())
    )
    what = f"Turkle: accept + page + submit, {WORKERS} workers"
    refused = f"{result.refused} of {result.done + result.refused}"
    return [
        Figure(what, f"{result.per_second:.1f}/s", note=f"median/p95: {steps}"),
        Figure("Turkle: refused under that load", refused, note="; ".join(result.troubles[:1])),
    ]


@contextlib.contextmanager
def _database(place: Path) -> Iterator[dict[str, str]]:
    """Django's settings of a database for Turkle alone."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        yield {"ENGINE": "django.db.backends.sqlite3", "NAME": str(place / "turkle.sqlite3")}
        return
    url = blank_database(place)
    parts = urlsplit(url)
    try:
        yield {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": parts.path.lstrip("/"),
            "USER": parts.username or "",
            "PASSWORD": parts.password or "",
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
        }
    finally:
        drop_database(url)
