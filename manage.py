#!/usr/bin/env python3
"""Command line of a Distillery installation."""

import os
import sys


def main() -> None:
    """Run one management command with the project's settings."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415  # may be missing
        from django.core.management import execute_from_command_line  # noqa: PLC0415
        from django.db import DatabaseError  # noqa: PLC0415
    except ImportError as error:
        raise SystemExit(
            "Django is not installed for this Python. Run `make env`, then use `.venv/bin/python manage.py`."
        ) from error
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        raise SystemExit(str(error)) from None
    except DatabaseError as error:
        if not _tables_are_missing():
            raise
        raise SystemExit(
            f"The database is not ready for this version ({error}). Run `manage.py migrate`, then try again."
        ) from None


def _tables_are_missing() -> bool:
    from django.db import DatabaseError, connection  # noqa: PLC0415
    from django.db.migrations.executor import MigrationExecutor  # noqa: PLC0415

    try:
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


if __name__ == "__main__":
    main()
