"""`manage.py restore`: a backup into an empty installation."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from core.storage_outages import StorageUnavailableError
from distillery.backup import restore_backup, verify
from distillery.backup_folder import BackupError, keys_beside, progress_on

_THEN = """Next:
  manage.py up                                    migrates, and serves; nothing is sent to marketplaces yet
  manage.py crowd reconcile --after-restore       while it runs: takes over what was done after the backup
  manage.py index build PROJECT --anew            for each project that searches passages
  manage.py marketplace audit                     the books of the marketplace of this installation"""


class Command(BaseCommand):
    """Into an empty database; nothing is overwritten."""

    help = (
        "Restore a backup into this installation, whose database must be empty. Afterwards nothing is sent "
        "to marketplaces until `crowd reconcile --after-restore` has looked at what they have."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where from."""
        parser.add_argument("folder", type=Path, help="a folder that `manage.py backup` wrote")
        parser.add_argument("--keys", type=Path, metavar="FILE", help="its keys, unless in FOLDER.keys")
        parser.add_argument("--verify", action="store_true", help="only read everything, and restore nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, or only look."""
        folder: Path = options["folder"]
        keys = options["keys"] or keys_beside(folder)
        try:
            if options["verify"]:
                manifest = verify(
                    folder, keys if options["keys"] or keys.exists() else None, progress_on(self.stderr)
                )
                self.stdout.write(f"{folder} is whole: {len(manifest.files):,} files of {manifest.made_at}.")
                return
            manifest = restore_backup(folder, keys, progress_on(self.stderr))
        except (BackupError, StorageUnavailableError) as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            raise CommandError(f"The database: {str(error).strip()}") from error
        except OSError as error:
            raise CommandError(f"{error.filename or folder}: {error.strerror}.") from error
        self.stdout.write(f"Restored the backup of {manifest.made_at}, made by {manifest.version}.")
        self.stdout.write(_THEN)
