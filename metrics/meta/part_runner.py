"""Where the parts of an evaluation are worked on: here, in a pool of processes, or on other machines.

A part's result depends on the part alone, so that any spread gives the same bits.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Protocol, TypeVar

P = TypeVar("P")
R = TypeVar("R")


class PartRunner(Protocol):
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


class Processes:
    """A pool of n processes, started when it is first needed and kept; `work` and parts must be picklable.

    A context manager: `with processes(2) as spread: evaluate(..., spread=spread)`.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._pool: ProcessPoolExecutor | None = None

    def __call__(
        self, work: Callable[[P], R], parts: Sequence[P], done: Callable[[int], None] | None = None
    ) -> list[R]:
        """The results of `work` for all parts, in their order."""
        if self.n <= 1 or len(parts) <= 1:
            return in_process(work, parts, done)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self.n, mp_context=get_context("forkserver"))
        return _collected(self._pool.map(work, parts), done)

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def processes(n: int) -> Processes:
    """A spread over n processes of this machine."""
    return Processes(n)


def _collected(results: Iterable[R], done: Callable[[int], None] | None) -> list[R]:
    collected = []
    for result in results:
        collected.append(result)
        if done is not None:
            done(len(collected))
    return collected
