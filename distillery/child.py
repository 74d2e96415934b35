"""What `manage.py up` starts: `python -m distillery.child web` or `… jobs`; it ends when `up` does."""

import os
import sys
import warnings

from celery.platforms import SecurityWarning  # type: ignore[attr-defined]

from distillery import lifeline, webserver
from distillery.celery import WORKER_ARGUMENTS, app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")


def work() -> None:
    """Run a jobs worker until it is stopped."""
    warnings.simplefilter("ignore", SecurityWarning)  # as root: `doctor` and `up` say it in one line
    app.worker_main(["--quiet", *WORKER_ARGUMENTS])


if __name__ == "__main__":
    lifeline.watch()
    {"web": webserver.main, "jobs": work}[sys.argv[1]]()
