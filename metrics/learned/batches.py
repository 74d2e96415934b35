"""Things of about the same size together, so that little is padded, and a batch for each core."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from metrics.learned import devices

B = TypeVar("B")
R = TypeVar("R")


def batches(things: Iterable[int], size: Callable[[int], int], most: int) -> Iterator[list[int]]:
    """Things in order of their size, as many together as take `most` when each is as large as the largest."""
    batch: list[int] = []
    for thing in sorted(things, key=size):
        if batch and (len(batch) + 1) * size(thing) > most:
            yield batch
            batch = []
        batch.append(thing)
    if batch:
        yield batch


def spread(work: Callable[[B], R], parts: Sequence[B], device: Any) -> list[R]:
    """What comes of each part, without gradients; on a CPU each core takes the next one.

    Cores that share a part wait for each other after every step. What one core computes does not depend on
    how many there are.
    """
    import torch  # takes seconds

    def done(part: B) -> R:
        with torch.inference_mode():
            return work(part)

    devices.threads()
    cores = torch.get_num_threads()
    if device.type != "cpu" or cores == 1:
        return list(map(done, parts))
    torch.set_num_threads(1)
    try:
        if len(parts) < 2:
            return list(map(done, parts))
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(done, parts))
    finally:
        torch.set_num_threads(cores)
