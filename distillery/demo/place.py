"""Where the demonstration lives: a data folder of its own, which every run starts again.

Settings are read once per process, so the command starts itself again inside that folder. What the run before
left is kept beside it as `demo-previous`. A database given by DATABASE_URL is added to and never emptied.
"""

import os
import shutil
import sys
import time
from pathlib import Path

from django.conf import settings
from django.core.files import locks
from django.core.management.base import CommandError

from distillery.demo.tour import STARTED

#: Settings of an installation that others reach under a name; a demonstration is for one's own machine.
ELSEWHERE = {
    *("ALLOWED_HOSTS", "BEHIND_TLS_PROXY", "CSRF_TRUSTED_ORIGINS", "DATA_STORAGE", "EMAIL_HOST", "EMAIL_URL"),
    *("PUBLIC_URL", "RELEASES_STORAGE", "TASK_URL", "WEB_BIND"),
}
FILE = Path(__file__).with_name("finished.tar.xz")


def enter(*, live: bool) -> None:
    """Take the folder `demo` of the data folder, start the command again with its settings; never returns.

    Without `live`, the finished demonstration is unpacked into it. Raises CommandError where another
    demonstration is using the folder.
    """
    folder = settings.DATA_DIR / "demo"
    lock = os.open(folder.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    if not locks.lock(lock, locks.LOCK_EX | locks.LOCK_NB):
        raise CommandError(f"A demonstration is already running in {folder}; Ctrl-C stops it.")
    os.set_inheritable(lock, True)  # it ends with the command that this process becomes
    if "DATABASE_URL" not in os.environ and folder.exists():
        previous = folder.with_name("demo-previous")
        shutil.rmtree(previous, ignore_errors=True)
        folder.rename(previous)
    if not live:
        folder.mkdir(mode=0o750)
        shutil.unpack_archive(FILE, folder)
    inherited = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    environment = {**inherited, "DATA_DIR": str(folder), STARTED: str(time.time())}
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)  # noqa: S606 - this program again
