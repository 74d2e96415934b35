"""A program that answers lines with lines, and may hang or die without taking us with it."""

import atexit
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from metrics.errors import MetricError

_running: dict[tuple[int, tuple[str, ...]], "Program"] = {}
_starting = threading.Lock()


class Program:
    """A running program; started once per process, and ended with it."""

    def __init__(self, name: str, command: Sequence[str], patience: float) -> None:
        self.name, self.patience = name, patience
        self.key = (os.getpid(), tuple(command))
        with tempfile.TemporaryFile() as said:
            try:
                self.process = subprocess.Popen(  # noqa: S603 - a fixed program; texts go through its input
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said
                )
            except OSError as error:
                raise MetricError(f"{name} could not be started: {error}.") from error
            self.said: IO[bytes] = os.fdopen(os.dup(said.fileno()), "rb")
        self.lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.asking = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    @classmethod
    def of(cls, name: str, command: Sequence[str], patience: float) -> "Program":
        """The program that runs by this command in this process; it is started if none does."""
        key = (os.getpid(), tuple(command))
        with _starting:
            if key not in _running or _running[key].process.poll() is not None:
                if key in _running:
                    _running[key].end()
                _running[key] = cls(name, command, patience)
            return _running[key]

    def ask(self, lines: Sequence[str], answers: int) -> list[str]:
        """So many lines of answer. MetricError if it says nothing for `patience` seconds, or ends."""
        with self.asking:
            writer = threading.Thread(target=self._tell, args=(lines,), daemon=True)
            writer.start()
            found = [self._next() for _ in range(answers)]
            writer.join()
            return found

    def end(self) -> None:
        """Stop it, whatever it does."""
        _running.pop(self.key, None)
        self.process.kill()
        self.process.wait()
        self.said.close()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()

    def _next(self) -> str:
        try:
            line = self.lines.get(timeout=self.patience)
        except queue.Empty:
            self.end()
            raise MetricError(
                f"{self.name} said nothing for {self.patience:g} seconds and was stopped. "
                "Try again, or leave this metric out."
            ) from None
        if line is None:
            status, last = self.process.wait(), self._last()
            self.end()
            raise MetricError(f"{self.name} ended (exit status {status}). {last}")
        return line

    def _last(self) -> str:
        self.said.seek(0)
        complaints = self.said.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        return f"Its last words: {complaints[-1]}" if complaints else "It did not say why."

    def _tell(self, lines: Sequence[str]) -> None:
        assert self.process.stdin is not None
        try:
            for line in lines:
                self.process.stdin.write(f"{line}\n".encode("utf-8", "replace"))
            self.process.stdin.flush()
        except (OSError, ValueError):
            pass  # it ended, which the reader notices

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as answers:
            for line in answers:
                self.lines.put(line.decode("utf-8", "replace").strip())
        self.lines.put(None)


@atexit.register
def _end_all() -> None:
    for (owner, _), program in list(_running.items()):
        if owner == os.getpid():
            program.end()
