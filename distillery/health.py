"""Whether an installation works: the checks of `/health/ready`, and what load balancers and probes ask.

`/health/` is an ordinary page. `/health/live` and `/health/ready` are answered before the site looks at the
host and the scheme of a request: probes call a process by its address, and over http. Each process runs the
checks at most once in a few seconds, however often it is asked.
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
from typing import Any, Literal

from django.conf import settings
from django.contrib.auth.models import User
from django.db import Error as DatabaseTrouble
from django.db import OperationalError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from core.jobs.selectors import silences
from core.jobs.services import format_span
from distillery import lifeline
from distillery.version import VERSION

logger = logging.getLogger(__name__)
#: Results are kept for this time.
FRESH_SECONDS = 5.0
#: While one thread runs the checks, others wait this long for its results.
PATIENCE_SECONDS = 3.0
#: The probe waits so long for another writer; other writers may keep it out for so long in all.
LOCK_SECONDS, LOCKED_OUT_SECONDS = 2, 60.0
REDIS_SECONDS = 2
SILENCE = timedelta(seconds=60)
MIB = 1 << 20

_WRITE = (
    "INSERT INTO jobs_writeprobe (id, written_at) VALUES (1, CURRENT_TIMESTAMP)"
    " ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at"
)
#: PostgreSQL's code (lock_not_available).
_LOCK_NOT_AVAILABLE = "55P03"
Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that `manage.py doctor` or `up` looked at: how it is, and what to do if it is not well."""

    level: Level
    topic: str
    sentence: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check. Detail and figures are for those who run the installation."""

    is_ok: bool
    detail: str
    figures: Mapping[str, float] = field(default_factory=dict)

    def describe(self, *, with_details: bool) -> dict[str, Any]:
        """The check as a member of an answer."""
        status = {"status": "ok" if self.is_ok else "failed"}
        return {**status, "detail": self.detail, **self.figures} if with_details else status


class Readiness:
    """The checks of this process, with their latest results."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._found: dict[str, Check] = {}
        self._looked_at = -FRESH_SECONDS
        self._locked_out_since: float | None = None

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
        return [name for name, check in self._found.items() if not check.is_ok]

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._looked_at < FRESH_SECONDS

    def check_database(self) -> Check:
        """The database accepts a write, which a full disk or a standby does not; other writers are no fault.

        How long they may keep the probe out is counted from the first time they do: a process that is asked
        seldom has not written for long either.
        """
        try:
            _write()
        except DatabaseTrouble as error:
            now = time.monotonic()
            if _is_locked_out(error):
                if self._locked_out_since is None:
                    self._locked_out_since = now
                if now - self._locked_out_since < LOCKED_OUT_SECONDS:
                    return Check(True, "Another writer holds the database.")
            _leave_connection()
            return Check(False, f"The database accepts no write: {_first_line(error)}")
        self._locked_out_since = None
        return Check(True, "The database accepts writes.")


def check_running() -> Check:
    """This process was not asked to stop."""
    if lifeline.is_draining():
        return Check(False, "This server is being stopped.")
    return Check(True, "This server is not being stopped.")


def check_migrations() -> Check:
    """Every migration of this version is applied; later ones do no harm (decision 28)."""
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
        return Check(False, f"The data folder cannot be read: {error.strerror}.")
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
    import redis  # only where it is the broker

    try:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:
        return Check(False, f"Redis does not answer: {_first_line(error)}")
    return Check(True, "Redis answers.")


def check_worker() -> Check:
    """A jobs worker, on any host, has given a sign of life lately."""
    return _check_silence("jobs worker", lambda: silences().worker, settings.JOBS_POLL_SECONDS)


def check_timer() -> Check:
    """A message of the timer has reached a worker lately."""
    return _check_silence("timer", lambda: silences().timer, 0)


def _check_silence(who: str, ask: Callable[[], timedelta | None], every_seconds: int) -> Check:
    try:
        silence = ask()
    except DatabaseTrouble as error:
        return _cannot_ask(error)
    if silence is None:
        return Check(False, f"There was never a sign of life from a {who}.")
    figures = {"seconds": round(silence.total_seconds(), 1)}
    is_ok = silence <= max(SILENCE, timedelta(seconds=3 * every_seconds))
    return Check(is_ok, f"The last sign of life from the {who} was {format_span(silence)} ago.", figures)


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


