"""Turkle beside our marketplace: the same load on a Turkle that is started for it.

The folder is a checkout of https://github.com/hltcoe/turkle with an environment of its own:

    git clone https://github.com/hltcoe/turkle && cd turkle
    python3 -m venv .venv && .venv/bin/pip install -r requirements.txt gunicorn psycopg2-binary

Turkle has its own settings but for the database, and gunicorn with as many processes and threads as ours. A
worker accepts the next task, opens its page and submits an answer, through Turkle's site; one who is refused
reads the page that says why, and tries again.
"""

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.browser import Browser
from benchmarks.common import PROCESSES, THREADS
from benchmarks.load import Job, Result, run_together
from tests.server import blank_database, drop_database, free_port

PASSWORD = "a long password"
WORKERS = 8
#: How many open the task page alone.
PAGE_WORKERS = 4
_STOCK = """
import json, sys
import django
django.setup()
from django.contrib.auth.models import User
from turkle.models import Batch, Project, Task
tasks, people, password = json.loads(sys.argv[1])
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
    User.objects.create_user(name, password=password)
print(json.dumps({"batch": batch.pk, "names": names}))
"""
_ALERT = re.compile(rb'class="alert[^>]*>\s*([^<]+)')


def measure_turkle(folder: Path, seconds: float, answer: str) -> dict[str, Result]:
    """Whole assignments, and the task page alone, on DATABASE_URL's PostgreSQL or on SQLite."""
    folder = folder.resolve()
    python = folder / ".venv/bin/python"
    with tempfile.TemporaryDirectory() as name, _database(Path(name)) as database:
        settings = f"from turkle_site.settings import *\nDATABASES = {{'default': {database!r}}}\n"
        (Path(name) / "measured_settings.py").write_text(settings, encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("DJANGO")}
        environment |= {
            "DJANGO_SETTINGS_MODULE": "measured_settings",
            "PYTHONPATH": f"{name}:{folder.resolve()}",
        }

        def run(*words: str) -> str:
            return subprocess.check_output([str(python), *words], cwd=folder, env=environment, text=True)

        run("-m", "django", "migrate", "--verbosity", "0")
        size = json.dumps([int(seconds * 100) + 100, WORKERS, PASSWORD])
        stock = json.loads(run("-c", _STOCK, size).splitlines()[-1])
        with _running(python, folder, environment) as (port, pid):
            job = {"port": port, "batch": stock["batch"], "answer": answer}
            jobs = [{**job, "name": worker} for worker in stock["names"]]
            return {
                f"accept, page, submit, {WORKERS} workers": run_together(
                    run_cycles, jobs, seconds, pids=[pid]
                ),
                f"task page, {PAGE_WORKERS} workers": run_together(
                    open_page, jobs[:PAGE_WORKERS], seconds, pids=[pid]
                ),
            }


@contextmanager
def _running(python: Path, folder: Path, environment: dict[str, str]) -> Iterator[tuple[int, int]]:
    """Turkle's server, until the block ends: its port and process."""
    port = free_port()
    numbers = ["--workers", str(PROCESSES), "--threads", str(THREADS), "--bind", f"127.0.0.1:{port}"]
    command = [str(python), "-m", "gunicorn", "--log-level", "error", *numbers, "turkle_site.wsgi"]
    server = subprocess.Popen(command, cwd=folder, env=environment)
    end = time.monotonic() + 60
    try:
        while time.monotonic() < end and server.poll() is None:
            with suppress(OSError):
                Browser("127.0.0.1", port).get("/login/")
                break
            time.sleep(0.2)
        yield port, server.pid
    finally:
        server.terminate()
        server.wait(30)


def run_cycles(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One worker who is signed in: cycle after cycle."""
    browser = Browser("127.0.0.1", job["port"])
    browser.sign_in("/login/", job["name"], PASSWORD)
    deadline = line_up()
    while time.perf_counter() < deadline:
        work_on_next(browser, job, result)


def open_page(job: Job, line_up: Callable[[], float], result: Result) -> None:
    """One worker who opens the page of the same task again and again."""
    browser = Browser("127.0.0.1", job["port"])
    browser.sign_in("/login/", job["name"], PASSWORD)
    path = ""
    while "/assignment/" not in path:
        path = urlsplit(browser.get(f"/batch/{job['batch']}/accept_next_task/").location).path
    deadline = line_up()
    while (now := time.perf_counter()) < deadline:
        page = browser.get(path)
        result.add("page", now)
        if page.status == 200:
            result.done += 1
        else:
            result.refuse(f"page {page.status} {page.location}")


def work_on_next(browser: Browser, job: Job, result: Result) -> None:
    """Accept the next task, open its page, submit an answer."""
    now = time.perf_counter()
    accepted = browser.get(f"/batch/{job['batch']}/accept_next_task/")
    now = result.add("accept", now)
    path = urlsplit(accepted.location).path
    if "/assignment/" not in path:
        alert = _ALERT.search(browser.get(path).body)
        return result.refuse(f"accept: {alert[1].decode().strip() if alert else accepted.location}")
    page = browser.get(path)
    now = result.add("page", now)
    if page.status != 200:
        return result.refuse(f"page {page.status} {page.location}")
    submitted = browser.post(path, {"answer": job["answer"]})
    result.add("submit", now)
    if submitted.status != 302 or "accept_next_task" not in submitted.location:
        return result.refuse(f"submit {submitted.status} {submitted.location}")
    result.done += 1
    return None


@contextmanager
def _database(folder: Path) -> Iterator[dict[str, object]]:
    """Django's settings of a database for Turkle alone."""
    url = blank_database(folder)
    parts = urlsplit(url)
    name = parts.path[1:]
    if parts.scheme == "sqlite":
        yield {"ENGINE": "django.db.backends.sqlite3", "NAME": name}
        return
    access = {"USER": parts.username, "PASSWORD": parts.password, "HOST": parts.hostname, "PORT": parts.port}
    try:
        yield {"ENGINE": "django.db.backends.postgresql", "NAME": name, **access}
    finally:
        drop_database(url)
