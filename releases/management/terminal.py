"""What this app's commands show on a terminal, and how they end when they are asked to."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from releases.source import Progress, silent


def plain(text: str) -> str:
    """A text of strangers without what a terminal would obey."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)


@contextmanager
def terminated() -> Iterator[None]:
    """Being asked to stop ends the work in order, so that the release is marked as failed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt("stopped before it was done")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def bar() -> Iterator[Progress]:
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("", total=None)

        def show(done: int, total: int, note: str) -> None:
            bars.update(task, description=note, completed=done, total=total or None)

        yield show
