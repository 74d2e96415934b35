"""Keep a database of this version, for the tests that bring it to the versions that come.

    make version-dumps                                   # of the working tree, when a version is released

runs the demonstration, on SQLite and on PostgreSQL, gives every table that stayed empty a row (`fill.py`),
and writes `dumps/VERSION.ENGINE.sql.xz`. Migrations that were unreleased are of this version afterwards. Of
another checkout: `python .ci/services.py -- python -m tests.upgrades.dump --checkout FOLDER --version 0.1.0`.
"""

import argparse
import contextlib
import lzma
import os
import re
import secrets
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from distillery.version import VERSION
from tests.server import drop_database, free_port
from tests.upgrades.landed import ROOT, UNRELEASED, read_landed, write_landed

DUMPS = Path(__file__).with_name("dumps")
#: Secrets in the dumps are sealed with it, so that tests can open them.
SECRET_KEY = "upgrade-tests-open-what-this-key-sealed-in-dumps"
#: Lines that only the program psql, or a later PostgreSQL, understands.
NOT_FOR_ALL = re.compile(r"^(\\(un)?restrict .*|SET transaction_timeout = .*)\n", flags=re.MULTILINE)


def build_world(checkout: Path, folder: Path, database_url: str) -> None:
    """Let that checkout make its demonstration, and fill what it leaves empty."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ("REDIS_URL", "PYTHONPATH")},
        "DJANGO_SETTINGS_MODULE": "distillery.settings",
        "DATA_DIR": str(folder),
        "DATABASE_URL": database_url,
        "SECRET_KEY": SECRET_KEY,
        "SERVE": "0",
        "PORT": str(free_port()),
    }
    subprocess.run([sys.executable, "manage.py", "demo"], cwd=checkout, env=environment, check=True)
    script = Path(__file__).with_name("fill.py")
    subprocess.run([sys.executable, str(script)], cwd=checkout, env=environment, check=True)


def dump_sqlite(checkout: Path) -> str:
    """The world in SQLite's SQL."""
    with tempfile.TemporaryDirectory(prefix="distillery-dump-") as folder:
        build_world(checkout, Path(folder), f"sqlite:///{folder}/world.sqlite3")
        with contextlib.closing(sqlite3.connect(f"{folder}/world.sqlite3")) as database:
            return "\n".join(database.iterdump()) + "\n"


def dump_postgres(checkout: Path) -> str:
    """The world in PostgreSQL's SQL, as the server of DATABASE_URL writes it."""
    import psycopg2

    server = os.environ["DATABASE_URL"]
    name = f"distillery_dump_{secrets.token_hex(4)}"
    url = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    with contextlib.closing(psycopg2.connect(server)) as connection:
        connection.autocommit = True
        connection.cursor().execute(f'CREATE DATABASE "{name}"')
    try:
        with tempfile.TemporaryDirectory(prefix="distillery-dump-") as folder:
            build_world(checkout, Path(folder), url)
        command = ["pg_dump", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=500", url]
        written = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    finally:
        drop_database(url)
    return NOT_FOR_ALL.sub("", written)


def main() -> None:
    """Write both dumps, and say which migrations the version has."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkout", type=Path, default=ROOT, metavar="FOLDER")
    parser.add_argument("--version", default=VERSION)
    arguments = parser.parse_args()
    if not os.environ.get("DATABASE_URL", "").startswith("postgres"):
        parser.error("DATABASE_URL names no PostgreSQL: start it with `python .ci/services.py -- …`.")
    DUMPS.mkdir(exist_ok=True)
    for engine, dump in (("sqlite", dump_sqlite), ("postgresql", dump_postgres)):
        file = DUMPS / f"{arguments.version}.{engine}.sql.xz"
        file.write_bytes(lzma.compress(dump(arguments.checkout.absolute()).encode(), preset=9))
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} KiB")
    if arguments.checkout == ROOT:
        landed = read_landed()
        write_landed(
            {
                path: replace(one, version=VERSION) if one.version == UNRELEASED else one
                for path, one in landed.items()
            }
        )


if __name__ == "__main__":
    main()
