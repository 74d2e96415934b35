"""Where the demonstration lives: a data folder of its own, which every run starts again.

Settings are read once per process, so the command starts itself again inside that folder. What the run before
left is kept beside it as `demo-previous`. A database given by DATABASE_URL is added to and never emptied.
"""

import fcntl
import os
import shutil
import sys
import time
from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError

#: Set inside the demonstration's own process: when the command was started, in seconds since 1970.
STARTED = "DISTILLERY_DEMO_STARTED"
#: Settings of an installation that others reach under a name; a demonstration is for one's own machine.
ELSEWHERE = {
    "ALLOWED_HOSTS",
    "BEHIND_TLS_PROXY",
    "CSRF_TRUSTED_ORIGINS",
    "DATA_STORAGE",
    "EMAIL_HOST",
    "EMAIL_URL",
    "PUBLIC_URL",
    "RELEASES_STORAGE",
    "TASK_URL",
    "WEB_BIND",
}


def started_at() -> float | None:
    """When the command was started, once it runs in the demonstration's folder; before that None."""
    value = os.environ.get(STARTED)
    return float(value) if value else None


def enter() -> None:
    """Take the folder `demo` of the data folder and start the command again with its settings; never returns.

    Raises CommandError where another demonstration is using the folder.
    """
    folder = settings.DATA_DIR / "demo"
    _hold(folder.with_suffix(".lock"))
    if "DATABASE_URL" not in os.environ and folder.exists():
        previous = folder.with_name("demo-previous")
        shutil.rmtree(previous, ignore_errors=True)
        folder.rename(previous)
    kept = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    environment = {**kept, "DATA_DIR": str(folder), STARTED: str(time.time())}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 - this program again


def _hold(lock: Path) -> None:
    """Lock the folder until this process, and the command it becomes, has ended."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise CommandError(
            f"A demonstration is already running in {lock.with_suffix('')}. Stop it first, with Ctrl-C."
        ) from error
    os.set_inheritable(descriptor, True)
