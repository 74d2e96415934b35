"""How far long work is: a bar on a terminal or in a notebook, and nothing elsewhere.

`Client(progress=…)`, and every call that may take long, takes one of

- None: a bar where there is a terminal or a notebook
- False: none
- True: a bar on standard error, whatever that is
- a function, which is called with a `ProgressUpdate` each time
"""

from __future__ import annotations

import html
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

_LEAST_BETWEEN_S = 0.1
#: Work that is done before this shows no bar.
_QUICK_S = 0.4
_CELLS = 24
_UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True, slots=True)
class ProgressUpdate:
    """`done` of `total` (0: unknown), in bytes or in steps of a job."""

    label: str
    done: int = 0
    total: int = 0
    note: str = ""
    is_bytes: bool = False

    @property
    def share(self) -> float | None:
        """Between 0 and 1; None where the total is not known."""
        return min(1.0, self.done / self.total) if self.total else None

    def describe(self) -> str:
        """Numbers and note in words: `45 %, 1.2 of 2.7 MB`."""
        parts = [] if self.share is None else [f"{self.share:.0%}".replace("%", " %")]
        if self.is_bytes:
            parts.append(_sizes(self.done, self.total))
        elif self.total or self.done:
            parts.append(f"{self.done:,} of {self.total:,}" if self.total else f"{self.done:,}")
        return ", ".join([*parts, *([self.note] if self.note else [])])


ProgressFunction = Callable[[ProgressUpdate], None]
Progress = ProgressFunction | bool | None


def _sizes(done: int, total: int) -> str:
    power = 0
    while max(done, total) >= 1000 ** (power + 1) and power + 1 < len(_UNITS):
        power += 1
    digits = 1 if power else 0
    numbers = [f"{each / 1000**power:.{digits}f}" for each in ((done, total) if total else (done,))]
    return f"{' of '.join(numbers)} {_UNITS[power]}"


class Display(Protocol):
    """Where a bar is drawn."""

    def draw(self, update: ProgressUpdate) -> None:
        """Draw the bar in place of the one before."""

    def erase(self) -> None:
        """Take the bar away."""


class TerminalDisplay:
    """The last line of a terminal, by carriage return."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def draw(self, update: ProgressUpdate) -> None:
        """Write the line over the one before."""
        cells = _CELLS if update.share is None else round(update.share * _CELLS)
        bar = f"[{'#' * cells}{'.' * (_CELLS - cells)}] " if update.share is not None else ""
        line = f"{_plain(update.label)} {bar}{_plain(update.describe())}"
        self._write(f"\r\033[K{line[: self._width() - 1]}")

    def erase(self) -> None:
        """Clear the line."""
        self._write("\r\033[K")

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

    @staticmethod
    def _width() -> int:
        return max(20, shutil.get_terminal_size().columns)


def _plain(text: str) -> str:
    """Without signs that a terminal obeys: labels have names of files and notes of a server."""
    return "".join(each if each.isprintable() else " " for each in text)


class NotebookDisplay:
    """A progress element below a cell of Jupyter, which goes when the work is done."""

    def __init__(self) -> None:
        self._handle: Any = None

    def draw(self, update: ProgressUpdate) -> None:
        """Show the element, or change the one that is shown."""
        value = "" if update.share is None else f' value="{update.share:.4f}"'
        caption = html.escape(f"{update.label} {update.describe()}")
        self._show(f"<progress{value}></progress> {caption}")

    def erase(self) -> None:
        """Empty the output."""
        if self._handle is not None:
            self._show("")

    def _show(self, text: str) -> None:
        from IPython import display

        tools: Any = display  # its functions have no types
        if self._handle is None:
            self._handle = tools.display(tools.HTML(text), display_id=True)
        else:
            self._handle.update(tools.HTML(text))


class Bar:
    """A bar that is drawn a few times a second, and not for what is done at once."""

    def __init__(self, display: Display) -> None:
        self._display, self._began = display, time.monotonic()
        self._drawn_at: float | None = None

    def __call__(self, update: ProgressUpdate) -> None:
        """Draw, if it is time to."""
        now = time.monotonic()
        since = now - (self._drawn_at if self._drawn_at is not None else self._began)
        if since >= (_QUICK_S if self._drawn_at is None else _LEAST_BETWEEN_S):
            self._drawn_at = now
            self._display.draw(update)

    def close(self) -> None:
        """Take the bar away, if there is one."""
        if self._drawn_at is not None:
            self._display.erase()


@contextmanager
def shown_progress(wish: Progress) -> Iterator[ProgressFunction]:
    """What long work calls; a bar is gone when the block ends, also by an error."""
    if callable(wish):
        yield wish
        return
    display = _display(wish)
    if display is None:
        yield _ignore
        return
    bar = Bar(display)
    try:
        yield bar
    finally:
        bar.close()


def _display(wish: bool | None) -> Display | None:
    if wish is False:
        return None
    if _is_notebook():
        return NotebookDisplay()
    if wish or sys.stderr.isatty():
        return TerminalDisplay(sys.stderr)
    return None


def _is_notebook() -> bool:
    """Whether a kernel of Jupyter runs this, whose front end shows HTML."""
    if "ipykernel" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _ignore(_: ProgressUpdate) -> None:
    """Shows nothing: the output is no terminal."""
