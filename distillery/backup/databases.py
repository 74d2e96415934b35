"""Copying a database out and in, by its own tools: SQLite's backup interface, pg_dump and pg_restore.

Sessions stay out: with a copy of them a stranger could act as who is signed in. Everybody signs in once more.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dj_database_url
from django.conf import settings
from django.db import connection

from distillery.backup.folder import BackupError, Progress

SQLITE, POSTGRES = "database.sqlite3", "database.dump"
_SESSIONS = "django_session"
_PAGES = 4096
_DEBIAN = Path("/usr/lib/postgresql")


def file_name() -> str:
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


def save(target: Path, progress: Progress) -> None:
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


def faults(file: Path, engine: str) -> list[str]:
    """What keeps the copy from being restored here, in sentences."""
    if engine == "sqlite":
        try:
            with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy:
                said = [row[0] for row in copy.execute("PRAGMA quick_check(5)")]
        except sqlite3.Error as error:
            said = [str(error)]
        return [] if said == ["ok"] else [f"{file.name}: {sentence}." for sentence in said]
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
    """Run a tool of PostgreSQL; where it is told by variables, no password stands on a command line."""
    given = _direct_settings()
    place = {
        "PGHOST": given["HOST"],
        "PGPORT": given["PORT"],
        "PGUSER": given["USER"],
        "PGPASSWORD": given["PASSWORD"],
        "PGDATABASE": given["NAME"],
        **{f"PG{name.upper()}": value for name, value in given["OPTIONS"].items() if name.startswith("ssl")},
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
    found = {path: _major(_version(path)) for path in paths}
    if not found:
        raise BackupError(
            f"{name} is not installed. Install PostgreSQL's client programs (Debian: postgresql-client), "
            f"version {at_least or 14} or newer."
        )
    newest = max(found, key=lambda path: found[path])
    if found[newest] < at_least:
        raise BackupError(
            f"{name} is version {found[newest]}, and {at_least} is needed: an older one cannot read a newer "
            f"PostgreSQL. Install postgresql-client-{at_least}."
        )
    return newest


def _version(program: str) -> str:
    command = [program, "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - PostgreSQL's own tool
    found = re.search(r"\d+(\.\d+)*", result.stdout)
    return found[0] if found else "0"


def _major(version: str) -> int:
    return int(version.partition(".")[0] or 0)
