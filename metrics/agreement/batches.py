"""Batches of draws worked on by several threads, with the same results as by one.

Draws come from one stream of chance, so they are made one after the other, in their order, by whichever
thread is free; what is worked out from them goes on beside that. numpy and scipy give the interpreter's lock
back while they calculate. Every batch is added up by itself and the results come in the order of batches, so
that no digit depends on the threads.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event, Lock
from typing import TypeVar

import numpy as np

from metrics.scoring import cores

B = TypeVar("B")
R = TypeVar("R")

#: Ratings times draws from which another thread is worth its start and its memory.
MUCH = 20_000_000
#: Draws are a third of the work and are made one after the other, so more threads would wait for them.
_MOST = 3


def threads_for(work: int) -> int:
    """How many threads to take for so many ratings times draws: one for little, never more than cores."""
    return max(1, min(_MOST, cores(), work // MUCH))


def map_in_order(work: Callable[[B], R], batches: Iterator[B], threads: int) -> list[R]:
    """What `work` makes of each batch, in the order of the batches.

    One thread at a time takes the next batch from the iterator. After an error no other batch is begun, and
    the first error is raised.
    """
    if threads == 1:
        return [work(batch) for batch in batches]
    numbered, lock, stopped = enumerate(batches), Lock(), Event()
    by_number: dict[int, R] = {}

    def work_on() -> None:
        try:
            while not stopped.is_set():
                with lock:
                    number, batch = next(numbered, (-1, None))
                if batch is None:
                    return
                by_number[number] = work(batch)
                del batch
        finally:  # after an error no thread begins another batch; otherwise none is left
            stopped.set()

    with ThreadPoolExecutor(threads - 1, thread_name_prefix="draws") as pool:
        others = [pool.submit(work_on) for _ in range(threads - 1)]
        work_on()
        for each in others:
            each.result()
    return [by_number[number] for number in range(len(by_number))]


def parts_of(width: int, most: int) -> Iterator[slice]:
    """Consecutive parts of so many columns, each of at most `most` and none of one alone but for `width` 1.

    Sums over the rows of a single column are added up in another order than those of several.
    """
    count = max(1, min(-(-width // max(2, most)), width // 2))
    ends = np.linspace(0, width, count + 1).astype(int).tolist()
    return (slice(start, stop) for start, stop in pairwise(ends))
