"""The folder of a backup: its manifest and digests, and the files that belong to a database.

These are files of releases, of learned metrics, and uploads that wait for their job.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TextIO

from django.conf import settings
from django.core.management.base import OutputWrapper

from core.storage import SharedStore, shared_store
from evaluations import model_shelf as shelf_of_models
from evaluations.errors import EvaluationError
from releases.storage import shelf

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
    absolute = folder.absolute()
    return absolute.with_name(f"{absolute.name}.keys")


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
            document: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise BackupError(
                f"{folder} has no {MANIFEST}: it is not a backup, or making it was broken off."
            ) from error
        except (OSError, ValueError) as error:
            raise BackupError(f"{folder / MANIFEST} cannot be read: {error}.") from error
        if document.get("format") != FORMAT:
            raise BackupError(
                f"{folder} is a backup of another format ({document.get('format')}); this one reads {FORMAT}."
            )
        try:
            files = {path: BackupFile(**facts) for path, facts in document.pop("files").items()}
            return cls(**document, files=files)
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


def find_folder_faults(folder: Path, manifest: Manifest, progress: Progress) -> Iterator[str]:
    """Every file that is missing, changed or not in the manifest, in a sentence each."""
    done = 0
    for path, recorded in sorted(manifest.files.items()):
        try:
            with (folder / path).open("rb") as file:
                actual = digest_of(file)
        except OSError as error:
            yield f"{path} cannot be read: {error.strerror}."
            continue
        if actual != recorded:
            yield f"{path} is not the file that was backed up ({actual.bytes:,} bytes of {recorded.bytes:,})."
        done += recorded.bytes
        progress("checked", done)
    strangers = {
        each.relative_to(folder).as_posix() for each in folder.rglob("*") if each.is_file()
    } - manifest.files.keys()
    for path in sorted(strangers - {MANIFEST}):
        yield f"{path} is not in the manifest."


class Store(Protocol):
    """Where files of one kind are, by their paths in it."""

    @property
    def name(self) -> str:
        """The folder of a backup that has them."""

    def paths(self) -> Iterator[str]:
        """All files that are there."""

    def open(self, path: str) -> BinaryIO:
        """A file; FileNotFoundError where it is gone."""

    def put_back(self, source: Path) -> None:
        """Have every file of a folder here; files that are here are the same already."""


class Folder:
    """A folder of this host."""

    def __init__(self, name: str, root: Path) -> None:
        self.name, self._root = name, root

    def paths(self) -> Iterator[str]:
        """Files, not links: what they lead to belongs to somebody else."""
        for each in sorted(self._root.rglob("*")):
            if each.is_file() and not each.is_symlink():
                yield each.relative_to(self._root).as_posix()

    def open(self, path: str) -> BinaryIO:
        """The file."""
        return (self._root / path).open("rb")

    def put_back(self, source: Path) -> None:
        """One after another; a run that was killed is repeated."""
        for each in sorted(source.rglob("*")):
            place = self._root / each.relative_to(source)
            if each.is_file() and not place.exists():
                half = place.with_name(f".{place.name}.restoring")
                with each.open("rb") as file:
                    write_file(file, half)
                shutil.copystat(each, half)
                half.replace(place)


class Models(Folder):
    """Models of learned metrics, those that other hosts published among them."""

    def __init__(self) -> None:
        super().__init__("models", Path(settings.METRIC_MODELS))

    def paths(self) -> Iterator[str]:
        """Their files, fetched where they are missing here; BackupError where one cannot be."""
        try:
            shelf_of_models.fetch_all()
        except EvaluationError as error:
            raise BackupError(str(error)) from error
        yield from super().paths()

    def put_back(self, source: Path) -> None:
        """For all hosts."""
        super().put_back(source)
        for each in shelf_of_models.shelf():
            shelf_of_models.publish(each)


class Shelf:
    """The storage of releases: a folder or a bucket."""

    name = "releases"

    def paths(self) -> Iterator[str]:
        """Files as PROJECT/VERSION/PATH."""
        return shelf().paths()

    def open(self, path: str) -> BinaryIO:
        """The file."""
        project, version, rest = path.split("/", 2)
        return shelf().open(f"{project}/{version}", rest)

    def put_back(self, source: Path) -> None:
        """A release at a time, whole or not there; those that are there are left."""
        present = {tuple(path.split("/", 2)[:2]) for path in self.paths()}
        for release in sorted(source.glob("*/*")):
            if (release.parent.name, release.name) not in present:
                shelf().keep(f"{release.parent.name}/{release.name}", release, move=False)


class SharedFolder:
    """Files below one name in the storage that all hosts share."""

    def __init__(self, name: str, store: SharedStore) -> None:
        self.name, self._store = name, store

    def paths(self) -> Iterator[str]:
        """Names below the folder's."""
        for name, _ in self._store.names(self.name):
            yield name.removeprefix(f"{self.name}/")

    def open(self, path: str) -> BinaryIO:
        """The file."""
        return self._store.open(f"{self.name}/{path}")

    def put_back(self, source: Path) -> None:
        """One after another; a run that was killed is repeated."""
        for each in sorted(source.rglob("*")):
            name = f"{self.name}/{each.relative_to(source).as_posix()}"
            if each.is_file() and self._store.size(name) is None:
                self._store.put(name, each)


def stores() -> list[Store]:
    """All of them. Uploads come first and last in a backup: see `saving`.

    Indexes and networks are not among them: they are built again from the database.
    """
    if shared_store().is_shared:
        return [Shelf(), Models(), SharedFolder("imports", shared_store())]
    return [Shelf(), Models(), Folder("imports", Path(settings.DATA_DIR) / "imports")]


def digest_in(store: Store, path: str) -> BackupFile | None:
    """Digest of a file that is in a store; None where there is none."""
    try:
        with store.open(path) as file:
            return digest_of(file)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
