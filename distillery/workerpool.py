"""The threads of a jobs worker: some for each queue, so that nothing slow in one holds up another.

One process consumes all queues, and takes every message at once (no prefetch limit): a limit counts the
messages of all queues together, so those that wait for a busy queue would keep out the others. What is taken
waits here, without its like: a message is only a hint. Jobs are in their table, and the timer asks again for
the rest.
"""

import os
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from celery.concurrency.base import apply_target
from celery.concurrency.thread import ApplyResult, TaskPool  # type: ignore[attr-defined]  # the stubs miss it
from django.conf import settings

from core.jobs.errors import stopping


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
    """Celery's pool of threads, with threads of its own for every queue."""

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
