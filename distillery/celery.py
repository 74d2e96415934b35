"""The Celery application: its broker, and queues with threads for each, so that slow ones hold up no other.

The broker is Redis with `REDIS_URL`, else files on one machine. One process consumes all queues, and takes
every message at once (no prefetch limit): a limit counts the messages of all queues together, so those that
wait for a busy queue would keep out the others. What is taken waits here, without its like: a message is only
a hint. Jobs are in their table, and the timer asks again for the rest.
"""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty
from typing import Any
from uuid import uuid4

from celery import Celery
from celery.beat import EmbeddedService
from celery.concurrency.base import apply_target
from celery.concurrency.thread import ApplyResult, TaskPool  # type: ignore[attr-defined]  # the stubs miss it
from celery.signals import task_prerun, worker_init, worker_ready, worker_shutdown
from django.conf import settings
from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.encoding import bytes_to_str, str_to_bytes
from kombu.utils.json import dumps, loads

from core.jobs.errors import stopping
from core.jobs.spans import begin_request
from core.origin import Via, begin_arrival
from distillery import env, lifeline
from distillery.dbtimeouts import limit_connections


class Lane:
    """The threads of one queue, and what waits for them."""

    def __init__(self, queue: str, threads: int) -> None:
        self.threads = threads
        self.executor = ThreadPoolExecutor(threads, thread_name_prefix=queue)
        self._present: set[Hashable] = set()
        self._lock = threading.Lock()

    @property
    def free(self) -> int:
        """How many threads have nothing to do."""
        return max(0, self.threads - len(self._present))

    def submit(self, key: Hashable, call: Callable[[], Any]) -> Future[Any] | None:
        """Have a thread make this call; None where one with the same key runs or waits already."""
        with self._lock:
            if key in self._present:
                return None
            self._present.add(key)
        try:
            future = self.executor.submit(call)
        except RuntimeError:  # the worker stops
            self._present.discard(key)
            return None
        future.add_done_callback(lambda _: self._present.discard(key))
        return future


class QueuePool(TaskPool):
    """Celery's pool of threads, with separate threads for every queue."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sizes: dict[str, int] = {**settings.QUEUE_THREADS, settings.CELERY_TASK_DEFAULT_QUEUE: self.limit}
        self.lanes = {queue: Lane(queue, threads) for queue, threads in sizes.items()}

    def on_stop(self) -> None:
        """Let running tasks end; those that wait go back to the broker."""
        for lane in self.lanes.values():
            lane.executor.shutdown(wait=False, cancel_futures=True)
        for lane in self.lanes.values():
            lane.executor.shutdown()
        super().on_stop()

    def on_apply(
        self,
        target: Callable[..., Any],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
        callback: Callable[..., Any] | None = None,
        accept_callback: Callable[..., Any] | None = None,
        **_: Any,
    ) -> ApplyResult:
        """Give a message to the threads of its queue, or drop it where its like is there.

        A worker that is stopping drops none. A job that it gives back is announced before its thread ends:
        that message is not acknowledged here, and goes to another worker.
        """
        name, _id, request, body = (args or ())[:4]
        call = partial(apply_target, target, args, kwargs, callback, accept_callback)
        future = self._lane_of(request).submit((name, bytes_of(body)), call)
        if future is None and stopping.is_set():
            future = Future()
        elif future is None:
            future = Future()
            future.set_result(None)
            if accept_callback is not None:
                accept_callback(os.getpid(), time.monotonic())
            if callback is not None:
                callback((False, None, 0.0))
        return ApplyResult(future)

    def _lane_of(self, request: dict[str, Any]) -> Lane:
        queue = (request.get("delivery_info") or {}).get("routing_key")
        return self.lanes.get(str(queue), self.lanes[settings.CELERY_TASK_DEFAULT_QUEUE])


def bytes_of(body: Any) -> bytes:
    """What a message says, to compare it with others."""
    return body.encode() if isinstance(body, str) else bytes(body)


# The embedded broker: Celery's file transport, with messages that appear and disappear in one step.
#
# Kombu's own writes a message under its final name, so a reader that is quick enough finds nothing in it,
# fails, and the message is lost (286 of 6,000 with two busy readers). Here a message gets its name when it is
# complete, and a reader takes it by renaming it within the data folder: one of them wins.


class Channel(filesystem.Channel):
    """Puts and takes whole messages, the oldest first: a name begins with the time."""

    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]  # the stubs disagree
        name = f"{time.time_ns():020d}_{uuid4().hex}.{queue}.msg"
        folder = Path(self.data_folder_out)
        unfinished = folder / f".{name}"
        try:
            unfinished.write_bytes(str_to_bytes(dumps(payload)))
            unfinished.rename(folder / name)
        except OSError as error:
            raise ChannelError(f"The message could not be written into {folder}: {error}") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        waiting = (path.name for path in Path(self.data_folder_in).iterdir())
        for name in sorted(name for name in waiting if name.partition(".")[2] == f"{queue}.msg"):
            processed = Path(self.processed_folder, name)
            with contextlib.suppress(FileNotFoundError):  # another worker was quicker
                Path(self.data_folder_in, name).rename(processed)
                content = processed.read_bytes()
                processed.unlink()
                return loads(bytes_to_str(content))
        raise Empty


class Transport(filesystem.Transport):
    """The file transport with these channels."""

    Channel = Channel


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
