"""How gunicorn serves Distillery, for `manage.py up` and for `gunicorn -c python:distillery.gunicorn_conf`.

Threads, because a page waits for the database most of its time; few processes, because one of them holds the
whole application. Measured: asynchronous workers with synchronous views were 8 to 35 times slower.
"""

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from distillery import env, lifeline

_address = env.text("WEB_BIND", "127.0.0.1")
# Opened by `up`, which keeps it open while the web server restarts.
_socket = os.environ.get("DISTILLERY_SOCKET")

wsgi_app = "distillery.wsgi:application"
bind = f"fd://{_socket}" if _socket else f"{_address}:{env.integer('PORT', 8000)}"
backlog = 1024
# Loaded once for all its processes. `up` replaces the whole server where it is told to reload; gunicorn alone
# loads each process anew, so that a signal to it is enough.
preload_app = bool(_socket)
worker_class = "distillery.webworker.PatientWorker"
workers = env.integer("WEB_WORKERS", 2, least=1)
threads = env.integer("WEB_THREADS", 8, least=1)
keepalive = 15
timeout = 60
# `/health/ready` answers 503 for this time before connections are refused. Under `up` the supervisor waits.
drain_seconds = 0 if _socket else env.integer("WEB_DRAIN_SECONDS", 0)
graceful_timeout = 20 + drain_seconds
forwarded_allow_ips = env.text("FORWARDED_ALLOW_IPS", "127.0.0.1,::1")
limit_request_line = 8190
limit_request_fields = 60
limit_request_field_size = 8190
control_socket_disable = True
accesslog = "-" if env.flag("WEB_ACCESS_LOG") else None
loglevel = env.text("LOG_LEVEL", "WARNING").lower()
if Path("/dev/shm").is_dir() and os.access("/dev/shm", os.W_OK):  # noqa: S108  # a signal file, in memory
    worker_tmp_dir = "/dev/shm"  # noqa: S108 - memory, as gunicorn's manual recommends


#: Seconds after which a thread that computes yields the interpreter to one that waits for it. A thread that
#: holds a lock of the database releases the interpreter with each statement; with Python's default of 5 ms it
#: got it back that much later, while all others waited for its transaction.
SWITCH_SECONDS = 0.0005


def on_starting(server: Any) -> None:
    """Wait for the database; begin counting at 0 (`/metrics`)."""
    lifeline.wait_to_begin()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    from django.conf import settings  # noqa: PLC0415  # `up`, too, reads this module, before settings are

    forget_dead_processes(Path(settings.DATA_DIR) / "monitoring")


def forget_dead_processes(folder: Path) -> None:
    """Remove the counts of processes that have ended; for the start of a server, whose counts begin at 0."""
    for file in folder.glob("*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            with suppress(OSError):
                file.unlink()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it lives, as another user's
        return True
    return True


def post_fork(server: Any, worker: Any) -> None:
    """Have every worker notice by itself that the supervisor is gone."""
    lifeline.watch()


def child_exit(server: Any, worker: Any) -> None:
    """A worker has ended, perhaps without a word."""
    from distillery.worker_loads import LOADS  # noqa: PLC0415  # `up` reads this module for its settings alone

    LOADS.forget(worker.age)


def post_worker_init(worker: Any) -> None:
    """A worker has loaded the application, and accepts connections from now on."""
    from distillery.presence import begin_signs  # noqa: PLC0415  # needs the application

    # What is loaded stays; looking through it again for garbage takes time from pages.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    sys.setswitchinterval(SWITCH_SECONDS)
    begin_signs("web")
    lifeline.announce_ready()
