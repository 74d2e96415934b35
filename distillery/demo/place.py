"""Where the demonstration lives: a data folder of its own, which every run starts again, and its server.

Settings are read once per process, so the command starts itself again inside that folder. What the run before
left is kept beside it as `demo-previous`. A database given by DATABASE_URL is added to and never emptied.
"""

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

from distillery import lifeline
from distillery.demo.tour import STARTED
from distillery.supervisor import Probe

#: Settings of an installation that others reach under a name; a demonstration is for one's own machine.
ELSEWHERE = {
    *("ALLOWED_HOSTS", "BEHIND_TLS_PROXY", "CSRF_TRUSTED_ORIGINS", "DATA_STORAGE", "EMAIL_HOST", "EMAIL_URL"),
    *("PUBLIC_URL", "RELEASES_STORAGE", "TASK_URL", "WEB_BIND"),
}
FILE, LOG = Path(__file__).with_name("finished.tar.xz"), "server.log"
START_SECONDS = 120
#: A demonstration has no requests to finish: after this time the server is told again, and ends at once.
STOP_SECONDS = 0.5


def enter(*, live: bool) -> None:
    """Take the folder `demo` of the data folder, start the command again with its settings; never returns.

    Without `live`, the finished demonstration is unpacked into it. Raises CommandError where another
    demonstration is using the folder.
    """
    folder = settings.DATA_DIR / "demo"
    lock = os.open(folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CommandError(
            f"A demonstration is already running in {folder}. Stop it first, with Ctrl-C."
        ) from error
    os.set_inheritable(lock, True)  # it ends with the command that this process becomes
    if "DATABASE_URL" not in os.environ and folder.exists():
        previous = folder.with_name("demo-previous")
        shutil.rmtree(previous, ignore_errors=True)
        folder.rename(previous)
    if not live:
        folder.mkdir(mode=0o750)
        shutil.unpack_archive(FILE, folder)
    inherited = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    environment = {**inherited, "DATA_DIR": str(folder), STARTED: str(time.time())}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 - this program again


def choose_port(wanted: int) -> int:
    """The port that was asked for, or a free one where somebody listens on it already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", wanted))
        except OSError:
            probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def run_server(site: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server for as long as the block runs, or this process; it comes up while other things are done."""
    read_end, write_end = os.pipe()
    with (settings.DATA_DIR / LOG).open("wb") as words, os.fdopen(write_end, "wb"):
        process = subprocess.Popen(  # noqa: S603  # our own command
            [*settings.COMMAND, "up"],
            env={**os.environ, "PORT": str(port), "TASK_URL": site, lifeline.VARIABLE: str(read_end)},
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[read_end],
        )
        os.close(read_end)
        try:
            yield process
        finally:
            for _ in range(2):
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(STOP_SECONDS)
            process.kill()
            process.wait()


def wait_until_healthy(port: int, process: subprocess.Popen[bytes]) -> None:
    """Stay until the server answers. Raises CommandError with its last words where it does not come up."""
    web, deadline = Probe("127.0.0.1", port, "localhost"), time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if web.answers():
            return
        time.sleep(0.05)
    words = (settings.DATA_DIR / LOG).read_text(encoding="utf-8", errors="replace")
    raise CommandError(f"The server did not start. Its last words:\n{words[-3000:]}")
