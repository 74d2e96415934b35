"""An evaluation whose worker is killed at a point, and the worker that goes on with it.

    python -m tests.evaluations.crash POINT…

Runs inside an installation's environment and prints a report in JSON. For each point a process is forked that
runs the job and sends itself SIGKILL when it gets there; when the lease is over another one runs it again.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from unittest import mock

import django

#: What is about to be called when the worker dies, and for the which time.
POINTS = {
    "two parts are computed": ("evaluations.executor.compute", 3),
    "the report is on the shelf, the row is not committed": ("evaluations.services.note", 1),
}


def dying(place: str, time: int) -> Any:
    """A patch under which the call for the `time`-th time is the end."""
    module, _, name = place.rpartition(".")
    __import__(module)
    real: Callable[..., Any] = getattr(sys.modules[module], name)
    calls = iter(range(1, 1_000_000))

    def call(*given: Any, **named: Any) -> Any:
        if next(calls) == time:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **named)

    return mock.patch(place, call)


def work(job: int, place: str = "", time: int = 0) -> tuple[int, int]:
    """Run a job in a process of its own: its exit status, negative for a signal, and parts it computed."""
    from django.db import connections

    from core.jobs.runner import run
    from evaluations import executor

    connections.close_all()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with ExitStack() as patches:
            if place:
                patches.enter_context(dying(place, time))
            computed = 0
            real = executor.compute

            def counted(*given: Any) -> bool:
                nonlocal computed
                computed += 1
                return real(*given)

            patches.enter_context(mock.patch.object(executor, "compute", counted))
            run(job_id=job)
            os.write(writing, str(computed).encode())
        os._exit(0)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as said:
        return os.waitstatus_to_exitcode(status), int(said.read() or -1)


def killed_at(release: Any, place: str, time: int) -> dict[str, Any]:
    """Kill, wait until the lease is over, go on; what was found after each."""
    from django.utils import timezone

    from core.jobs import services as jobs
    from core.jobs.models import Job
    from core.projects.models import Event
    from evaluations.models import Evaluation, Part
    from tests.evaluations.desk_world import make_evaluation

    evaluation = make_evaluation(release, ran=False)
    assert evaluation.job is not None
    status, _ = work(evaluation.job, place, time)
    left = Evaluation.objects.get(pk=evaluation.pk).state
    parts = Part.objects.filter(result__isnull=False).count()
    Job.objects.filter(pk=evaluation.job).update(lease_until=timezone.now() - timedelta(seconds=1))
    jobs.reconcile()
    again, computed = work(evaluation.job)
    done = Evaluation.objects.get(pk=evaluation.pk)
    ready = Event.objects.filter(action="evaluation.ready", details__evaluation=evaluation.pk).count()
    return {
        "status": status, "left": left, "kept": parts, "again": again, "state": done.state, "events": ready,
        "parts": computed, "files": {each["name"]: each["sha256"] for each in done.files},
    }  # fmt: skip


def main() -> None:
    """Every point that is named, and one that nobody kills."""
    from evaluations import executor
    from evaluations.models import Evaluation
    from tests.evaluations.desk_world import make_evaluation, make_release
    from tests.releases.shelf_world import make_project

    release = make_release(make_project())
    # Here, so that what takes seconds to load is loaded before any process is forked.
    with mock.patch.object(executor, "compute", wraps=executor.compute) as computed:
        quiet = make_evaluation(release)
    parts = computed.call_count
    files = {each["name"]: each["sha256"] for each in Evaluation.objects.get(pk=quiet.pk).files}
    points = {name: killed_at(release, *POINTS[name]) for name in sys.argv[1:]}
    json.dump({"parts": parts, "files": files, "points": points}, sys.stdout)


if __name__ == "__main__":
    django.setup()
    main()
