"""Write the files of SQL that an empty database begins with (`distillery.empty_database`).

    make schema          # after every new migration

migrates an empty SQLite file and an empty PostgreSQL database, and keeps what each of them is then.
"""

import contextlib
import os
import re
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from distillery.empty_database import FOLDER, SEPARATOR
from tests.server import blank_database, drop_database, migrate
from tests.upgrades.dump import NOT_FOR_ALL

#: Sealed with the key of an installation: each places its own.
CANARY = "sealing_canary"
#: An installation may have a schema of its own, named by the role's search path.
OF_ONE_SERVER = re.compile(
    r"^(SET .*|SELECT pg_catalog\.set_config\('search_path'.*|--.*)\n|(?<![\w.])public\.", flags=re.MULTILINE
)
#: When each migration was applied; the one that loads the file writes its own time.
APPLIED = re.compile(r"'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.\d]*(\+00)?'")
SOME_TIME = "'2000-01-01 00:00:00+00'"


def describe_sqlite() -> str:
    """The statements that make a migrated SQLite database."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "blank.sqlite3"
        migrate(f"sqlite:///{file}", Path(folder))
        with contextlib.closing(sqlite3.connect(file)) as database:
            statements = [
                statement.removesuffix(";")
                for statement in database.iterdump()
                if statement not in ("BEGIN TRANSACTION;", "COMMIT;")
                and not statement.startswith(f'INSERT INTO "{CANARY}"')
            ]
    # Foreign keys are in force where the file is loaded: no row comes before the table that it refers to.
    statements.sort(key=lambda statement: not statement.startswith("CREATE TABLE"))
    return APPLIED.sub(SOME_TIME, SEPARATOR.join(statements)) + "\n"


def describe_postgres() -> str:
    """The script that makes a migrated PostgreSQL database, on the server of DATABASE_URL."""
    with tempfile.TemporaryDirectory() as folder:
        url = blank_database(Path(folder))
        try:
            migrate(url, Path(folder))
            command = ["pg_dump", "--no-owner", "--no-privileges", "--inserts", "--rows-per-insert=500"]
            command += [f"--exclude-table-data={CANARY}", url]
            script = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        finally:
            drop_database(url)
    script = APPLIED.sub(SOME_TIME, OF_ONE_SERVER.sub("", NOT_FOR_ALL.sub("", script)))
    return re.sub(r"\n{2,}", "\n", script).lstrip()


def main() -> None:
    """Write both files."""
    assert os.environ.get("DATABASE_URL", "").startswith("postgres"), "make schema starts the server"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "sqlite.sql").write_text(describe_sqlite(), encoding="utf-8")
    (FOLDER / "postgresql.sql").write_text(describe_postgres(), encoding="utf-8")


if __name__ == "__main__":
    main()
