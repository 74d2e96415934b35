"""Putting a backup into an empty installation.

Everything is looked at before anything is written, and the database comes last: whatever is killed before
has left an installation without one. It comes with all marketplaces halted, because what happened after the
backup is not in it.
"""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from core.sealing import opens_with
from crowd.models import DispatchHalt
from crowd.outbox import epoch
from distillery import canary
from distillery.backup import databases, files, folder
from distillery.backup.creation import SIMULATED
from distillery.backup.folder import BackupError, Manifest, Progress


@dataclass(frozen=True, slots=True)
class Keys:
    """What is in the file of keys."""

    secret_key: str
    fallbacks: list[str]
    simulated_workers: str


def verify(source: Path, keys: Path | None, progress: Progress) -> Manifest:
    """Read everything; BackupError, with a sentence for each fault, where it could not be restored."""
    manifest = Manifest.read(source)
    found = list(folder.faults(source, manifest, progress))
    found += databases.faults(source / _database(manifest), manifest.engine)
    if keys is not None and not _opens(manifest, _read_keys(keys)):
        found.append(f"The keys in {keys} do not open this backup.")
    if found:
        raise BackupError("\n".join(found))
    return manifest


def restore_backup(source: Path, keys: Path, progress: Progress) -> Manifest:
    """Fill this installation with a backup; BackupError where something is here already."""
    source = source.absolute()
    manifest = Manifest.read(source)
    databases.refuse_other_engine(manifest.engine, manifest.tool, manifest.server)
    if databases.table_names():
        raise BackupError(
            "There is a database here already, and a restore overwrites nothing. Move it away (with its -wal "
            "and -shm neighbours), or name an empty one in DATABASE_URL."
        )
    _refuse_newer(manifest)
    verify(source, None, progress)
    key = _key_for(manifest, keys)
    for store in files.stores():
        _refuse_other_files(store, source, manifest)
    if key is not None:
        _keep_key(key)
    for store in files.stores():
        if (source / store.name).is_dir():
            store.put_back(source / store.name)
            progress(store.name, sum(kept.bytes for kept in _of(store, manifest).values()))
    why = f"The database was restored from the backup of {manifest.made_at}."
    epoch.distrust(manifest.epoch)
    copy = source / _database(manifest)
    if manifest.engine == "sqlite":
        databases.restore_sqlite(copy, _marks(why))
    else:
        databases.restore_postgres(copy)
    progress("database", manifest.files[copy.name].bytes)
    epoch.halt_all(why)
    epoch.trust()
    return manifest


def _database(manifest: Manifest) -> str:
    return databases.SQLITE if manifest.engine == "sqlite" else databases.POSTGRES


def _of(store: files.Store, manifest: Manifest) -> dict[str, folder.BackupFile]:
    prefix = f"{store.name}/"
    return {
        path.removeprefix(prefix): kept for path, kept in manifest.files.items() if path.startswith(prefix)
    }


def _refuse_newer(manifest: Manifest) -> None:
    """A database of a later version has tables that this one knows nothing of."""
    known = {".".join(key) for key in MigrationLoader(None).disk_migrations}
    unknown = sorted(set(manifest.migrations) - known)
    if unknown:
        raise BackupError(
            f"The backup was made by Distillery {manifest.version}, which is newer than this installation "
            f"(its database has {unknown[0]}). Install that version, then restore."
        )


def _refuse_other_files(store: files.Store, source: Path, manifest: Manifest) -> None:
    """Files that are here under the same name must be the same: a bucket may have outlived its database."""
    for path, kept in _of(store, manifest).items():
        there = files.digest_in(store, path)
        if there is not None and there != kept:
            raise BackupError(
                f"{store.name}/{path} is here already and is another file than the backup's. Move it "
                "away; a restore overwrites nothing."
            )


# Keys


def _read_keys(path: Path) -> Keys:
    try:
        given: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Keys(given["SECRET_KEY"], given["SECRET_KEY_FALLBACKS"], given.get("simulated_workers", ""))
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BackupError(f"{path} is no file of keys.") from error


def _opens(manifest: Manifest, keys: Keys) -> bool:
    return any(
        opens_with(key, manifest.canary, purpose=canary.PURPOSE) for key in (keys.secret_key, *keys.fallbacks)
    )


def _key_for(manifest: Manifest, path: Path) -> Keys | None:
    """The keys to keep here; None where this host has the right key already."""
    here = Keys(settings.SECRET_KEY, list(settings.SECRET_KEY_FALLBACKS), "")
    if not path.exists():
        if _opens(manifest, here):
            return None
        raise BackupError(
            f"{path} is not there, and the SECRET_KEY of this host does not open the backup. Name the file "
            "of keys that belongs to it with --keys, or give this host its SECRET_KEY."
        )
    keys = _read_keys(path)
    if not _opens(manifest, keys):
        raise BackupError(f"The keys in {path} do not open this backup; they belong to another one.")
    if "SECRET_KEY" in os.environ or "SECRET_KEY_FILE" in os.environ:
        if not _opens(manifest, here):
            raise BackupError(
                "The SECRET_KEY of the environment does not open the backup. Set it to the one in "
                f"{path}, or add that to SECRET_KEY_FALLBACKS."
            )
        return Keys("", [], keys.simulated_workers)
    return keys


def _keep_key(keys: Keys) -> None:
    """Write the key where a generated one would be; one that is there has sealed nothing, and is kept."""
    data = Path(settings.DATA_DIR)
    if keys.secret_key and keys.secret_key != settings.SECRET_KEY:
        place = data / "secrets" / "secret_key"
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if place.exists():
            place.rename(place.with_name(f"secret_key.unused-{secrets.token_hex(4)}"))
        _write_private(place, keys.secret_key)
    if keys.simulated_workers and not (data / SIMULATED).exists():
        _write_private(data / SIMULATED, keys.simulated_workers)


def _write_private(place: Path, text: str) -> None:
    half = place.with_name(f".{place.name}.restoring")
    half.unlink(missing_ok=True)
    with os.fdopen(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    half.replace(place)


def _marks(why: str) -> list[tuple[str, list[Any]]]:
    """What halts every marketplace, before the database is in its place."""
    halt = DispatchHalt._meta.db_table
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    return [
        (
            f"INSERT OR IGNORE INTO {halt} (endpoint_id, why, since, looked_up_to) "  # noqa: S608 - our names
            "SELECT id, ?, ?, 0 FROM crowd_endpoint",
            [why[:300], now],
        )
    ]
