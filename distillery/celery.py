"""The Celery application: an embedded file broker on one machine, Redis with `REDIS_URL`."""

import os
from typing import Any

from celery import Celery
from celery.beat import EmbeddedService
from celery.signals import task_prerun, worker_init, worker_ready, worker_shutdown

from distillery import env
from jobs.requestids import begin_request

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")

app = Celery("distillery")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

# A worker without the talk between workers that the file broker would have to write to disk.
WORKER_ARGUMENTS = ["worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]


@worker_init.connect
def write_for_ourselves(**_: Any) -> None:
    """What the jobs worker writes, no other user of the machine reads."""
    os.umask(0o077)


@task_prerun.connect
def begin_message(task_id: str, **_: Any) -> None:
    """What a message does has its id in the log; a job goes on under the id of who queued it."""
    begin_request(task_id)


@worker_ready.connect
def start_beat(**_: Any) -> None:
    """Run the timer as a thread of this worker if `JOBS_BEAT` asks for it."""
    if env.flag("JOBS_BEAT"):
        # Named here because the embedded timer does not read it from the settings.
        beat: Any = EmbeddedService(app, thread=True, scheduler_cls=app.conf.beat_scheduler)
        worker_shutdown.connect(lambda **_: beat.service.stop(wait=False), weak=False)
        beat.start()
