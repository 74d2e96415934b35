"""Backups: one folder with the database and all files that belong to it, and a file with the keys apart.

The database is copied by its own tools: SQLite's backup interface, pg_dump and pg_restore. Sessions stay out:
with a copy of them a stranger could act as who is signed in. Everybody signs in once more.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dj_database_url
from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from core.crypto import opens_with, seal
from crowd.models import DispatchEpoch, DispatchHalt
from crowd.outbox import epoch
from distillery import canary
from distillery.backup_folder import (
    BackupError,
    BackupFile,
    Manifest,
    Progress,
    Store,
    digest_in,
    digest_of,
    find_folder_faults,
    stores,
    write_file,
)
from distillery.version import VERSION
from releases.manifest import MANIFEST
from releases.models import Release

SQLITE, POSTGRES = "database.sqlite3", "database.dump"
#: Beside the keys, for it has tokens of workers: who simulated workers are.
SIMULATED = "simulated-workers.json"
_SESSIONS = "django_session"
#: SQLite copies this many pages at a time; between two portions progress is told.
_PAGES = 4096
#: Debian keeps the programs of each version of PostgreSQL in a folder of its own, outside PATH.
_DEBIAN = Path("/usr/lib/postgresql")


# Making a backup while the installation works
#
# Uploads first: one whose job is done a moment later is needed by the database that is copied then. The
# database next, in one snapshot. Then the files again: what was uploaded or built meanwhile is too much,
# never too little, and a ready release never changes.


def make_backup(folder: Path, keys: Path, progress: Progress) -> Manifest:
    """Write a backup into a new folder, and the keys that it needs into a new file elsewhere."""
    folder, keys = folder.absolute(), keys.absolute()
    _refuse_what_is_there(folder, keys)
    if canary.key_opens() is False:
        raise BackupError(
            "SECRET_KEY is not the one that sealed this database: a backup with this key would open nothing. "
            "`manage.py doctor` says more."
        )
    manifest = Manifest(
        made_at=timezone.now().isoformat(timespec="seconds"),
        version=VERSION,
        engine=connection.vendor,
        server=server_version(),
        tool=tool_version(),
        migrations=sorted(".".join(key) for key in MigrationLoader(connection).applied_migrations),
        canary=seal("backup", purpose=canary.PURPOSE),
        epoch=DispatchEpoch.objects.values_list("number", flat=True).first() or 0,
    )
    os.umask(0o077)
    folder.mkdir(parents=True, exist_ok=True)
    every = {store.name: store for store in stores()}
    _copy(every["imports"], folder, manifest, progress)
    name = database_file_name()
    save_database(folder / name, progress)
    with (folder / name).open("rb") as file:
        manifest.files[name] = digest_of(file)
    for store in every.values():
        _copy(store, folder, manifest, progress)
    manifest.missing = sorted(_missing(manifest))
    _write_keys(keys)
    manifest.write(folder)
    return manifest


def _refuse_what_is_there(folder: Path, keys: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is there already, and a backup overwrites nothing. Name a new folder.")
    if keys.exists():
        raise BackupError(f"{keys} is there already, and a backup overwrites nothing. Name another file.")
    if keys.is_relative_to(folder):
        raise BackupError("Keep the keys outside the backup's folder: who has both can open everything.")
    if folder.is_relative_to(Path(settings.DATA_DIR).absolute()):
        raise BackupError(f"{folder} is inside the data folder, and would be lost with it. Name another.")


def _copy(store: Store, folder: Path, manifest: Manifest, progress: Progress) -> None:
    done = 0
    for path in store.paths():
        name = f"{store.name}/{path}"
        if name not in manifest.files:
            try:
                with store.open(path) as source:
                    manifest.files[name] = write_file(source, folder / name)
            except FileNotFoundError:
                continue  # imported or withdrawn a moment ago
        done += manifest.files[name].bytes
        progress(store.name, done)


def _missing(manifest: Manifest) -> set[str]:
    """Ready releases whose files are not on the shelf as they were built: no backup can bring those back."""
    ready = Release.objects.filter(state=Release.State.READY)
    names = ready.values_list("project__slug", "version", "digest")
    digests = {f"{project}/{version}": digest for project, version, digest in names}
    return {
        name
        for name, digest in digests.items()
        if (manifest_file := manifest.files.get(f"releases/{name}/{MANIFEST}")) is None
        or manifest_file.sha256 != digest
    }


def _write_keys(path: Path) -> None:
    """SECRET_KEY and what else opens something, for its owner's eyes only."""
    simulated = Path(settings.DATA_DIR) / SIMULATED
    keys = {
        "SECRET_KEY": settings.SECRET_KEY,
        "SECRET_KEY_FALLBACKS": list(settings.SECRET_KEY_FALLBACKS),
        "simulated_workers": simulated.read_text(encoding="utf-8") if simulated.exists() else "",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(keys, file, indent=2)
        file.flush()
        os.fsync(file.fileno())


# Putting a backup into an empty installation
#
# Everything is looked at before anything is written, and the database comes last: whatever is killed before
# has left an installation without one. It comes with all marketplaces halted, because what happened after the
# backup is not in it.


@dataclass(frozen=True, slots=True)
class Keys:
    """What is in the file of keys."""

    secret_key: str
    fallbacks: list[str]
    simulated_workers: str


def verify(source: Path, keys: Path | None, progress: Progress) -> Manifest:
    """Read everything; BackupError, with a sentence for each fault, where it could not be restored."""
    manifest = Manifest.read(source)
    faults = list(find_folder_faults(source, manifest, progress))
    faults += find_database_faults(source / _database(manifest), manifest.engine)
    if keys is not None and not _opens(manifest, _read_keys(keys)):
        faults.append(f"The keys in {keys} do not open this backup.")
    if faults:
        raise BackupError("\n".join(faults))
    return manifest


def restore_backup(source: Path, keys: Path, progress: Progress) -> Manifest:
    """Fill this installation with a backup; BackupError where something is here already."""
    source = source.absolute()
    manifest = Manifest.read(source)
    refuse_other_engine(manifest.engine, manifest.tool, manifest.server)
    if table_names():
        raise BackupError(
            "There is a database here already, and a restore overwrites nothing. Move it away (with its -wal "
            "and -shm neighbours), or name an empty one in DATABASE_URL."
        )
    _refuse_newer(manifest)
    verify(source, None, progress)
    key = _key_for(manifest, keys)
    for store in stores():
        _refuse_other_files(store, source, manifest)
    if key is not None:
        _keep_key(key)
    for store in stores():
        if (source / store.name).is_dir():
            store.put_back(source / store.name)
            progress(store.name, sum(file.bytes for file in _of(store, manifest).values()))
    why = f"The database was restored from the backup of {manifest.made_at}."
    epoch.distrust(manifest.epoch)
    copy = source / _database(manifest)
    if manifest.engine == "sqlite":
        restore_sqlite(copy, _marks(why))
    else:
        restore_postgres(copy)
    progress("database", manifest.files[copy.name].bytes)
    epoch.halt_all(why)
    epoch.trust()
    return manifest


def _database(manifest: Manifest) -> str:
    return SQLITE if manifest.engine == "sqlite" else POSTGRES


def _of(store: Store, manifest: Manifest) -> dict[str, BackupFile]:
    prefix = f"{store.name}/"
    return {
        path.removeprefix(prefix): file for path, file in manifest.files.items() if path.startswith(prefix)
    }


def _refuse_newer(manifest: Manifest) -> None:
    """A database of a later version has tables that this one knows nothing of."""
    migrations = {".".join(key) for key in MigrationLoader(None).disk_migrations}
    unknown = sorted(set(manifest.migrations) - migrations)
    if unknown:
        raise BackupError(
            f"The backup was made by Distillery {manifest.version}, which is newer than this installation "
            f"(its database has {unknown[0]}). Install that version, then restore."
        )


def _refuse_other_files(store: Store, source: Path, manifest: Manifest) -> None:
    """Files that are here under the same name must be the same: a bucket may have outlived its database."""
    for path, file in _of(store, manifest).items():
        present = digest_in(store, path)
        if present is not None and present != file:
            raise BackupError(
                f"{store.name}/{path} is here already and is another file than the backup's. Move it "
                "away; a restore overwrites nothing."
            )


# Keys


def _read_keys(path: Path) -> Keys:
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return Keys(
            document["SECRET_KEY"], document["SECRET_KEY_FALLBACKS"], document.get("simulated_workers", "")
        )
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
    host_keys = Keys(settings.SECRET_KEY, list(settings.SECRET_KEY_FALLBACKS), "")
    if not path.exists():
        if _opens(manifest, host_keys):
            return None
        raise BackupError(
            f"{path} is not there, and the SECRET_KEY of this host does not open the backup. Name the file "
            "of keys that belongs to it with --keys, or give this host its SECRET_KEY."
        )
    keys = _read_keys(path)
    if not _opens(manifest, keys):
        raise BackupError(f"The keys in {path} do not open this backup; they belong to another one.")
    if "SECRET_KEY" in os.environ or "SECRET_KEY_FILE" in os.environ:
        if not _opens(manifest, host_keys):
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


# The copy of the database


def database_file_name() -> str:
    """What the database is called in a backup."""
    return SQLITE if connection.vendor == "sqlite" else POSTGRES


def server_version() -> str:
    """Version of the database in force."""
    if connection.vendor == "sqlite":
        return sqlite3.sqlite_version
    connection.ensure_connection()
    number: int = connection.connection.info.server_version
    return f"{number // 10000}.{number % 10000}"


def tool_version() -> str:
    """Version of the tool that writes the copy."""
    if connection.vendor == "sqlite":
        return sqlite3.sqlite_version
    return _version(_program("pg_dump", at_least=_major(server_version())))


def table_names() -> list[str]:
    """Tables of the database in force; a SQLite file that is not there has none, and is not made."""
    if connection.vendor == "sqlite" and not Path(_settings()["NAME"]).exists():
        return []
    return connection.introspection.table_names()


def save_database(target: Path, progress: Progress) -> None:
    """Write one consistent copy of the database while others use it."""
    if connection.vendor == "sqlite":
        _save_sqlite(target, progress)
    else:
        _save_postgres(target, progress)


def _save_sqlite(target: Path, progress: Progress) -> None:
    path = Path(_settings()["NAME"]).absolute()
    with (
        contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)) as source,
        contextlib.closing(sqlite3.connect(target)) as copy,
    ):
        # A reader's snapshot: whatever others write meanwhile neither gets in nor makes it begin again.
        source.execute("BEGIN")
        source.execute("SELECT 1 FROM sqlite_master").fetchone()
        size = source.execute("PRAGMA page_size").fetchone()[0]
        source.backup(
            copy,
            pages=_PAGES,
            progress=lambda _, left, total: progress("database", (total - left) * size),
        )
        copy.execute("PRAGMA journal_mode=DELETE")
        copy.execute("PRAGMA secure_delete=ON")
        copy.execute(f"DELETE FROM {_SESSIONS}")  # noqa: S608 - a name of ours
        copy.commit()


