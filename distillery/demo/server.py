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
