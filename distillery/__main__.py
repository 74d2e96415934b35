"""The command line: `manage.py` in a checkout, else `distillery` or `python -m distillery`."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


def main() -> None:
    """Run one management command with the project's settings."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None
    except DatabaseError as error:
        if not _tables_are_missing():
            raise
        program = "distillery" if settings.INSTALLED else "manage.py"
        raise SystemExit(
            f"The database is not ready for this version ({error}). Run `{program} migrate`, then try again."
        ) from None


def _tables_are_missing() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


if __name__ == "__main__":
    main()
