"""The finished demonstration as a file: how it is written after a live run, and how it begins again.

The file has no secret. Passwords, keys and tokens are made at each start and sealed with that start's
SECRET_KEY, addresses name that start's port, and deadlines that were still to come move by the file's age.
All else stays as it was made: pseudonym keys, releases, the audit log and every time at which something was
done.
"""

import contextlib
import json
import sqlite3
import tarfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection, connections, transaction
from django.db.models import F, Model, Value
from django.db.models.functions import Replace
from django.utils import timezone

from core.accounts.services import printed_password
from core.crypto import seal
from core.crypto.models import Canary
from crowd.models import Assignment, Endpoint, Hit, MarketOperation
from crowd.services.endpoints import change_keys
from crowd.simulation.panel import Panel
from distillery.canary import SEALED, place_canary
from distillery.demo.place import FILE
from marketplace import ids
from marketplace.accounts.accesskeys import SEALED_FOR, IssuedKey
from marketplace.models import HIT, AccessKey, Holding, Message, Worker
from people.models import Guest, StudyLink
from people.tokens import new_code, new_token, seal_recovery, seal_token

PANEL, SUMMARY = "panel.sqlite3", "summary.json"
#: What of the data folder belongs to it; the rest is made by whatever starts there.
PARTS = ("distillery.sqlite3", PANEL, SUMMARY, "dispatch-epoch.json", "indexes", "networks", "releases")
#: Values that open something, besides those that are sealed.
SECRETS: tuple[tuple[type[Model], str, str | None], ...] = (
    (User, "password", "!"),
    (Worker, "token_digest", None),
    (StudyLink, "token_digest", ""),
)
#: Columns with addresses of the server. Those of operations are what was sent, and are compared with its own.
ADDRESSES: tuple[tuple[type[Model], str], ...] = (
    (Endpoint, "url"),
    (MarketOperation, "endpoint_url"),
    (HIT, "question"),
    (Message, "body"),
)
DEADLINES: tuple[tuple[type[Model], str], ...] = (
    (HIT, "expires_at"),
    (Holding, "deadline"),
    (Holding, "auto_approve_at"),
    (Hit, "expires_at"),
    (Assignment, "auto_approve_at"),
)


def write_file(folder: Path, file: Path = FILE) -> None:
    """Take the secrets out of the demonstration that was made in this folder and is stopped; keep it."""
    for model, field, _ in SEALED:
        model._default_manager.update(**{field: ""})
    for model, field, value in SECRETS:
        model._default_manager.update(**{field: value})
    for model in (Canary, Session):
        model._default_manager.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # also wipes what was deleted
    connections.close_all()  # the last one leaves all in one file
    with tarfile.open(file, "w:xz", preset=9) as archive:
        for part in PARTS:
            archive.add(folder / part, part, filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without who wrote it and when."""
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o700 if entry.isdir() else 0o600
    return entry


@transaction.atomic
def begin_again(site: str, panel: Panel) -> tuple[dict[str, Any], str, IssuedKey]:
    """Give the unpacked demonstration new secrets, this address and time: its summary, password and key."""
    summary = json.loads((settings.DATA_DIR / SUMMARY).read_text(encoding="utf-8"))
    _move_addresses(summary["url"], site)
    _move_deadlines(datetime.fromisoformat(summary["made_at"]))
    password = printed_password()
    User.objects.update(password=make_password(password))  # one hash takes most of a second
    row, secret = AccessKey.objects.get(), ids.new_secret()
    row.access_key, row.secret_sealed = ids.new_access_key(), seal(secret, purpose=SEALED_FOR)
    row.save(update_fields=["access_key", "secret_sealed"])
    change_keys(endpoint=Endpoint.objects.get(name="demo"), access_key=row.access_key, secret=secret)
    Endpoint.objects.filter(name="panel").update(url=panel.site)
    pool = Endpoint.objects.get(name="panel")
    change_keys(endpoint=pool, access_key=pool.access_key, secret=panel.token)
    for link in StudyLink.objects.all():
        link.token_digest, link.token_sealed = seal_token(new_token())
        link.save(update_fields=["token_digest", "token_sealed"])
    for guest in Guest.objects.all():
        guest.recovery_digest, guest.recovery_sealed = seal_recovery(new_code())
        guest.save(update_fields=["recovery_digest", "recovery_sealed"])
    place_canary()
    return summary, password, IssuedKey(row, secret)


def _move_addresses(former: str, site: str) -> None:
    for model, field in ADDRESSES:
        model._default_manager.update(**{field: Replace(field, Value(former), Value(site))})
    with contextlib.closing(sqlite3.connect(settings.DATA_DIR / PANEL)) as books:
        books.execute("UPDATE things SET body = replace(body, ?, ?)", (former, site))
        books.commit()
    Endpoint.objects.update(submit_origins=[site, site.replace("localhost", "127.0.0.1")])


def _move_deadlines(made_at: datetime) -> None:
    age: timedelta = timezone.now() - made_at
    for model, field in DEADLINES:
        model._default_manager.filter(**{f"{field}__gt": made_at}).update(**{field: F(field) + age})
