"""The Celery application: an embedded file broker on one machine, Redis with `REDIS_URL`."""

import os
from typing import Any

from celery import Celery
from celery.beat import EmbeddedService
from celery.signals import worker_init, worker_ready, worker_shutdown

from distillery import env

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


@worker_ready.connect
def start_beat(**_: Any) -> None:
    """Run the timer as a thread of this worker if `JOBS_BEAT` asks for it."""
    if env.flag("JOBS_BEAT"):
        # Named here because the embedded timer does not read it from the settings.
        beat: Any = EmbeddedService(app, thread=True, scheduler_cls=app.conf.beat_scheduler)
        worker_shutdown.connect(lambda **_: beat.service.stop(wait=False), weak=False)
        beat.start()
