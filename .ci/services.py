"""Run one command beside a throw-away PostgreSQL and Redis, and stop both whatever happens.

    .venv/bin/python .ci/services.py -- pytest tests

The command finds them in DATABASE_URL and REDIS_URL. Both listen on a random loopback port and keep their
files in a temporary folder that goes with them. PostgreSQL runs without fsync, so a power cut loses
everything: right for tests, wrong for measurements, which take `--durable`.
"""

import argparse
import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

START_SECONDS = 30
STOP_SECONDS = 20
ATTEMPTS = 3
PR_SET_PDEATHSIG = 1
FAST_AND_UNSAFE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off"]


class ServiceError(Exception):
    """A service is missing or would not start; the message is for the person at the terminal."""


class StopError(Exception):
    """A signal asked this program to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.number = number


def version_of(folder: Path) -> float:
    """Sort key of a folder like /usr/lib/postgresql/15/bin."""
    try:
        return float(folder.parent.name)
    except ValueError:
        return 0.0


def find_program(name: str) -> str:
    """Path of a program: newest PostgreSQL of Debian first, then the search path."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=version_of, reverse=True)
    for folder in debian:
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    if found is None:
        raise ServiceError(f"{name} is not installed (Debian packages: postgresql, redis-server).")
    return found


def service_user() -> str | None:
    """User to run the services as: PostgreSQL refuses root, so root lends them another name."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise ServiceError("PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody.")


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def end_with_parent() -> None:
    """In a new process, before its program starts: have Linux end it when this program is killed outright."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def start(
    arguments: list[str], *, folder: Path, user: str | None, running: contextlib.ExitStack
) -> subprocess.Popen[bytes]:
    """Start a service in `folder`, with its words in a log there, until `running` is closed.

    It has a session of its own, so that Ctrl-C at the terminal reaches the command first.
    """
    with (folder / f"{Path(arguments[0]).name}.log").open("wb") as log:
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509  # this program has one thread
            user=user,
            group=None if user is None else pwd.getpwnam(user).pw_gid,
            extra_groups=None if user is None else [],
        )
    running.callback(stop, process)
    return process


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a service to stop (SIGINT is PostgreSQL's fast shutdown), insist if it does not."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def answers(port: int, question: bytes, beginning: bytes) -> bool:
    """Whether the service on `port` answers the question as a ready one does."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(question)
            return connection.recv(64).startswith(beginning)
    except OSError:
        return False


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for a service that was just started; give its own words when it fails."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if ready():
            return
        time.sleep(0.05)
    stop(process)
    raise ServiceError(
        f"{log.stem} did not start. Its last words:\n{log.read_text(errors='replace')[-2000:]}"
    )


def start_postgres(folder: Path, user: str | None, running: contextlib.ExitStack, *, durable: bool) -> str:
    """Make a database cluster in `folder` and start it; gives its URL."""
    data = folder / "data"
    if not data.exists():
        initdb = start(
            [
                find_program("initdb"),
                f"--pgdata={data}",
                "--username=distillery",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
                *([] if durable else ["--no-sync"]),
            ],
            folder=folder,
            user=user,
            running=running,
        )
        if initdb.wait(START_SECONDS) != 0:
            raise ServiceError(f"initdb failed:\n{(folder / 'initdb.log').read_text(errors='replace')}")
    port = free_port()
    options = [
        f"port={port}",
        "listen_addresses=127.0.0.1",
        f"unix_socket_directories={folder}",
        "max_connections=300",
        *([] if durable else FAST_AND_UNSAFE),
    ]
    process = start(
        [find_program("postgres"), "-D", str(data), *(word for option in options for word in ("-c", option))],
        folder=folder,
        user=user,
        running=running,
    )
    ask = [find_program("pg_isready"), "--quiet", "--host=127.0.0.1", f"--port={port}"]
    wait_until(lambda: subprocess.run(ask, check=False).returncode == 0, process, folder / "postgres.log")
    return f"postgres://distillery@127.0.0.1:{port}/postgres"


def start_redis(folder: Path, user: str | None, running: contextlib.ExitStack) -> str:
    """Start a Redis that keeps nothing on disk; gives its URL."""
    port = free_port()
    process = start(
        [
            find_program("redis-server"),
            *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", "--daemonize", "no"),
        ],
        folder=folder,
        user=user,
        running=running,
    )
    wait_until(lambda: answers(port, b"PING\r\n", b"+PONG"), process, folder / "redis-server.log")
    return f"redis://127.0.0.1:{port}/0"


def insist(attempt: Callable[[], str]) -> str:
    """Try again on another port when somebody took the free one between the look and the start."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(ServiceError):
            return attempt()
    return attempt()


@contextlib.contextmanager
def services(*, durable: bool = False) -> Iterator[Mapping[str, str]]:
    """PostgreSQL and Redis for as long as the block runs; gives the variables that name them."""
    user = service_user()
    # Not $TMPDIR: a Unix socket's path has 107 characters at most, and the services' user must get in.
    folder = Path(tempfile.mkdtemp(prefix="distillery-services-", dir="/tmp"))
    try:
        if user is not None:
            shutil.chown(folder, user)
        with contextlib.ExitStack() as running:
            database_url = insist(lambda: start_postgres(folder, user, running, durable=durable))
            redis_url = insist(lambda: start_redis(folder, user, running))
            yield {"DATABASE_URL": database_url, "REDIS_URL": redis_url}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(command: list[str], variables: Mapping[str, str]) -> int:
    """Run the command in a process group of its own; none of the group is left when this returns."""
    process = subprocess.Popen(
        command,
        env={**os.environ, **variables},
        start_new_session=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509  # this program has one thread
    )
    try:
        return process.wait()
    except StopError as stopped:
        os.killpg(process.pid, stopped.number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        raise
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def on_signal(number: int, _frame: FrameType | None) -> None:
    """Turn the first signal into an exception, so that all that was started is stopped; ignore the next."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise StopError(number)


def main() -> int:
    """Read the command line, run the command, and exit as it did."""
    parser = argparse.ArgumentParser(description="Run a command beside a throw-away PostgreSQL and Redis.")
    parser.add_argument(
        "--durable", action="store_true", help="write to disk as an installation does (fsync)"
    )
    parser.add_argument("command", nargs="+", help="the command and its arguments, after --")
    arguments = parser.parse_args()
    if shutil.which(arguments.command[0]) is None:
        parser.error(f"there is no program {arguments.command[0]}")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    try:
        with services(durable=arguments.durable) as variables:
            code = run(arguments.command, variables)
    except ServiceError as error:
        print(error, file=sys.stderr)
        return 1
    except StopError as stopped:
        return 128 + stopped.number
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
