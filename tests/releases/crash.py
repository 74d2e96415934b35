"""A build on the command line that is killed at a point, and the next one.

    python -m tests.releases.crash POINT…

Runs inside an installation's environment and prints a report in JSON. For each point a process is forked that
builds and sends itself SIGKILL when it gets there; then it is a good hour later, and another one builds.
"""

import contextlib
import hashlib
import io
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import django

#: What the process is about to call when it is killed.
POINTS = {
    "all is read, nothing written": "releases.build.write_formats",
    "files are beside their place on the shelf": "core.storage.write_to_disk",
    "files are on the shelf, the row is not committed": "releases.build.record",
}
HOUR = 3601


def killed(*_: Any, **__: Any) -> None:
    """The end."""
    os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def dying_at(place: str) -> Iterator[None]:
    """Whoever calls it is killed."""
    with mock.patch(place, killed):
        yield


def build(place: str = "") -> tuple[int, dict[str, Any]]:
    """Build in a process of its own; its exit status (negative: the signal) and what it said."""
    from django.core.management import call_command
    from django.db import connections

    connections.close_all()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            out = io.StringIO()
            with dying_at(place) if place else contextlib.nullcontext():
                call_command(
                    "release", "build", "capitals", "--formats", "jsonl", "--json",
                    "--accept-findings", "These people are simulated.", stdout=out,
                )  # fmt: skip
            os.write(writing, out.getvalue().encode())
            os._exit(0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), json.loads(said) if said else {}


def later() -> None:
    """The lease is over, and what the process left is an hour old."""
    from django.conf import settings
    from django.utils import timezone

    from core.jobs.models import Job, JobState

    Job.objects.filter(state=JobState.RUNNING).update(lease_until=timezone.now() - timedelta(seconds=HOUR))
    for place in Path(settings.DATA_DIR).rglob("*"):
        os.utime(place, (time.time() - HOUR, time.time() - HOUR))


def shelf() -> dict[str, str]:
    """Every file where releases are kept or built, by its path, with its digest."""
    from django.conf import settings

    data = Path(settings.DATA_DIR)
    return {
        path.relative_to(data).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for name in ("releases", "building")
        for path in sorted((data / name).rglob("*"))
        if path.is_file()
    }


def rows() -> list[str]:
    """State of each release, and how many files are said to be of it."""
    from releases.models import Release

    return [f"{row.version} {row.state} {row.files.count()}" for row in Release.objects.order_by("pk")]


def forget_all() -> None:
    """As if nothing had ever been built."""
    import shutil

    from django.conf import settings

    from judgments.models import AgreementReport
    from releases.models import Release, ReleaseFile

    for rows_of in (ReleaseFile.objects.all(), Release.objects.all(), AgreementReport.objects.all()):
        rows_of._raw_delete(rows_of.db)
    for name in ("releases", "building"):
        shutil.rmtree(Path(settings.DATA_DIR) / name, ignore_errors=True)


def main() -> None:
    """What each point leaves, and what the next build makes of it."""
    django.setup()
    import releases.build  # noqa: F401 - once, not in each process
    from tests.releases.world import make_world

    make_world()
    _, said = build()
    wanted, digest = shelf(), said["digest"]
    report: dict[str, Any] = {"files": len(wanted), "points": {}}
    for name, place in ((name, POINTS[name]) for name in sys.argv[1:]):
        forget_all()
        status, _ = build(place)
        left = rows()
        later()
        code, said = build()
        report["points"][name] = {
            "status": status,
            "left": left,
            "next": [code, *rows()],
            "same": said.get("digest") == digest and shelf() == wanted,
        }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
