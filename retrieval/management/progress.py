"""Bars on standard error while a file is read or an index is built."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn


@contextmanager
def watched_bytes(total: int, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar over the bytes of a file, with the passages so far beside it."""
    with _bar(quiet) as bar:
        task = bar.add_task("reading", total=total, words="")

        def progress(passages: int, bytes: int) -> None:
            bar.update(task, completed=bytes, words=f"{passages:,} passages")

        yield progress


@contextmanager
def watched_passages(name: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over passages."""
    with _bar(quiet) as bar:
        task = bar.add_task(name, total=total or None, words="")

        def progress(passages: int) -> None:
            bar.update(task, completed=passages, words=f"{passages:,} passages")

        yield progress


@contextmanager
def watched_steps(name: str, total: int, *, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar over passages, with what is being done in words before it."""
    with _bar(quiet) as bar:
        task = bar.add_task(name, total=total or None, words="")

        def progress(step: str, passages: int) -> None:
            bar.update(
                task, completed=passages, description=f"{name}: {step}", words=f"{passages:,} passages"
            )

        yield progress


def _bar(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[words]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True, quiet=quiet),
    )
