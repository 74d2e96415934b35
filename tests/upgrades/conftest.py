"""Databases of former versions, brought to this one."""

import contextlib
import lzma
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import override_settings

from tests.server import blank_database, drop_database
from tests.upgrades.dump import DUMPS, SECRET_KEY


@dataclass
class Upgrade:
    """A database of a former version that was migrated; it is in force as long as its tests run."""

    version: str
    #: Rows of every table before, each as a dictionary of its columns.
    before: dict[str, list[dict[str, object]]] = field(default_factory=dict)


def versions() -> list[str]:
    """Versions of which there is a dump, oldest first."""
    names = {file.name.removesuffix(".sqlite.sql.xz") for file in DUMPS.glob("*.sqlite.sql.xz")}
    return sorted(names, key=lambda name: [int(part) for part in name.split(".")])


def read_rows(table: str) -> list[dict[str, object]]:
    """All rows of a table, in an order that does not change."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    return sorted(rows, key=lambda row: str(row.get("id", list(row.values()))))


@contextlib.contextmanager
def restored(version: str, folder: Path) -> Iterator[str]:
    """The dump in a database of its own, of the kind that is in force; gives its name."""
    statements = lzma.decompress((DUMPS / f"{version}.{connection.vendor}.sql.xz").read_bytes()).decode()
    if connection.vendor == "sqlite":
        path = folder / f"{version}-{secrets.token_hex(4)}.sqlite3"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.executescript(statements)
        yield str(path)
        return
    import psycopg2

    url = blank_database(folder)
    try:
        with contextlib.closing(psycopg2.connect(url)) as database:
            database.cursor().execute(statements)
            database.commit()
        yield urlsplit(url).path[1:]
    finally:
        drop_database(url)


@contextlib.contextmanager
def in_force(name: str) -> Iterator[None]:
    """Let everything work on that database."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def versions_to_try() -> list[Any]:
    """Each build tries the longest way on PostgreSQL, the last one on SQLite; `make test-all` all on both."""
    in_build = versions()[-1 if connection.vendor == "sqlite" else 0]
    return [
        pytest.param(version, marks=() if version == in_build else pytest.mark.long) for version in versions()
    ]


@pytest.fixture(scope="module", params=versions_to_try())
def upgraded(request, tmp_path_factory, django_db_setup, django_db_blocker):
    """A database of each version, migrated to the present one."""
    with (
        django_db_blocker.unblock(),
        restored(request.param, tmp_path_factory.mktemp("upgrade")) as name,
        in_force(name),
        override_settings(SECRET_KEY=SECRET_KEY),
    ):
        upgrade = Upgrade(request.param)
        upgrade.before = {table: read_rows(table) for table in connection.introspection.table_names()}
        call_command("migrate", interactive=False, verbosity=0)
        yield upgrade


@pytest.fixture(scope="module")
def fresh_schema(django_db_setup, django_db_blocker):
    """What the tables of a database are that this version made from nothing."""
    from tests.upgrades.test_upgrades import describe_schema

    with django_db_blocker.unblock():
        usual = connection.settings_dict["NAME"]
        with in_force(usual):
            return describe_schema()
