"""A server beside a command that shows something: `up` in a process of its own, which ends with it."""

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import CommandError

from distillery import lifeline
from distillery.supervisor import Probe
from marketplace.forms.loopback import is_loopback

LOG, START_SECONDS = "server.log", 120


def choose_port(port: int) -> int:
    """The port that was asked for, or a free one where another program listens on it already."""
    with contextlib.suppress(OSError), socket.create_server(("", port)):
        return port
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def run_server(
    site: str, port: int, *, stop_seconds: float, defaults: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A server for as long as the block runs, or this process; it comes up while other things are done.

    `defaults` are settings of its environment where nothing else was set. At the end it has `stop_seconds` to
    finish what it does, and as long again after it was told twice.
    """
    with (
        (settings.DATA_DIR / LOG).open("wb") as log_file,
        subprocess.Popen(  # noqa: S603  # our own command
            [*settings.COMMAND, "up"],
            env={
                **(defaults or {}),
                **os.environ,
                **({} if is_loopback(urlsplit(site).hostname or "") else {"PUBLIC_URL": site}),
                "PORT": str(port),
                "TASK_URL": site,
                lifeline.VARIABLE: "0",
            },
            stdin=subprocess.PIPE,
            stdout=log_file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            for _ in range(2):
                process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(stop_seconds)
            process.kill()


def wait_until_healthy(port: int, process: subprocess.Popen[bytes]) -> None:
    """Stay until the server answers. Raises CommandError with its last words where it does not come up."""
    web, deadline = Probe("127.0.0.1", port, "localhost"), time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if web.answers():
            return
        time.sleep(0.05)
    log_text = (settings.DATA_DIR / LOG).read_text(encoding="utf-8", errors="replace")
    raise CommandError(f"The server did not start. Its last words:\n{log_text[-3000:]}")
