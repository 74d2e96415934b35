"""An empty database gets its tables from a file of SQL: running all migrations takes half a minute.

The files hold what the migrations of this version make, with the rows that those and Django write, the rows
of `django_migrations` among them. `make schema` writes the files; a test on each database compares them with
what the migrations make.
"""

from pathlib import Path

from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

FOLDER = Path(__file__).with_name("schemas")
#: Between two statements: triggers and functions have semicolons inside.
SEPARATOR = "\n-- next statement\n"


def read_statements(vendor: str) -> list[str]:
    """The statements that make the tables of this version on SQLite (`sqlite`) or `postgresql`."""
    return (FOLDER / f"{vendor}.sql").read_text(encoding="utf-8").split(SEPARATOR)


def load_schema() -> bool:
    """Make all tables in the default database if it has none; returns whether it did.

    `migrate` goes on from there: a migration that is younger than the file is applied as on any database.
    """
    if connection.introspection.table_names():
        return False
    with transaction.atomic(), connection.cursor() as cursor:
        for statement in read_statements(connection.vendor):
            cursor.execute(statement)
        MigrationRecorder(connection).migration_qs.update(applied=timezone.now())
    return True
