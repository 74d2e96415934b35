"""A table for effects, and real workers on the database and broker of the test process."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.conf import settings
from django.db import connection

from distillery.celery import app

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 60


def eventually(condition, *, what):
    """Wait until the condition holds, long enough for a machine that is busy with other things."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_SECONDS} s for: {what}"
        time.sleep(0.05)


@pytest.fixture
def effect_table(transactional_db):
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE test_effects (name varchar(100))")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE test_effects")


@pytest.fixture
def empty_queue():
    app.control.purge()
    yield
    app.control.purge()


@pytest.fixture
def start_worker(effect_table, empty_queue):
    """Starts a worker process with a lease of two seconds that does not poll the table; gives the process."""
    started = []

    def start(**settings_of_this_one):
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "distillery.settings",
            "DATA_DIR": str(settings.DATA_DIR),
            "DATABASE_URL": database_url_of_this_test(),
            "JOBS_LEASE_SECONDS": "2",
            "JOBS_POLL_SECONDS": "3600",
            "PYTHONWARNINGS": "ignore",
            **settings_of_this_one,
        }
        command = [sys.executable, "-m", "tests.jobs.worker"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def database_url_of_this_test():
    """The database of this test, for another process."""
    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        return f"sqlite:///{name}"
    return urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))
