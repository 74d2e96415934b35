"""What `/health/ready` looks at: whether this process can do its work, and what that work depends on.

Everything is looked at once in a few seconds per process, however often it is asked for.
"""

import logging
import os
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import OperationalError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from distillery import lifeline
from jobs.selectors import silences
from jobs.services import format_span

logger = logging.getLogger(__name__)
#: What was found is told again for so long.
FRESH_SECONDS = 5.0
#: Who asks while another thread looks waits so long for what that one finds.
PATIENCE_SECONDS = 3.0
#: The probe waits so long for another writer, and other writers may keep it out for so long.
LOCK_SECONDS, LOCKED_OUT_SECONDS = 2, 60.0
REDIS_SECONDS = 2
SILENCE = timedelta(seconds=60)
MIB = 1 << 20

_WRITE = (
    "INSERT INTO jobs_writeprobe (id, written_at) VALUES (1, CURRENT_TIMESTAMP)"
    " ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at"
)
_LOCKED = ("database is locked", "lock timeout")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. Detail and figures are for those who look after the installation."""

    is_well: bool
    detail: str
    figures: Mapping[str, float] = field(default_factory=dict)

    def describe(self, *, with_details: bool) -> dict[str, Any]:
        """The check as a member of an answer."""
        status = {"status": "ok" if self.is_well else "failed"}
        return {**status, "detail": self.detail, **self.figures} if with_details else status


class Readiness:
    """The checks of this process, with what they found lately."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._found: dict[str, Check] = {}
        self._looked_at = -FRESH_SECONDS
        self._written_at = time.monotonic()

    def look(self) -> dict[str, Check]:
        """Every check by name. That this process is being stopped is noticed at once, the rest in time."""
        if not self._is_fresh():
            if not self._looking.acquire(timeout=PATIENCE_SECONDS):
                late = Check(False, f"The checks have taken longer than {PATIENCE_SECONDS:g} s.")
                return {"running": check_running(), **dict.fromkeys(CHECKS, late)}
            try:
                if not self._is_fresh():
                    self._look()
            finally:
                self._looking.release()
        return {"running": check_running(), **self._found}

    def _look(self) -> None:
        before = self._failing()
        self._found = {"database": self.check_database()} | {name: look() for name, look in _OTHERS}
        self._looked_at = time.monotonic()
        if (now := self._failing()) != before:
            details = " ".join(self._found[name].detail for name in now)
            logger.warning("%s", f"Not ready. {details}" if now else "Everything is ready again.")

    def _failing(self) -> list[str]:
        return [name for name, check in self._found.items() if not check.is_well]

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._looked_at < FRESH_SECONDS

    def check_database(self) -> Check:
        """The database takes a write, which a full disk or a standby does not; other writers are no fault."""
        try:
            _write()
        except DatabaseTrouble as error:
            locked_out = time.monotonic() - self._written_at
            if any(words in str(error) for words in _LOCKED) and locked_out < LOCKED_OUT_SECONDS:
                return Check(True, "Another writer holds the database.")
            _leave_connection()
            return Check(False, f"The database takes no write: {_first_line(error)}")
        self._written_at = time.monotonic()
        return Check(True, "The database takes writes.")


def check_running() -> Check:
    """Nobody has asked this process to stop."""
    if lifeline.is_draining():
        return Check(False, "This server is being stopped.")
    return Check(True, "This server is not being stopped.")


def check_migrations() -> Check:
    """Every migration that this version has was applied; later ones do no harm (decision 28)."""
    try:
        missing = sorted(_own_migrations() - MigrationRecorder(connection).applied_migrations().keys())
    except DatabaseTrouble as error:
        return _cannot_ask(error)
    if missing:
        named = ", ".join(f"{app}.{name}" for app, name in missing[:5])
        return Check(False, f"Not applied: {named}.", {"missing": len(missing)})
    return Check(True, "All migrations are applied.", {"missing": 0})


def check_disk() -> Check:
    """The data folder, and the folder of an SQLite database, have room."""
    folders = [Path(settings.DATA_DIR)]
    if connection.vendor == "sqlite" and Path(str(connection.settings_dict["NAME"])).is_file():
        folders.append(Path(str(connection.settings_dict["NAME"])).parent)
    try:
        free = min(shutil.disk_usage(folder).free for folder in folders)
    except OSError as error:
        return Check(False, f"The data folder cannot be looked at: {error.strerror}.")
    figures = {"free_mib": free // MIB}
    if free < settings.DISK_LEAST_FREE_MB * MIB:
        return Check(False, f"Less than {settings.DISK_LEAST_FREE_MB} MiB are free.", figures)
    return Check(True, f"{free // MIB} MiB are free.", figures)


def check_broker() -> Check:
    """Messages can be sent."""
    if not settings.REDIS_URL:
        folder = Path(settings.DATA_DIR) / "broker" / "queue"
        if os.access(folder, os.W_OK | os.X_OK):
            return Check(True, "The folder of the embedded broker can be written.")
        return Check(False, "The folder of the embedded broker cannot be written.")
    import redis  # noqa: PLC0415  # only where it is the broker

    try:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        return Check(False, f"Redis does not answer: {_first_line(error)}")
    return Check(True, "Redis answers.")


def check_worker() -> Check:
    """A jobs worker, on whichever host, showed lately that it runs."""
    return _heard("jobs worker", lambda: silences().worker, settings.JOBS_POLL_SECONDS)


def check_timer() -> Check:
    """A message of the timer came to a worker lately."""
    return _heard("timer", lambda: silences().timer, 0)


def _heard(who: str, ask: Callable[[], timedelta | None], every_seconds: int) -> Check:
    try:
        silence = ask()
    except DatabaseTrouble as error:
        return _cannot_ask(error)
    if silence is None:
        return Check(False, f"Nothing was ever heard of a {who}.")
    figures = {"seconds": round(silence.total_seconds(), 1)}
    well = silence <= max(SILENCE, timedelta(seconds=3 * every_seconds))
    return Check(well, f"The {who} was last heard {format_span(silence)} ago.", figures)


_OTHERS: tuple[tuple[str, Callable[[], Check]], ...] = (
    ("migrations", check_migrations),
    ("disk", check_disk),
    ("broker", check_broker),
    ("worker", check_worker),
    ("timer", check_timer),
)
CHECKS = ("database", *(name for name, _ in _OTHERS))


def _write() -> None:
    """Write one row, and wait for another writer for a moment only."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('lock_timeout', %s, true), set_config('statement_timeout', %s, true)",
                [f"{LOCK_SECONDS}s", f"{2 * LOCK_SECONDS}s"],
            )
            cursor.execute(_WRITE)
        return
    # One statement, which waits as SQLite does; a transaction would wait in line without an end.
    with connection.cursor() as cursor:
        before = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        cursor.execute(f"PRAGMA busy_timeout = {LOCK_SECONDS * 1000}")
        try:
            cursor.execute(_WRITE)
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(before)}")


def _leave_connection() -> None:
    """A connection that died is not asked again; one with an open transaction belongs to that."""
    if not connection.in_atomic_block:
        with suppress(OperationalError):
            connection.close()


@cache
def _own_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


def _cannot_ask(error: Exception) -> Check:
    _leave_connection()
    return Check(False, f"The database does not answer: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


#: What this process found.
readiness = Readiness()