def _save_postgres(target: Path, progress: Progress) -> None:
    program = _program("pg_dump", at_least=_major(server_version()))
    sessions = f"--exclude-table-data={_SESSIONS}"
    _run([program, "--format=custom", "--no-owner", "--no-privileges", sessions, f"--file={target}"])
    progress("database", target.stat().st_size)


def find_database_faults(file: Path, engine: str) -> list[str]:
    """What keeps the copy from being restored here, in sentences."""
    if engine == "sqlite":
        try:
            with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy:
                messages = [row[0] for row in copy.execute("PRAGMA quick_check(5)")]
        except sqlite3.Error as error:
            messages = [str(error)]
        return [] if messages == ["ok"] else [f"{file.name}: {sentence}." for sentence in messages]
    try:
        _run([_program("pg_restore", at_least=0), "--list", str(file)], connect=False)
    except BackupError as error:
        return [str(error)]
    return []


def refuse_other_engine(engine: str, tool: str, server: str) -> None:
    """Raise BackupError where a copy of this engine and version does not go into the database in force."""
    if engine != connection.vendor:
        names = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
        raise BackupError(
            f"This is a backup of {names.get(engine, engine)}, and DATABASE_URL names "
            f"{names[connection.vendor]}. Restore it into a database of its own kind."
        )
    if engine == "postgresql":
        if _major(server_version()) < _major(server):
            raise BackupError(
                f"The backup comes from PostgreSQL {server}, and this server is {server_version()}. Restore "
                f"into {_major(server)} or newer."
            )
        _program("pg_restore", at_least=_major(tool))


