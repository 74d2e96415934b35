"""A backup's folder: what is in it, and whether it is what was written."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from django.core.management.base import OutputWrapper

FORMAT = 1
MANIFEST = "manifest.json"
_PIECE = 1 << 20
_REPORT_EVERY = 100 << 20

#: Told what is being done, and how many bytes of it so far.
Progress = Callable[[str, int], None]


def progress_on(terminal: TextIO | OutputWrapper) -> Progress:
    """Writes a line for each part, and one for each further 100 MiB of it."""
    last: dict[str, int] = {}

    def progress(what: str, done: int) -> None:
        if what not in last or done - last[what] >= _REPORT_EVERY:
            last[what] = done
            terminal.write(f"{what}: {done / (1 << 20):,.0f} MiB\n")

    return progress


def keys_beside(folder: Path) -> Path:
    """The file for a backup's keys unless another is named: beside its folder, as FOLDER.keys."""
    whole = folder.absolute()
    return whole.with_name(f"{whole.name}.keys")


class BackupError(Exception):
    """Something that cannot be backed up or restored; says why and what to do. Nothing was overwritten."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """What a copy is verified by."""

    sha256: str
    bytes: int


@dataclass(slots=True)
class Manifest:
    """What a backup holds, written last: without it a backup is not complete."""

    made_at: str
    version: str
    engine: str
    server: str
    tool: str
    migrations: list[str]
    canary: str
    epoch: int
    files: dict[str, BackupFile] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Whole or not at all."""
        half = folder / f".{MANIFEST}"
        with half.open("w", encoding="utf-8") as file:
            json.dump(asdict(self), file, indent=2, ensure_ascii=False, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        half.replace(folder / MANIFEST)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """The manifest of a complete backup that this version can read."""
        try:
            given: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise BackupError(
                f"{folder} has no {MANIFEST}: it is not a backup, or making it was broken off."
            ) from error
        except (OSError, ValueError) as error:
            raise BackupError(f"{folder / MANIFEST} cannot be read: {error}.") from error
        if given.get("format") != FORMAT:
            raise BackupError(
                f"{folder} is a backup of another format ({given.get('format')}); this one reads {FORMAT}."
            )
        try:
            files = {path: BackupFile(**kept) for path, kept in given.pop("files").items()}
            return cls(**given, files=files)
        except (KeyError, TypeError) as error:
            raise BackupError(f"{folder / MANIFEST} is damaged: {error}.") from error


def write_file(source: BinaryIO, target: Path) -> BackupFile:
    """Copy a file piece by piece, onto the disk; its digest and size."""
    digest, size = hashlib.sha256(), 0
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as into:
        while piece := source.read(_PIECE):
            digest.update(piece)
            into.write(piece)
            size += len(piece)
        into.flush()
        os.fsync(into.fileno())
    return BackupFile(digest.hexdigest(), size)


def digest_of(file: BinaryIO) -> BackupFile:
    """Digest and size of an open file."""
    digest, size = hashlib.sha256(), 0
    while piece := file.read(_PIECE):
        digest.update(piece)
        size += len(piece)
    return BackupFile(digest.hexdigest(), size)


def faults(folder: Path, manifest: Manifest, progress: Progress) -> Iterator[str]:
    """Every file that is missing, changed or not in the manifest, in a sentence each."""
    done = 0
    for path, kept in sorted(manifest.files.items()):
        try:
            with (folder / path).open("rb") as file:
                there = digest_of(file)
        except OSError as error:
            yield f"{path} cannot be read: {error.strerror}."
            continue
        if there != kept:
            yield f"{path} is not the file that was backed up ({there.bytes:,} bytes of {kept.bytes:,})."
        done += kept.bytes
        progress("checked", done)
    strangers = {
        each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()
    } - manifest.files.keys()
    for path in sorted(strangers - {MANIFEST}):
        yield f"{path} is not in the manifest."
