"""PostgreSQL or its clients are stopped at once: what was answered is there, and nothing is by half."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.server import ROOT, load_services

pytestmark = pytest.mark.only_on("postgresql")
#: Answers before each stop, and how often the server is stopped.
ANSWERS, STOPS = 100, 2

#: Four threads that change one balance in turn; each line that they print is an answer.
CLIENTS = """
import os, threading, uuid
import django
django.setup()
from django.db import DatabaseError, connection, transaction

def answer():
    while True:
        token = uuid.uuid4().hex
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute("INSERT INTO entry VALUES (%s, 3)", [token])
                cursor.execute("UPDATE balance SET cents = cents + 3")
        except DatabaseError:
            return
        os.write(1, f"{token}\\n".encode())

threads = [threading.Thread(target=answer) for _ in range(4)]
[each.start() for each in threads]
[each.join() for each in threads]
"""


@pytest.fixture
def cluster():
    """A PostgreSQL of the test's own that writes to the disk: what starts it, and the folder of its data."""
    module = load_services()
    user = module.service_user()
    # Not pytest's folder: a socket's path has 107 characters at most, and PostgreSQL does not run as root.
    folder = Path(tempfile.mkdtemp(prefix="power-cut-", dir="/tmp"))
    if user is not None:
        shutil.chown(folder, user)
    with contextlib.ExitStack() as running:
        yield lambda: module.start_postgres(folder, user, running, durable=True), folder / "data"
    shutil.rmtree(folder, ignore_errors=True)


def query(url, sql):
    done = subprocess.run(
        ["psql", "--no-psqlrc", "--tuples-only", "--no-align", url, "-c", sql],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def stop_at_once(data):
    """What `pg_ctl stop -m immediate` does: nothing is written any more, as in a power cut."""
    os.kill(int((data / "postmaster.pid").read_text().splitlines()[0]), signal.SIGQUIT)


@pytest.mark.parametrize("who", ["server", pytest.param("client", marks=pytest.mark.long)])
def test_what_was_answered_is_there_after_a_power_cut(cluster, tmp_path, who):
    start, data = cluster
    url = start()
    query(url, "CREATE TABLE entry (token text PRIMARY KEY, cents int); CREATE TABLE balance (cents int)")
    query(url, "INSERT INTO balance VALUES (0)")
    answered = []
    for _ in range(STOPS):
        environment = {
            **os.environ,
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "distillery.settings",
            "DATA_DIR": str(tmp_path),
            "SECRET_KEY": "k" * 50,
        }
        with subprocess.Popen(
            [sys.executable, "-c", CLIENTS],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as clients:
            assert clients.stdout is not None
            answered += [clients.stdout.readline().strip() for _ in range(ANSWERS)]
            if who == "server":
                stop_at_once(data)
            else:
                clients.kill()
            answered += clients.stdout.read().split()
        if who == "server":
            url = start()
        there = query(url, "SELECT token FROM entry")
        assert len(answered) >= ANSWERS
        assert set(answered) <= set(there)
        assert query(url, "SELECT cents FROM balance") == [str(3 * len(there))]
