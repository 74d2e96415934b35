"""Where tensors are computed and by how many threads, and batches of about the same size for each core."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from metrics.errors import MetricError


def device(name: str = "auto") -> Any:
    """The device of a name (`auto`: a GPU if there is one, else the CPU); MetricError if it is not there."""
    import torch  # takes seconds

    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch_device = torch.device(name)
        torch.empty(1, device=torch_device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise MetricError(f"--device {name} cannot be used here: {reason} Use cpu, or auto.") from error
    return torch_device


def threads() -> None:
    """Give PyTorch all cores, one where a pool of processes shares them, or OMP_NUM_THREADS of them."""
    import torch

    setting = os.environ.get("OMP_NUM_THREADS", "")
    alone = multiprocessing.parent_process() is None
    torch.set_num_threads(int(setting) if setting.isdecimal() and int(setting) else cores() if alone else 1)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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

    threads()
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
