"""Keeps the processes of `manage.py up` running, and leaves none behind.

Each child runs in a session of its own, so that Ctrl-C reaches the supervisor alone, which stops them in good
order: the last one first, each when the one before it has ended. A child that ends is started again, later
each time it does not last. SIGHUP starts a successor of each child, and stops the child when that is ready.
When the supervisor itself is killed, the children notice through `distillery.lifeline`.
"""

import contextlib
import http.client
import itertools
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
#: A child that is asked to stop has this long; the web server itself answers for 20 s at most.
GRACE_SECONDS = 25
#: A successor that is not ready by then is given up.
READY_SECONDS = 120
LASTING_SECONDS = 60
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 60.0
STARTS_BEFORE_GIVING_UP = 3
#: Windows has no SIGHUP.
SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass
class Successor:
    """A process that takes a child's place as soon as it says that it is ready."""

    process: subprocess.Popen[bytes]
    ready_end: int
    deadline: float

    def is_ready(self) -> bool:
        """Whether it has said so."""
        with contextlib.suppress(BlockingIOError):
            return bool(os.read(self.ready_end, 1))
        return False


@dataclass
class Child:
    """One process to keep running: a role of `distillery.child`."""

    role: str
    title: str
    environment: Mapping[str, str] = field(default_factory=dict)
    descriptors: tuple[int, ...] = ()
    #: Called before the process is asked to stop for good.
    before_stop: Callable[[], None] = lambda: None
    #: It goes on for so long after it was told that it is about to be stopped.
    drain_seconds: float = 0.0
    #: It can be started before the database is ready, and waits for that (`lifeline.wait_to_begin`).
    loads_early: bool = False
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
        #: What children are told first, in `distillery.lifeline`'s bytes.
        self._told = b""
        self._loaded = False
        self._terminals = [descriptor for descriptor in (0, 1, 2) if os.isatty(descriptor)]
        self._reload_asked = False
        self._to_reload: list[Child] = []
        self._successor: Successor | None = None
        #: Processes that were replaced and finish what they do, and until when they may.
        self._retiring: list[tuple[subprocess.Popen[bytes], float]] = []

    def run(self, *, answers: Callable[[], bool], ready_line: str) -> int:
        """Run everything; returns the exit code after a signal, or when the children do not come up at all.

        `answers` tells whether they are up; once they are, `ready_line` is said.
        """
        with contextlib.nullcontext() if self._loaded else self.loading():
            self._tell(lifeline.BEGIN)
            # In a thread: a probe may take five seconds, in which children want to be tended.
            threading.Thread(target=self._announce, args=[answers, ready_line], daemon=True).start()
            with self._signals_counted():
                while not self._signals and not self._code:
                    self._tend()
                    self._tend_reload()
                    time.sleep(TICK_SECONDS)
                self._tell(lifeline.DRAIN)
                self._stop()
        return self._code

    @contextlib.contextmanager
    def loading(self) -> Iterator["Supervisor"]:
        """Have children that can wait load their modules while the block makes the database ready."""
        self._loaded = True
        try:
            for child in self.children:
                if child.loads_early:
                    self._start(child)
            yield self
        finally:
            for child in self.children:  # only where `run` was not reached
                if child.process is not None and child.process.poll() is None:
                    _end(child.process)

    def _tell(self, what: bytes) -> None:
        """Tell all children, and those that are started later."""
        self._told += what
        successors = [] if self._successor is None else [self._successor.process]
        for process in [child.process for child in self.children if child.process is not None] + successors:
            _write(process, what)

    def _tend(self) -> None:
        for child in self.children:
            if child.process is None:
                if time.monotonic() >= child.start_at:
                    self._start(child)
            elif child.process.poll() is not None:
                self._ended(child)

    def _start(self, child: Child) -> None:
        child.process = _spawn(child, self._told)
        child.started_at = time.monotonic()

    def _tend_reload(self) -> None:
        """Replace one child after the other, each when its successor is ready; none is without a process."""
        self._retiring = [
            (process, until) for process, until in self._retiring if not _ended_by(process, until)
        ]
        # A signal during a reload is kept for another: what was started by then may be older than the files.
        if self._reload_asked and not self._to_reload:
            self._reload_asked = False
            self._to_reload = list(self.children)
            self.say("Reloading: new processes start, and the present ones go on until those are ready.")
        if not self._to_reload:
            return
        child = self._to_reload[0]
        if self._successor is None:
            self._successor = _spawn_successor(child, self._told)
        elif self._successor.is_ready():
            self._replace(child, self._successor.process)
            self._end_successor()
            del self._to_reload[0]
            if child.title not in {each.title for each in self._to_reload}:
                self.say(f"{child.title} was reloaded.")
        elif self._successor.process.poll() is not None or time.monotonic() > self._successor.deadline:
            ending = _ending(_end(self._successor.process))
            self._end_successor()
            self._to_reload = []
            self.say(
                f"{child.title} was not reloaded ({ending}); the one that runs goes on with the code and "
                "settings it has. What is wrong is said above."
            )

    def _replace(self, child: Child, process: subprocess.Popen[bytes]) -> None:
        former, child.process = child.process, process
        child.started_at, child.short_lives = time.monotonic(), 0
        if former is not None:
            former.terminate()
            self._retiring.append((former, time.monotonic() + GRACE_SECONDS))

    def _end_successor(self) -> None:
        assert self._successor is not None
        os.close(self._successor.ready_end)
        self._successor = None

    def _ended(self, child: Child) -> None:
        assert child.process is not None
        _end(child.process)  # and what it started itself, such as a training run
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
        """Have all children finish what they do, last role first; insist after a while or at a second signal.

        Jobs call the web server's own marketplace, so it answers until they have ended, and for as long as
        load balancers take to notice that it is not ready any more.
        """
        drained = time.monotonic()
        running = [process for process, _ in self._retiring]
        if self._successor is not None:
            running.append(self._successor.process)
            self._end_successor()
        replaced_until = time.monotonic() + GRACE_SECONDS
        for process in running:
            process.terminate()
        for _, same in itertools.groupby(reversed(self.children), key=lambda child: child.role):
            stopped = [(child, child.process) for child in same if child.process is not None]
            for child, process in stopped:
                if self.ready.is_set():
                    self._wait_for([process], drained + child.drain_seconds)
                child.before_stop()
                process.terminate()
                running.append(process)
            self._wait_for([process for _, process in stopped], time.monotonic() + GRACE_SECONDS)
        self._wait_for(running, replaced_until)
        for process in running:
            _end(process)

    def _wait_for(self, processes: list[subprocess.Popen[bytes]], deadline: float) -> None:
        while any(process.poll() is None for process in processes):
            if time.monotonic() > deadline or self._signals > 1:
                break
            time.sleep(TICK_SECONDS)

    def _announce(self, answers: Callable[[], bool], ready_line: str) -> None:
        while not self._signals and not self._code:
            if answers():
                self.ready.set()
                self.say(ready_line)
                return
            time.sleep(TICK_SECONDS)

    @contextlib.contextmanager
    def _signals_counted(self) -> Iterator[None]:
        ignored = {number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN}  # nohup
        before = {
            number: signal.signal(number, self._on_signal) for number in SIGNALS if number not in ignored
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # It may come between any two steps of the loop, so it is only noted here; the loop acts on it.
        if number not in (signal.SIGINT, signal.SIGTERM) and not self._terminal_is_gone():
            self._reload_asked = True
        else:
            self._signals += 1

    def _terminal_is_gone(self) -> bool:
        """Whether SIGHUP has its first meaning: the terminal that this was started in was closed."""
        return bool(self._terminals) and not any(map(os.isatty, self._terminals))


def _spawn(
    child: Child,
    signal_byte: bytes,
    extra: Mapping[str, str] | None = None,
    descriptors: tuple[int, ...] = (),
) -> subprocess.Popen[bytes]:
    path = os.pathsep.join(filter(None, [str(PROJECT), os.environ.get("PYTHONPATH", "")]))
    process = subprocess.Popen(  # noqa: S603  # our own module
        # -P: a file of the current folder that is called like a module of ours is not imported instead.
        [sys.executable, "-P", "-m", "distillery.child", child.role],
        env={
            **os.environ,
            "PYTHONPATH": path,
            lifeline.VARIABLE: "0",
            **child.environment,
            **(extra or {}),
        },
        stdin=subprocess.PIPE,
        bufsize=0,
        pass_fds=(*child.descriptors, *descriptors),
        # Ctrl-C reaches the supervisor alone, which stops children in their order; and a child with processes
        # of its own is a group that can be ended as one. The second line says the first to Windows.
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    _write(process, signal_byte)
    return process


def _write(process: subprocess.Popen[bytes], what: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):  # it has ended, which is seen elsewhere
        process.stdin.write(what)


def _spawn_successor(child: Child, signal_byte: bytes) -> Successor:
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)
    try:
        process = _spawn(child, signal_byte, {lifeline.READY_VARIABLE: str(write_end)}, (write_end,))
    finally:
        os.close(write_end)  # the successor has it; ours would stay open with every reload
    return Successor(process, read_end, time.monotonic() + READY_SECONDS)


def _ended_by(process: subprocess.Popen[bytes], until: float) -> bool:
    """Whether it has ended, or was made to because its time is over."""
    if process.poll() is None and time.monotonic() <= until:
        return False
    _end(process)
    return True


def _end(process: subprocess.Popen[bytes]) -> int:
    """End a process, if it has not ended, and those that it started, outright; its exit code."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with process:  # waits, and closes its standard input
        return process.wait()


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
