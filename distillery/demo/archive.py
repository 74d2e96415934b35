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
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Model, Value
from django.db.models.functions import Replace
from django.utils import timezone

from core.accounts.services import printed_password
from core.crypto import seal
from crowd.models import Assignment, Endpoint, Hit, MarketOperation
from crowd.services.endpoints import change_keys
from crowd.simulation.panel import Panel
from distillery.backup import save_database
from distillery.canary import place_canary
from distillery.demo.place import FILE
from distillery.env import SEALED_COLUMNS
from marketplace import ids
from marketplace.models import HIT, AccessKey, Holding, Message
from marketplace.services.accesskeys import SEALED_FOR, IssuedKey
from people.models import Guest, StudyLink
from people.tokens import TOKEN, digest, new_code, new_token, seal_recovery

DATABASE, PANEL, SUMMARY = "distillery.sqlite3", "panel.sqlite3", "summary.json"
#: What of the data folder belongs to it beside the database; the rest is made by whatever starts there.
PARTS = (PANEL, SUMMARY, "dispatch-epoch.json", "indexes", "networks", "releases")
#: Values that open something, besides those that are sealed.
SECRETS = (
    "DELETE FROM sealing_canary",
    "UPDATE auth_user SET password = '!'",
    "UPDATE marketplace_worker SET token_digest = NULL",
    "UPDATE people_studylink SET token_digest = ''",
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
    """Keep the demonstration that was made in this folder and is stopped by now."""
    with tempfile.TemporaryDirectory() as place, tarfile.open(file, "w:xz", preset=9) as archive:
        copy = Path(place, DATABASE)
        save_database(copy, lambda *_: None)
        with contextlib.closing(sqlite3.connect(copy)) as database:
            for table, column in SEALED_COLUMNS:
                database.execute(f"UPDATE {table} SET {column} = '' WHERE {column} <> ''")  # noqa: S608 - our names
            for statement in SECRETS:
                database.execute(statement)
            database.commit()
            database.execute("VACUUM")  # also wipes what was deleted
            database.execute("PRAGMA journal_mode = WAL")
        archive.add(copy, DATABASE, filter=_plain)
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
    pool = Endpoint.objects.get(name="panel")
    pool.url = panel.simulator.site
    pool.save(update_fields=["url"])
    change_keys(endpoint=pool, access_key=pool.access_key, secret=panel.token)
    for link in StudyLink.objects.all():
        token = new_token()
        link.token_digest, link.token_sealed = digest(TOKEN, token), seal(token, purpose=TOKEN)
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
    for endpoint in Endpoint.objects.all():
        endpoint.submit_origins = [site, site.replace("localhost", "127.0.0.1")]
        endpoint.save(update_fields=["submit_origins"])


def _move_deadlines(made_at: datetime) -> None:
    age: timedelta = timezone.now() - made_at
    for model, field in DEADLINES:
        later = model._default_manager.filter(**{f"{field}__gt": made_at})
        later.update(**{field: F(field) + age})
