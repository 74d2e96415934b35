"""Where the parts of an evaluation are worked on: here, or in a pool of processes.

A part's result depends on the part alone, so that any spread gives the same bits.
"""

from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class Spread(Protocol):
    """Does the same work on each part; the results come in the order of the parts.

    `done`, where it is given, hears after each finished part how many are done.
    """

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        """The results of `work` for all parts."""
        ...


def in_process(
    work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
) -> list[R]:
    """One part after the other, here."""
    return _collected(map(work, parts), done)


def processes(n: int) -> Spread:
    """A pool of n processes for each call; `work` and the parts must be picklable. With n = 1: here."""

    def spread(
        work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        if n <= 1 or len(parts) <= 1:
            return in_process(work, parts, done)
        context = get_context("forkserver")
        with context.Pool(min(n, len(parts)), initializer=_take, initargs=(work,)) as pool:
            return _collected(pool.imap(_work, parts), done)

    return spread


_taken: list[Callable[[object], object]] = []


def _take(work: Callable[[object], object]) -> None:
    _taken[:] = [work]


def _work(part: object) -> object:
    return _taken[0](part)


def _collected(results: Iterator[R], done: Callable[[int], None] | None) -> list[R]:
    collected = []
    for result in results:
        collected.append(result)
        if done is not None:
            done(len(collected))
    return collected
