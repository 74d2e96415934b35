"""The epoch: how an installation notices that its database is older than what it last did.

Each batch of calls raises a number in the database, in the transaction that marks the operations as sent,
and then in a file of the data folder, before the first call. So the file is never ahead of its own database.
Where it is, the database was restored from a backup: operations that it holds for planned may have been sent,
and others were that it knows nothing of. Then every marketplace is halted until
`manage.py crowd reconcile --after-restore` has compared what it has with what we know.

A data folder that has never seen a database which has sent something cannot tell whether that was restored.
It sends nothing until another host, whose folder knows the database, is seen to run, or a person says so.
"""

import contextlib
import json
import logging
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.core.files import locks
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from crowd.errors import CrowdError
from crowd.models import DispatchEpoch, DispatchHalt, Endpoint, MarketOperation

logger = logging.getLogger(__name__)
FILE = "dispatch-epoch.json"
COMMAND = "manage.py crowd reconcile --after-restore"
#: How often a host that knows the database says so in it, for hosts that do not know it yet.
VOUCH_EVERY = timedelta(seconds=30)
_NEVER = 2**62
OLDER = (
    "The database is older than what this installation last did (batch {there} of calls, the database knows "
    "{here}): it was restored from a backup."
)
UNKNOWN_FOLDER = (
    "The data folder {folder} has never seen this database, which has sent calls to marketplaces. If "
    f"the database was restored from a backup, run `{COMMAND}`. If it was not, and this host or its "
    "folder is new, run `manage.py crowd reconcile --not-restored`."
)


class RestoredError(CrowdError):
    """The database went back in time while this process ran."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the data folder remembers. `unsure_since`: how often hosts had vouched when it first looked."""

    installation: str
    number: int
    unsure_since: int | None = None


def obstacle() -> str:
    """Why this host sends nothing at the moment, in a sentence; empty where it may.

    Halts all endpoints where the database turns out to be older than the data folder.
    """
    try:
        return _compare()
    except OSError as error:
        return f"The data folder {settings.DATA_DIR} cannot be written: {error.strerror}."


def _compare() -> str:
    with _hold_lock():
        memory, row = _read(), _row()
        ours = memory is not None and memory.installation == row.installation.hex
        if memory is None or not ours:
            is_new = row.number == 0 if memory is None else not MarketOperation.objects.exists()
            memory = _Memory(row.installation.hex, row.number, None if is_new else row.vouched)
            _write(memory)
            if not is_new:
                logger.warning("%s", _unknown_folder())
        elif memory.unsure_since is not None and row.vouched > memory.unsure_since:
            memory = _Memory(memory.installation, row.number)
            _write(memory)
        if memory.unsure_since is not None:
            return _unknown_folder()
        if memory.number > row.number:
            row = _halt_for(OLDER.format(there=memory.number, here=row.number), at_least=memory.number + 1)
        if memory.number < row.number:
            _write(_Memory(memory.installation, row.number))
    return ""


def installation() -> str:
    """A short name of this database; a backup of it keeps the name, a new database has another."""
    return _row().installation.hex[:8]


def vouch() -> None:
    """Say in the database that a host which knows it is running; call it where there is no obstacle."""
    now = timezone.now()
    late = Q(vouched_at=None) | Q(vouched_at__lt=now - VOUCH_EVERY)
    DispatchEpoch.objects.filter(late).update(vouched=F("vouched") + 1, vouched_at=now)


def advance() -> int:
    """Raise the number in the caller's transaction, which marks operations as sent; pass it to `remember`."""
    row = _row()
    DispatchEpoch.objects.filter(pk=row.pk).update(number=F("number") + 1)
    return DispatchEpoch.objects.values_list("number", flat=True).get(pk=row.pk)


def remember(number: int) -> None:
    """Have the data folder know the number, on the disk, before anything is called.

    RestoredError where it knows a later one than the database: then nothing may be called.
    """
    with _hold_lock():
        memory = _read()
        row = _row()
        if memory is not None and memory.installation == row.installation.hex:
            if memory.number > row.number:
                sentence = OLDER.format(there=memory.number, here=row.number)
                _halt_for(sentence, at_least=memory.number + 1)
                raise RestoredError(sentence)
            number = max(number, memory.number)
        _write(_Memory(row.installation.hex, number))


def halt_all(why: str) -> int:
    """Send nothing to any marketplace until it was compared with what we know; how many there are.

    The number goes up too, so that no other host's data folder finds the database older once more.
    """
    with _hold_lock():
        memory, row = _read(), _row()
        remembered = memory.number if memory and memory.installation == row.installation.hex else 0
        _halt_for(why, at_least=max(remembered, row.number) + 1)
    return DispatchHalt.objects.count()


def trust() -> None:
    """This database is the one that this data folder goes with from now on."""
    with _hold_lock():
        row = _row()
        _write(_Memory(row.installation.hex, row.number))


def distrust(number: int) -> None:
    """A restored database is about to take its place: until it is halted, this data folder knows none."""
    with _hold_lock():
        memory = _read()
        installation = memory.installation if memory else ""
        number = max(number, memory.number) if memory else number
        _write(_Memory(installation, number, unsure_since=_NEVER))


def is_halted(endpoint: Endpoint) -> bool:
    """Whether nothing is sent to this marketplace for now."""
    return DispatchHalt.objects.filter(endpoint=endpoint).exists()


def unsure() -> str:
    """Why this data folder does not know the database, without looking closer; empty where it does."""
    memory = _read()
    return _unknown_folder() if memory is not None and memory.unsure_since is not None else ""


@transaction.atomic
def _halt_for(why: str, *, at_least: int) -> DispatchEpoch:
    logger.error("%s Nothing is sent to marketplaces until `%s` was run.", why, COMMAND)
    now = timezone.now()
    DispatchHalt.objects.bulk_create(
        [DispatchHalt(endpoint=endpoint, why=why[:300], since=now) for endpoint in Endpoint.objects.all()],
        ignore_conflicts=True,
    )
    DispatchEpoch.objects.filter(pk=_row().pk, number__lt=at_least).update(number=at_least)
    return _row()


def _row() -> DispatchEpoch:
    row = DispatchEpoch.objects.first()
    return row or DispatchEpoch.objects.get_or_create(pk=1, defaults={"installation": uuid.uuid4()})[0]


def _unknown_folder() -> str:
    return UNKNOWN_FOLDER.format(folder=settings.DATA_DIR)


# The file


def _path() -> Path:
    return Path(settings.DATA_DIR) / FILE


@contextlib.contextmanager
def _hold_lock() -> Iterator[None]:
    """One process at a time compares and writes; the database is read after the lock is taken."""
    with _path().with_suffix(".lock").open("w") as lock:
        locks.lock(lock, locks.LOCK_EX)
        yield


def _read() -> _Memory | None:
    try:
        return _Memory(**json.loads(_path().read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def _write(memory: _Memory) -> None:
    """Whole or not at all, and on the disk when this returns."""
    half = _path().with_suffix(".new")
    with half.open("w", encoding="utf-8") as file:
        json.dump(asdict(memory), file)
        file.flush()
        os.fsync(file.fileno())
    half.replace(_path())
    folder = os.open(_path().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
