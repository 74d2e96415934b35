"""`manage.py backup`: the database and all its files into a folder, the keys into a file elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.storage_outages import StorageUnavailableError
from distillery.backup import make_backup, verify
from distillery.backup_folder import BackupError, keys_beside, progress_on


class Command(BaseCommand):
    """While the installation works; nothing is overwritten."""

    help = (
        "Back up the database, releases, models and uploads into a new folder, and the keys into a new file "
        "beside it (FOLDER.keys). Keep the two in different places: the folder alone opens no account."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to, and whether to read it again."""
        parser.add_argument("folder", type=Path, help="a new folder")
        parser.add_argument("--keys", type=Path, metavar="FILE", help="a new file for the keys")
        parser.add_argument("--verify", action="store_true", help="read everything again when it is written")

    def handle(self, *args: Any, **options: Any) -> None:
        """Back up, and say what is in it."""
        folder: Path = options["folder"]
        keys = options["keys"] or keys_beside(folder)
        progress = progress_on(self.stderr)
        try:
            manifest = make_backup(folder, keys, progress)
            if options["verify"]:
                verify(folder, keys, progress)
        except (BackupError, StorageUnavailableError) as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename or folder}: {error.strerror}.") from error
        size = sum(file.bytes for file in manifest.files.values())
        checked = "written and read again" if options["verify"] else "written"
        self.stdout.write(f"{folder}: {len(manifest.files):,} files, {size:,} bytes, {checked}.")
        self.stdout.write(f"{keys}: the keys. Keep them elsewhere; without them the backup opens nothing.")
        if manifest.missing:
            names = ", ".join(manifest.missing)
            self.stderr.write(f"Not in the backup, because their files are not on the shelf: {names}.")
