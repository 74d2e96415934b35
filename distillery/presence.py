"""Every host says in the database that it is there and with which settings; `doctor` compares them.

A host is a data folder. Its web server and its jobs worker each have a row, renewed by a thread. Settings are
told as digests: keys and addresses with passwords stay where they are.
"""

import hashlib
import logging
import socket
import threading
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.jobs.models import HostSign
from core.storage import host_id
from distillery.health import Finding
from distillery.version import VERSION

logger = logging.getLogger(__name__)
SIGN_SECONDS = 30.0
SILENT_AFTER, FORGOTTEN_AFTER = timedelta(minutes=3), timedelta(days=7)
TOLERATED_SKEW_S = 5
#: Settings that all hosts of an installation have alike.
ALIKE = (
    "DATA_STORAGE",
    "DATA_S3_ENDPOINT",
    "RELEASES_STORAGE",
    "REDIS_URL",
    "PUBLIC_URL",
    "TASK_URL",
    "MARKETPLACE_CURRENCY",
    "MARKETPLACE_FEE_PROFILE",
    "MARKETPLACE_REGISTRATION",
    "MARKETPLACE_QUEUE_LIMIT",
    "MARKETPLACE_REQUESTS_PER_SECOND",
    "PAYOUT_METHODS",
    "PAYOUT_MINIMUMS",
    "PAYOUT_SENDER",
    "PAYOUT_WARN_CENTS",
    "PAYOUT_HOLD_CENTS",
    "RETRIEVAL_ENGINE",
    "OPENSEARCH_PREFIX",
    "JOBS_LEASE_SECONDS",
)


def begin_signs(part: str) -> None:
    """Say from now on that this part ("web" or "jobs") of this host is there, in a thread.

    Nothing is said on SQLite, which no second host can use.
    """
    if connection.vendor == "sqlite":
        return
    threading.Thread(target=_sign_on, args=[part], name="sign of life", daemon=True).start()


def sign(part: str) -> None:
    """Say it once, and forget hosts that have been gone for long."""
    facts = {"alike": digest_settings(), "version": VERSION, "queues": _queues(part), "skew_s": _skew_s()}
    named = {
        "host_name": settings.HOST_NAME or socket.gethostname(),
        "facts": facts,
        "seen_at": Now(),
    }
    HostSign.objects.update_or_create(host=host_id(), part=part, defaults=named)
    HostSign.objects.filter(seen_at__lt=Now() - FORGOTTEN_AFTER).delete()


def digest_settings() -> dict[str, str]:
    """A digest of each setting that hosts have alike; who reads the table cannot try values out."""
    digests = {name: _digest(name) for name in ALIKE}
    key = hashlib.pbkdf2_hmac("sha256", settings.SECRET_KEY.encode(), b"distillery.presence", 10_000)
    return {"SECRET_KEY": key.hex()[:16], **digests}


def _digest(name: str) -> str:
    value = getattr(settings, name)
    if name == "RELEASES_STORAGE" and "://" not in value:
        value = "a folder"  # which hosts may have in different places
    return salted_hmac("distillery.presence", f"{name}={value}", algorithm="sha256").hexdigest()[:16]


def hosts() -> list[Finding]:
    """Hosts that are silent, differ in version or settings, have another time, or a copied data folder."""
    rows = list(HostSign.objects.annotate(now=Now()).order_by("host_name", "part"))
    lively = [row for row in rows if row.now - row.seen_at <= SILENT_AFTER]
    troubles = [
        Finding(
            "warning",
            "hosts",
            f"The {row.part} part of host {row.host_name} has said nothing since {row.seen_at:%d %b %H:%M}.",
            "Start it, or wait: it is forgotten after seven days.",
        )
        for row in rows
        if row not in lively and row.part not in {each.part for each in lively if each.host == row.host}
    ]
    own_digests = digest_settings()
    for row in lively:
        their_digests = row.facts["alike"]
        differing = [name for name, value in own_digests.items() if their_digests.get(name, value) != value]
        if "SECRET_KEY" in differing:  # the digests of the others are made with it
            differing = ["SECRET_KEY"]
        if differing:
            troubles.append(
                Finding(
                    "error",
                    "hosts",
                    f"{row.part} on host {row.host_name} has another {', '.join(differing)} than this host.",
                    "Give all hosts the same and start them again.",
                )
            )
        if row.facts["version"] != VERSION:
            sentence = f"{row.part} on host {row.host_name} runs {row.facts['version']}, this host {VERSION}."
            troubles.append(Finding("warning", "hosts", sentence, "Finish the upgrade."))
        if abs(row.facts["skew_s"]) > TOLERATED_SKEW_S:
            sentence = f"The clock of host {row.host_name} is {row.facts['skew_s']:.0f} s off the database's."
            troubles.append(Finding("warning", "hosts", sentence, "Run a time service on it."))
    names: dict[str, set[str]] = {}
    for row in lively:
        names.setdefault(row.host, set()).add(row.host_name)
    troubles += [
        Finding(
            "error",
            "hosts",
            f"Hosts {' and '.join(sorted(each))} have one token: a data folder was copied, or is shared.",
            "Give each host a data folder of its own, without the file host-id of another.",
        )
        for each in names.values()
        if len(each) > 1
    ]
    if len(names) > 1 and not settings.DATA_STORAGE:
        sentence = f"There are {len(names)} hosts and no DATA_STORAGE: uploads and indexes stay on one."
        troubles.append(Finding("error", "hosts", sentence, 'See "Second host" in docs/hosts.md.'))
    if troubles:
        return troubles
    return [Finding("ok", "hosts", f"{len(names)} hosts, with the same settings." if len(names) > 1 else "")]


def _queues(part: str) -> list[str]:
    return sorted(settings.QUEUE_THREADS) if part == "jobs" else []


def _skew_s() -> float:
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        before = timezone.now()
        cursor.execute("SELECT clock_timestamp()")
        database_time: datetime = cursor.fetchone()[0]
    return float(round((before + (timezone.now() - before) / 2 - database_time).total_seconds(), 1))


def _sign_on(part: str) -> None:
    pause = threading.Event()
    while True:
        try:
            sign(part)
        except DatabaseTrouble as error:
            logger.info("The sign of this host could not be written: %s", error)
        finally:
            connection.close()
        pause.wait(SIGN_SECONDS)
