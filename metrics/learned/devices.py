"""Where tensors are computed, and by how many threads."""

import multiprocessing
import os
from typing import Any

from metrics.errors import MetricError


def device(asked: str = "auto") -> Any:
    """The device of a name (`auto`: a GPU if there is one, else the CPU); MetricError if it is not there."""
    import torch  # takes seconds

    if asked == "auto":
        asked = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        found = torch.device(asked)
        torch.empty(1, device=found)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise MetricError(f"--device {asked} cannot be used here: {reason} Use cpu, or auto.") from error
    return found


def threads() -> None:
    """Give PyTorch all cores, one where a pool of processes shares them, or OMP_NUM_THREADS of them."""
    import torch

    asked = os.environ.get("OMP_NUM_THREADS", "")
    alone = multiprocessing.parent_process() is None
    torch.set_num_threads(int(asked) if asked.isdecimal() and int(asked) else cores() if alone else 1)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
