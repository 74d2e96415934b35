"""An attempt at a job in a process that is killed at a point.

python -m tests.batches.crash JOB FUNCTION WHEN: the process sends itself SIGKILL when FUNCTION is called for
the third time (or the first, where it is called once): `before` it does anything, or `after` it has done it.
"""

import contextlib
import importlib
import os
import signal
import sys
from typing import Any
from unittest import mock

import django

ONCE = {"_finish"}


def main(job: str, function: str, when: str) -> None:
    """Run the job until the end comes."""
    django.setup()
    from core.jobs import runner

    module, _, name = function.rpartition(".")
    real = getattr(importlib.import_module(module), name)
    calls = 0

    def dying(*arguments: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        last = calls == (1 if name in ONCE else 3)
        if last and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        value = real(*arguments, **named)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    # One thing at a time, so that five of them are enough.
    one = ("batches.publication.AT_ONCE", "batches.extensions.AT_ONCE", "heritage.workerfiles.TOGETHER")
    with contextlib.ExitStack() as stack:
        for constant in one:
            stack.enter_context(mock.patch(f"marketplace.{constant}", 1))
        stack.enter_context(mock.patch(function, dying))
        runner.run(job_id=int(job))


if __name__ == "__main__":
    main(*sys.argv[1:])
