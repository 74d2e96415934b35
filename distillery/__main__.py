"""The command line: `manage.py` in a checkout, else `distillery` or `python -m distillery`."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

#: Commands that take `--data DIR`.
DATA_COMMANDS = ("judge", "collect", "results")


def enter_data_folder(arguments: Sequence[str]) -> None:
    """Take `--data DIR` before the settings are read, which name the database by it."""
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--data", type=Path)
    options, _ = parser.parse_known_args(arguments)
    if options.data is not None:
        os.environ["DATA_DIR"] = str(options.data.absolute())


def main() -> None:
    """Run one management command with the project's settings."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "distillery.settings")
    if sys.argv[1:2] and sys.argv[1] in DATA_COMMANDS:
        enter_data_folder(sys.argv[2:])
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