def _is_locked_out(error: DatabaseTrouble) -> bool:
    """Whether another writer kept the probe waiting. PostgreSQL's messages may be in any language."""
    if connection.vendor == "postgresql":
        return getattr(error.__cause__, "pgcode", None) == _LOCK_NOT_AVAILABLE
    return "database is locked" in str(error)


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


#: Of this process.
readiness = Readiness()


# Programs that have METRICS_TOKEN may see figures and details of the installation.


def has_token(request: HttpRequest) -> bool:
    """Whether the request carries the token, where there is one."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return bool(settings.METRICS_TOKEN) and constant_time_compare(token, settings.METRICS_TOKEN)


@require_safe
@never_cache
def show_metrics(request: HttpRequest) -> HttpResponse:
    """The state of the installation, and counts of its processes on this host; 404 without METRICS_TOKEN."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not has_token(request):
        refused = HttpResponse("A token is needed: Authorization: Bearer …\n", status=401)
        refused["WWW-Authenticate"] = 'Bearer realm="metrics"'
        return refused
    from distillery.prometheus import CONTENT_TYPE, exposition  # noqa: PLC0415  # makes its folder

    return HttpResponse(exposition(), content_type=CONTENT_TYPE)


_LOOPBACK = ("127.0.0.1", "::1")
#: A proxy on this machine also calls from a loopback address, and names its client in a header.
_OF_PROXIES = ("HTTP_FORWARDED", "HTTP_VIA", "HTTP_X_REAL_IP")


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 if the database answers, 503 if not, and no more to visitors; staff get the version."""
    answers = _database_answers() or _database_answers()  # twice: the first may find a connection that died
    report = {"status": "ok" if answers else "unavailable", "database": "ok" if answers else "unreachable"}
    if answers and isinstance(request.user, User) and request.user.is_staff:
        report["version"] = VERSION
    return JsonResponse(report, status=200 if answers else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseTrouble:
        connection.close()
        return False
    return True


class ProbeMiddleware:
    """Answers `/health/live` and `/health/ready`, whatever name and scheme they are asked under."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._probes = {"/health/live": show_liveness, "/health/ready": show_readiness}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, or pass the request on."""
        probe = self._probes.get(request.path_info.removesuffix("/"))
        if probe is None:
            return self.get_response(request)
        if request.method not in ("GET", "HEAD"):
            return HttpResponseNotAllowed(["GET", "HEAD"])
        answer = probe(request)
        answer["Cache-Control"] = "no-store"
        # Django would log every 503 as an error of the page; `readiness` logs when that changes.
        answer._has_been_logged = True  # type: ignore[attr-defined]
        return answer


def show_liveness(request: HttpRequest) -> HttpResponse:
    """200: this process answers. Nothing else is looked at, so that no outage elsewhere has it restarted."""
    return JsonResponse({"status": "ok"})


def show_readiness(request: HttpRequest) -> HttpResponse:
    """200 if every check passes, 503 if one fails; `exclude=NAME` leaves one out and may be repeated."""

    excluded = request.GET.getlist("exclude")
    names = ("running", *CHECKS)
    if unknown := sorted(set(excluded).difference(names)):
        message = f"There is no check {', '.join(map(repr, unknown))}; there are {', '.join(names)}."
        return JsonResponse({"status": "error", "detail": message[:300]}, status=400)
    checks = {name: check for name, check in readiness.look().items() if name not in excluded}
    is_ready = all(check.is_ok for check in checks.values())
    details = _may_see_details(request)
    answer = {
        "status": "ok" if is_ready else "unavailable",
        "checks": {name: check.describe(with_details=details) for name, check in checks.items()},
    }
    return JsonResponse(answer, status=200 if is_ready else 503)


def _may_see_details(request: HttpRequest) -> bool:
    """Programs with METRICS_TOKEN, and requests that come from this machine without a proxy."""
    meta = request.META
    forwarded = any(name in meta for name in _OF_PROXIES) or any(
        name.startswith("HTTP_X_FORWARDED_") for name in meta
    )
    return has_token(request) or (meta.get("REMOTE_ADDR") in _LOOPBACK and not forwarded)
