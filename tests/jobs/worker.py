"""A jobs worker that knows the handlers of the tests: `python -m tests.jobs.worker`."""

import django

from distillery import celery
from distillery.celery import WORKER_ARGUMENTS, app

if __name__ == "__main__":
    django.setup()
    from core.jobs import handlers as job_handlers
    from tests.jobs import handlers  # noqa: F401  # registers them

    celery.STOP_SECONDS = job_handlers.HANG_SECONDS = 0.5
    app.worker_main(["--quiet", *WORKER_ARGUMENTS])
