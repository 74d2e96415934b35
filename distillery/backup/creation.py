"""Making a backup while the installation works.

Uploads first: one whose job is done a moment later is needed by the database that is copied then. The
database next, in one snapshot. Then the files again: what was uploaded or built meanwhile is too much, never
too little, and a ready release never changes.
"""

import json
import os
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from core.sealing import seal
from crowd.models import DispatchEpoch
from distillery import canary
from distillery.backup import databases
from distillery.backup.files import Store, stores
from distillery.backup.folder import BackupError, Manifest, Progress, digest_of, write_file
from distillery.version import VERSION
from releases.manifest import MANIFEST
from releases.models import Release

#: Beside the keys, for it has tokens of workers: who simulated workers are.
SIMULATED = "simulated-workers.json"


def make_backup(folder: Path, keys: Path, progress: Progress) -> Manifest:
    """Write a backup into a new folder, and the keys that it needs into a new file elsewhere."""
    folder, keys = folder.absolute(), keys.absolute()
    _refuse_what_is_there(folder, keys)
    if canary.key_opens() is False:
        raise BackupError(
            "SECRET_KEY is not the one that sealed this database: a backup with this key would open nothing. "
            "`manage.py doctor` says more."
        )
    manifest = Manifest(
        made_at=timezone.now().isoformat(timespec="seconds"),
        version=VERSION,
        engine=connection.vendor,
        server=databases.server_version(),
        tool=databases.tool_version(),
        migrations=sorted(".".join(key) for key in MigrationLoader(connection).applied_migrations),
        canary=seal("backup", purpose=canary.PURPOSE),
        epoch=DispatchEpoch.objects.values_list("number", flat=True).first() or 0,
    )
    os.umask(0o077)
    folder.mkdir(parents=True, exist_ok=True)
    every = {store.name: store for store in stores()}
    _copy(every["imports"], folder, manifest, progress)
    name = databases.file_name()
    databases.save(folder / name, progress)
    with (folder / name).open("rb") as file:
        manifest.files[name] = digest_of(file)
    for store in every.values():
        _copy(store, folder, manifest, progress)
    manifest.missing = sorted(_missing(manifest))
    _write_keys(keys)
    manifest.write(folder)
    return manifest


def _refuse_what_is_there(folder: Path, keys: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is there already, and a backup overwrites nothing. Name a new folder.")
    if keys.exists():
        raise BackupError(f"{keys} is there already, and a backup overwrites nothing. Name another file.")
    if keys.is_relative_to(folder):
        raise BackupError("Keep the keys outside the backup's folder: who has both can open everything.")
    if folder.is_relative_to(Path(settings.DATA_DIR).absolute()):
        raise BackupError(f"{folder} is inside the data folder, and would be lost with it. Name another.")


def _copy(store: Store, folder: Path, manifest: Manifest, progress: Progress) -> None:
    done = 0
    for path in store.paths():
        name = f"{store.name}/{path}"
        if name not in manifest.files:
            try:
                with store.open(path) as source:
                    manifest.files[name] = write_file(source, folder / name)
            except FileNotFoundError:
                continue  # imported or withdrawn a moment ago
        done += manifest.files[name].bytes
        progress(store.name, done)


def _missing(manifest: Manifest) -> set[str]:
    """Ready releases whose files are not on the shelf as they were built: no backup can bring those back."""
    ready = Release.objects.filter(state=Release.State.READY)
    names = ready.values_list("project__slug", "version", "digest")
    found = {f"{project}/{version}": digest for project, version, digest in names}
    return {
        name
        for name, digest in found.items()
        if (kept := manifest.files.get(f"releases/{name}/{MANIFEST}")) is None or kept.sha256 != digest
    }


def _write_keys(path: Path) -> None:
    """SECRET_KEY and what else opens something, for its owner's eyes only."""
    simulated = Path(settings.DATA_DIR) / SIMULATED
    keys = {
        "SECRET_KEY": settings.SECRET_KEY,
        "SECRET_KEY_FALLBACKS": list(settings.SECRET_KEY_FALLBACKS),
        "simulated_workers": simulated.read_text(encoding="utf-8") if simulated.exists() else "",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(keys, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
