"""Waiting for a database or a Redis that is not there yet: they often start at the same moment as we do."""

import time
from collections.abc import Callable

from django.conf import settings
from django.db import OperationalError, connection

PATIENCE_LOOK_SECONDS = 0.25
#: What PostgreSQL and its client say where a later try may succeed; nothing else is waited for.
NOT_YET = (
    "connection refused",
    "is starting up",
    "is shutting down",
    "in recovery mode",
    "not yet accepting connections",
    "no such file or directory",  # of its Unix socket
    "could not translate host name",
    "no route to host",
    "timeout expired",
    "server closed the connection unexpectedly",
    "connection reset by peer",
)


def wait_for_services(seconds: float, *, say: Callable[[str], None]) -> None:
    """Wait until both answer, or refuse for good, or the time is over; the checks say what is wrong then."""
    deadline = time.monotonic() + seconds
    for name, look in (("database", why_no_database), ("Redis", why_no_redis)):
        announced = False
        while (reason := look()) and time.monotonic() < deadline:
            if not announced:
                announced = True
                say(f"{name[0].upper()}{name[1:]} not there yet ({reason}); waiting up to {seconds:g} s.")
            time.sleep(PATIENCE_LOOK_SECONDS)


def why_no_database() -> str:
    """Why PostgreSQL cannot be reached yet; nothing where it can, or where waiting does not help."""
    if connection.vendor != "postgresql":
        return ""
    try:
        connection.ensure_connection()
    except OperationalError as error:
        message = " ".join(str(error).split())
        return message if any(sign in message.lower() for sign in NOT_YET) else ""
    return ""


def why_no_redis() -> str:
    """The same of Redis."""
    if not settings.REDIS_URL:
        return ""
    import redis  # takes a tenth of the start of each command

    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=5, socket_timeout=5) as client:
            client.ping()
    except (redis.AuthenticationError, redis.ResponseError, ValueError):
        return ""
    except redis.BusyLoadingError:
        return "it is loading its data"
    except (redis.ConnectionError, redis.TimeoutError) as error:
        return str(error)
    return ""
