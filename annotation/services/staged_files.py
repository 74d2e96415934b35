"""Uploaded files of queries or answers, kept in the data folder until they are imported.

With several hosts each upload lies in their shared storage too, where a job on any of them finds it; the data
folder of a host then has copies.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.utils import timezone

from annotation.services.importing import ImportRefusedError, refuse_read_only
from core.projects.models import Project
from core.storage import fetch, shared_store

#: Larger files are imported on the command line, from where they lie.
MOST_BYTES = 2 * 2**30
KEPT_SECONDS = 7 * 24 * 3600
_SHA = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class StagedFile:
    """An uploaded file: where it lies, what its sender called it, its SHA-256."""

    path: Path
    name: str
    sha256: str
    size: int


def stage(
    *, project: Project, name: str, pieces: Iterable[bytes], command: str = "import-queries"
) -> StagedFile:
    """Keep an upload, piece by piece; ImportRefusedError if it cannot be kept.

    `command` is the one that takes files of any size.
    """
    refuse_read_only(project)
    folder = _folder(project)
    folder.mkdir(parents=True, exist_ok=True)
    _forget_old(project)
    part = folder / f"{uuid4().hex}.part"
    digest, size = hashlib.sha256(), 0
    try:
        with part.open("wb") as file:
            for piece in pieces:
                size += len(piece)
                if size > MOST_BYTES:
                    raise ImportRefusedError(
                        f"The file is larger than {MOST_BYTES // 2**30} GiB. Import it on the command line: "
                        f"manage.py {command}."
                    )
                digest.update(piece)
                file.write(piece)
        if not size:
            raise ImportRefusedError("The file is empty.")
        sha256 = digest.hexdigest()
        part.replace(folder / sha256)
    finally:
        part.unlink(missing_ok=True)
    called = Path(name.replace("\\", "/")).name[:300] or "queries"
    (folder / f"{sha256}.json").write_text(json.dumps({"name": called}), encoding="utf-8")
    # The name comes last: a file without one is no upload.
    for each in (sha256, f"{sha256}.json"):
        shared_store().put(f"{_place(project)}/{each}", folder / each)
    return StagedFile(folder / sha256, called, sha256, size)


def staged(*, project: Project, sha256: str) -> StagedFile | None:
    """An upload of this project that still lies there."""
    if not _SHA.fullmatch(sha256):
        return None
    path = _folder(project) / sha256
    if shared_store().is_shared and not _have_here(project, path):
        return None
    try:
        name = json.loads(path.with_name(f"{sha256}.json").read_text(encoding="utf-8"))["name"]
        return StagedFile(path, str(name), sha256, path.stat().st_size)
    except (OSError, ValueError, KeyError):
        return None


def forget(file: StagedFile) -> None:
    """Remove an upload."""
    place = f"imports/{file.path.parent.name}"
    for name in (f"{file.sha256}.json", file.sha256):
        shared_store().delete(f"{place}/{name}")
    file.path.unlink(missing_ok=True)
    file.path.with_name(f"{file.sha256}.json").unlink(missing_ok=True)


def _folder(project: Project) -> Path:
    return Path(settings.DATA_DIR) / _place(project)


def _place(project: Project) -> str:
    return f"imports/{project.pk}"


def _have_here(project: Project, path: Path) -> bool:
    """Whether the upload lies in the shared storage; then this host has a copy that is whole."""
    store, place = shared_store(), _place(project)
    described = path.with_name(f"{path.name}.json")
    if store.size(f"{place}/{described.name}") is None:  # imported on another host
        described.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        return False
    try:
        if not path.exists() and fetch(store, f"{place}/{path.name}", path) != path.name:
            path.unlink(missing_ok=True)
            return False
        fetch(store, f"{place}/{described.name}", described)
    except FileNotFoundError:
        return False
    return True


def _forget_old(project: Project) -> None:
    """Remove what was not imported within a week."""
    store = shared_store()
    for name, since in list(store.names(_place(project))):
        if since < timezone.now() - timedelta(seconds=KEPT_SECONDS):
            store.delete(name)
    for path in _folder(project).iterdir():
        try:
            if path.stat().st_mtime < time.time() - KEPT_SECONDS:
                path.unlink()
        except FileNotFoundError:
            continue