def restore_sqlite(file: Path, marks: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Put a copy in the database's place in one step, after the statements `marks` were done in it."""
    place = Path(_settings()["NAME"]).absolute()
    half = place.with_name(f"{place.name}.restoring")
    half.unlink(missing_ok=True)
    shutil.copyfile(file, half)
    half.chmod(0o600)
    with contextlib.closing(sqlite3.connect(half)) as copy:
        for sql, parameters in marks:
            copy.execute(sql, parameters)
        copy.commit()
    with half.open("rb") as written:
        os.fsync(written.fileno())
    connection.close()
    for suffix in ("-wal", "-shm"):
        place.with_name(place.name + suffix).unlink(missing_ok=True)
    half.replace(place)


def restore_postgres(file: Path) -> None:
    """Fill the empty database in one transaction."""
    connection.close()
    options = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"]
    _run([_program("pg_restore", at_least=0), *options, f"--dbname={_direct_settings()['NAME']}", str(file)])


def _settings() -> dict[str, Any]:
    return {**connection.settings_dict, "NAME": str(connection.settings_dict["NAME"])}


def _direct_settings() -> dict[str, Any]:
    """Past a pooler: what pg_dump sets for its session would stay with a connection that others get next."""
    if not settings.DATABASE_DIRECT_URL:
        return _settings()
    return {"OPTIONS": {}, **dj_database_url.parse(settings.DATABASE_DIRECT_URL)}


def _run(command: Sequence[str], *, connect: bool = True) -> None:
    """Run a tool of PostgreSQL; where it is told by variables, no password is on a command line."""
    connection_settings = _direct_settings()
    place = {
        "PGHOST": connection_settings["HOST"],
        "PGPORT": connection_settings["PORT"],
        "PGUSER": connection_settings["USER"],
        "PGPASSWORD": connection_settings["PASSWORD"],
        "PGDATABASE": connection_settings["NAME"],
        **{
            f"PG{name.upper()}": value
            for name, value in connection_settings["OPTIONS"].items()
            if name.startswith("ssl")
        },
    }
    environment = {**os.environ, **{name: str(value) for name, value in place.items() if value and connect}}
    done = subprocess.run(  # noqa: S603 - PostgreSQL's own tool
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"{Path(command[0]).name}: {done.stderr.strip()[-1000:]}")


def _program(name: str, *, at_least: int) -> str:
    """The newest of the programs of this name; BackupError where it is missing or older than the server."""
    folders = [str(folder) for folder in _DEBIAN.glob("*/bin")]
    paths = filter(None, [shutil.which(name), *(shutil.which(name, path=folder) for folder in folders)])
    versions = {path: _major(_version(path)) for path in paths}
    if not versions:
        raise BackupError(
            f"{name} is not installed. Install PostgreSQL's client programs (Debian: postgresql-client), "
            f"version {at_least or 14} or newer."
        )
    newest = max(versions, key=lambda path: versions[path])
    if versions[newest] < at_least:
        raise BackupError(
            f"{name} is version {versions[newest]}, and {at_least} is needed: an older one cannot read a "
            f"newer PostgreSQL. Install postgresql-client-{at_least}."
        )
    return newest


def _version(program: str) -> str:
    command = [program, "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - PostgreSQL's own tool
    match = re.search(r"\d+(\.\d+)*", result.stdout)
    return match[0] if match else "0"


def _major(version: str) -> int:
    return int(version.partition(".")[0] or 0)
