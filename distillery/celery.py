"""The Celery application: an embedded file broker on one machine, Redis with `REDIS_URL`."""

import os
import signal
import time
from typing import Any

from celery import Celery
from celery.beat import EmbeddedService
from celery.signals import task_prerun, worker_init, worker_ready, worker_shutdown
from django.conf import settings

from core.jobs.spans import begin_request
from core.origin import Via, begin_arrival
from distillery import env, lifeline
from distillery.dbtimeouts import limit_connections
from distillery.queues import QueuePool

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")

app = Celery("distillery")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

#: What other jobs have to stop in, where a handler hangs.
STOP_SECONDS = 15
# A worker without the talk between workers that the file broker would have to write to disk.
WORKER_ARGUMENTS = ["worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]


@worker_init.connect
def write_for_ourselves(**_: Any) -> None:
    """What the jobs worker writes, no other user of the machine reads."""
    os.umask(0o077)


@worker_init.connect
def limit_statements(**_: Any) -> None:
    """No transaction of a job holds its locks for ever."""
    limit_connections("jobs")
    from distillery.presence import begin_signs  # noqa: PLC0415  # needs the apps

    begin_signs("jobs")


@task_prerun.connect
def begin_message(task_id: str, **_: Any) -> None:
    """What a message does has its id in the log; a job goes on under the id of who queued it."""
    begin_request(task_id)
    begin_arrival(Via.TIMER)  # a job that the message announces says so itself


@worker_ready.connect
def start_beat(**_: Any) -> None:
    """Run the timer as a thread of this worker if `JOBS_BEAT` asks for it."""
    if env.flag("JOBS_BEAT"):
        # Named here because the embedded timer does not read it from the settings.
        beat: Any = EmbeddedService(app, thread=True, scheduler_cls=app.conf.beat_scheduler)
        worker_shutdown.connect(lambda **_: beat.service.stop(wait=False), weak=False)
        beat.start()


@worker_ready.connect
def watch_jobs(sender: Any, **_: Any) -> None:
    """Find jobs whose message got lost, and end with a handler that hangs: nothing else ends its thread."""
    from core.jobs import handlers, runner  # noqa: PLC0415  # need the models, which are there only now

    jobs = settings.CELERY_TASK_DEFAULT_QUEUE
    if jobs not in app.amqp.queues.consume_from or not isinstance(sender.pool, QueuePool):
        return
    handlers.on_hang = end_process
    poller = runner.Poller(sender.pool.lanes[jobs], every=settings.JOBS_POLL_SECONDS)
    worker_shutdown.connect(lambda **_: poller.stop(), weak=False)
    poller.start()


def end_process() -> None:
    """Stop in good order, so that other jobs go back to the queue; then without waiting for what hangs."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    os._exit(1)


@worker_ready.connect
def say_so(**_: Any) -> None:
    """A worker that takes another's place says that it can."""
    lifeline.announce_ready()
