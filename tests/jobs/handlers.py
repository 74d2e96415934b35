"""Handlers for the tests, here and in real workers: each effect is one row in `test_effects`."""

import os
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path

from django.db import connection

from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext, handler

HANGS_UNTIL = threading.Event()


def leave_effect(name):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO test_effects (name) VALUES (%s)", [name])


def effects(name):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM test_effects WHERE name = %s", [name])
        return cursor.fetchone()[0]


@handler("test.effect")
def one_effect(context: JobContext):
    context.commit(lambda: leave_effect(context.payload["name"]))


@handler("test.killed-at-work")
def killed_at_work(context: JobContext):
    if context.attempt == 1:
        Path(context.payload["marker"]).write_text(str(os.getpid()))
        time.sleep(60)
    context.commit(lambda: leave_effect(context.payload["name"]))


@handler("test.killed-in-its-effect")
def killed_in_its_effect(context: JobContext):
    def effect():
        leave_effect(context.payload["name"])
        if context.attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    context.commit(effect)


@handler("test.too-much-memory")
def too_much_memory(context: JobContext):
    raise MemoryError


@handler("test.long")
def long_work(context: JobContext):
    Path(context.payload["marker"]).write_text(str(os.getpid()))
    for step in range(600):
        context.progress(step, 600, "counting")
        time.sleep(0.1)
    context.commit(lambda: leave_effect(context.payload["name"]))


@handler("test.silent")
def silent_work(context: JobContext):
    time.sleep(context.payload["seconds"])
    context.commit(lambda: leave_effect(context.payload["name"]))


@handler("test.overlong", longest=timedelta(seconds=0.2))
def overlong(context: JobContext):
    try:
        while True:
            context.progress(1, 2)
            time.sleep(0.01)
    finally:
        leave_effect("noticed")


@handler("test.hangs", longest=timedelta(seconds=0.2))
def hanging(context: JobContext):
    HANGS_UNTIL.wait()


@handler("test.result")
def only_a_result(context: JobContext):
    context.progress(3, 3, "counted")
    return {"answer": 42}


@handler("test.passing-trouble")
def passing_trouble(context: JobContext):
    raise ValueError("the line was busy")


@handler("test.hopeless")
def hopeless(context: JobContext):
    raise PermanentError("The file is not a table.")


@handler("test.failing-effect")
def failing_effect(context: JobContext):
    def effect():
        leave_effect(context.payload["name"])
        raise ValueError("too late")

    context.commit(effect)


@handler("test.two-effects")
def two_effects(context: JobContext):
    context.commit(lambda: leave_effect(context.payload["name"]))
    context.commit(lambda: leave_effect(context.payload["name"]))
