"""The demonstration's own server: `manage.py up` as a process beside this one."""

import contextlib
import ctypes
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

START_SECONDS = 60
STOP_SECONDS = 30
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Server:
    """A server that answers, with its words in `log`."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

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
    """A server on `port` for as long as the block runs.

    Raises CommandError with the server's last words where it does not come up.
    """
    log = settings.DATA_DIR / "server.log"
    environment = {**os.environ, "PORT": str(port)}
    with log.open("wb") as words:
        process = subprocess.Popen(  # noqa: S603  # our own manage.py
            [sys.executable, str(settings.BASE_DIR / "manage.py"), "up"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,  # noqa: PLW1509  # no thread was started yet
        )
    server = Server(process, f"http://localhost:{port}", log)
    try:
        _wait_until_healthy(server, port)
        yield server
    finally:
        _stop(process)


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_until_healthy(server: Server, port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        if _healthy(port):
            return
        time.sleep(0.1)
    words = server.log.read_text(encoding="utf-8", errors="replace")
    raise CommandError(f"The server did not start. Its last words:\n{words[-3000:]}")


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
