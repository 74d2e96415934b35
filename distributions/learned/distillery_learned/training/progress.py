"""Training on the terminal: how far it is, and Ctrl-C that ends it after the step."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.accounts.commandline import plain
from core.progress import Progress, silent

if TYPE_CHECKING:
    from distillery_learned.training.kpqa_epochs import Step


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Says whether somebody asked the work to stop; who asks twice stops it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    signals: list[int] = []

    def stop(number: int, _frame: Any) -> None:
        if signals:
            raise KeyboardInterrupt
        signals.append(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(signals)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_MINUTE, _HOUR = 60, 3600


class TrainingProgress:
    """Moves a bar where there is one; else writes a line now and then, and one for each epoch."""

    def __init__(self, bar: Progress, write: Callable[[str], None], *, every: float = 30.0) -> None:
        self.bar, self.write, self.every = bar, write, every
        self.said = time.monotonic()
        self.last = ""
        self.held: list[str] = []

    def note(self, line: str) -> None:
        """A line at once, or in `held` for when the bar is gone."""
        if self.bar is silent:
            self.write(line)
        else:
            self.held.append(line)

    def read(self, path: Path, questions: int) -> None:
        """Questions of a file were read."""
        name = plain(path.name)
        if self.bar is not silent:
            from rich.markup import escape

            name = escape(name)
        self._tell(questions, 0, f"{name}: questions read", f"{questions:,}")

    def step(self, step: "Step") -> None:
        """A step was done."""
        note = f"epoch {step.epoch} of {step.epochs}, loss {step.loss:.4f}, {step.speed:,.0f} examples/s"
        self._tell(
            step.done,
            step.total,
            note + self.last,
            f"step {step.done:,} of {step.total:,}, {duration(step.left)} left",
        )

    def epoch(self, epoch: Mapping[str, Any]) -> None:
        """An epoch ended."""
        if epoch["dev"]:
            self.last = f", dev {epoch['dev']['loss']:.4f}"
        if self.bar is silent:
            self.note(said_of(epoch))
            self.said = time.monotonic()

    def _tell(self, done: int, total: int, note: str, where: str) -> None:
        self.bar(done, total, note)
        if self.bar is silent and time.monotonic() - self.said >= self.every:
            self.write(f"{note}, {where}")
            self.said = time.monotonic()


def said_of(epoch: Mapping[str, Any]) -> str:
    """An epoch in a line."""
    dev = epoch["dev"]
    measured = (
        f", development loss {dev['loss']:.4f}, F1 {100 * dev['f1']:.1f}, whole phrases "
        f"P {100 * dev['span_precision']:.1f} R {100 * dev['span_recall']:.1f}"
        if dev
        else ""
    )
    return f"Epoch {epoch['epoch']}: loss {epoch['train_loss']:.4f}{measured}, {duration(epoch['seconds'])}"


def duration(seconds: float) -> str:
    """A time in words that fit its length."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.1f} min"
    return f"{seconds / _HOUR:.1f} h"
