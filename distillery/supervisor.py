"""Keeps the processes of `manage.py up` running, and leaves none behind.

Each child runs in a session of its own, so that Ctrl-C reaches the supervisor alone, which stops them in good
order. A child that ends is started again, later each time it does not last. When the supervisor itself is
killed, the children notice through `distillery.lifeline`.
"""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from distillery import lifeline

PROJECT = Path(__file__).resolve().parent.parent
TICK_SECONDS = 0.1
GRACE_SECONDS = 25
LASTING_SECONDS = 60
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 60.0
STARTS_BEFORE_GIVING_UP = 3
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass
class Child:
    """One process to keep running: a role of `distillery.child`."""

    role: str
    title: str
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_at: float = 0.0
    short_lives: int = 0

    def runs_since(self, seconds: float) -> bool:
        """Whether the process has been running for this long."""
        running = self.process is not None and self.process.poll() is None
        return running and time.monotonic() - self.started_at >= seconds


@dataclass(frozen=True)
class Probe:
    """Where to ask whether the web server answers, and under which name."""

    address: str
    port: int
    host_header: str

    def answers(self) -> bool:
        """Whether /health/ gives 200."""
        connection = http.client.HTTPConnection(self.address, self.port, timeout=5)
        try:
            connection.request("GET", "/health/", headers={"Host": self.host_header})
            return connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


class Supervisor:
    """Runs children until a signal asks it to stop."""

    def __init__(self, children: list[Child], *, say: Callable[[str], None]) -> None:
        self.children = children
        self.say = say
        self.ready = threading.Event()
        self._signals = 0
        self._code = 0

    def run(self, *, answers: Callable[[], bool], ready_line: str) -> int:
        """Run everything; returns the exit code after a signal, or when the children do not come up at all.

        `answers` tells whether they are up; once they are, `ready_line` is said.
        """
        read_end, write_end = os.pipe()
        threading.Thread(target=self._announce, args=[answers, ready_line], daemon=True).start()
        try:
            with self._signals_counted():
                while not self._signals and not self._code:
                    self._tend(read_end)
                    time.sleep(TICK_SECONDS)
                self._stop()
        finally:
            os.close(write_end)
            os.close(read_end)
        return self._code

    def _tend(self, lifeline_end: int) -> None:
        for child in self.children:
            if child.process is None:
                if time.monotonic() >= child.start_at:
                    self._start(child, lifeline_end)
            elif child.process.poll() is not None:
                self._ended(child)

    def _start(self, child: Child, lifeline_end: int) -> None:
        path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH", "")]))
        child.process = subprocess.Popen(  # noqa: S603  # our own module
            [sys.executable, "-P", "-m", "distillery.child", child.role],
            env={
                **os.environ,
                "PYTHONPATH": path,
                lifeline.VARIABLE: str(lifeline_end),
                **child.environment,
            },
            stdin=subprocess.DEVNULL,
            pass_fds=(lifeline_end, *child.descriptors),
            start_new_session=True,
        )
        child.started_at = time.monotonic()

    def _ended(self, child: Child) -> None:
        assert child.process is not None
        _signal_group(child.process, signal.SIGTERM)  # workers that outlived their own supervisor, gunicorn
        lasted = time.monotonic() - child.started_at >= LASTING_SECONDS
        child.short_lives = 0 if lasted else child.short_lives + 1
        wait = 0 if lasted else FIRST_WAIT_SECONDS * 2 ** (child.short_lives - 1)
        wait = min(LONGEST_WAIT_SECONDS, wait)
        ending = _ending(child.process.returncode)
        child.process, child.start_at = None, time.monotonic() + wait
        if not self.ready.is_set() and child.short_lives >= STARTS_BEFORE_GIVING_UP:
            self.say(f"{child.title} does not start ({ending}); its own words are above.")
            self._code = 1
        else:
            self.say(f"{child.title} ended ({ending}); starting it again in {wait:g} s.")

    def _stop(self) -> None:
        """Ask all children to finish what they do; insist after a while, or at a second signal."""
        running = [child.process for child in self.children if child.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + GRACE_SECONDS
        while any(process.poll() is None for process in running):
            if time.monotonic() > deadline or self._signals > 1:
                break
            time.sleep(TICK_SECONDS)
        for process in running:
            _signal_group(process, signal.SIGKILL)
            process.wait()

    def _announce(self, answers: Callable[[], bool], ready_line: str) -> None:
        while not self._signals and not self._code:
            if answers():
                self.ready.set()
                self.say(ready_line)
                return
            time.sleep(TICK_SECONDS)

    @contextlib.contextmanager
    def _signals_counted(self) -> Iterator[None]:
        ignored = {number for number in STOP_SIGNALS if signal.getsignal(number) is signal.SIG_IGN}  # nohup
        before = {
            number: signal.signal(number, self._on_signal) for number in STOP_SIGNALS if number not in ignored
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
