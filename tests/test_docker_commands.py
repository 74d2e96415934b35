"""Every command of the container files, started for real in a data folder of its own."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.server import drop_database, free_port, new_database
from tests.test_docker import COMPOSE, DOCKER, ROOT

PATIENCE = 60


@pytest.fixture
def environment(tmp_path):
    """What the containers get from compose, with this test run's database server and broker."""
    database_url = new_database(tmp_path)
    yield {
        **{name: value for name, value in os.environ.items() if name not in {"PORT", "WEB_BIND"}},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "DATA_DIR": str(tmp_path),
        "DATABASE_URL": database_url,
        "ALLOWED_HOSTS": "crowd.example.org,127.0.0.1",
        "PYTHONUNBUFFERED": "1",
    }
    drop_database(database_url)


def command_of(name: str) -> list[str]:
    command: list[str] = COMPOSE["services"][name]["command"]
    return command


@contextmanager
def running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a service, and stop it as `docker stop` does: it has to end in ten seconds by itself."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text(encoding="utf-8")
    finally:
        process.kill()
        process.wait()


def wait_for(what: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        words = log.read_text(encoding="utf-8")
        assert process.poll() is None, words
        assert time.monotonic() < deadline, words
        time.sleep(0.2)


@pytest.mark.only_on("sqlite")
def test_a_migration_that_is_new_is_applied(environment, tmp_path):
    """One, for all take a minute: those are for the tests of the wheel and of the demonstration."""
    with closing(sqlite3.connect(tmp_path / "distillery.sqlite3")) as database, database:
        database.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        database.execute("DROP TABLE django_session")
    answer = subprocess.run(
        command_of("migrate"),
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert "Applying sessions.0001_initial... OK" in answer.stdout


def test_the_web_server_passes_its_own_health_check(environment, tmp_path):
    port, log = free_port(), tmp_path / "web.log"
    kind, *check = COMPOSE["services"]["web"]["healthcheck"]["test"]
    check = [word.replace("127.0.0.1:8000", f"127.0.0.1:{port}") for word in check]

    def healthy() -> bool:
        return subprocess.run(check, env=environment, capture_output=True, check=False).returncode == 0

    assert kind == "CMD"
    assert not healthy()
    with running(
        command_of("web"), {**environment, "PORT": str(port), "WEB_DRAIN_SECONDS": "600"}, log
    ) as process:
        wait_for(healthy, process, log)
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: not healthy(), process, log)
        answer = urlopen(f"http://127.0.0.1:{port}/health/")  # no connection is refused yet
        assert answer.status == 200
        # A second signal, which `running` sends, ends the wait.


@pytest.mark.long
def test_the_worker_starts_and_stops(environment, tmp_path):
    log = tmp_path / "worker.log"
    with running(command_of("worker"), environment, log) as process:
        wait_for(lambda: " ready." in log.read_text(encoding="utf-8"), process, log)


@pytest.mark.long
def test_the_timer_starts_and_stops(environment, tmp_path):
    log = tmp_path / "beat.log"
    with running(command_of("beat"), environment, log) as process:
        wait_for(lambda: "beat: Starting" in log.read_text(encoding="utf-8"), process, log)


def test_compose_builds_the_image_from_the_dockerfile_beside_it():
    build = COMPOSE["services"]["web"]["build"]
    assert (DOCKER / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).resolve() == DOCKER / "Dockerfile"
