"""Files that belong to a database: of releases, of learned metrics, and uploads that wait for their job."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from django.conf import settings

from core.storage.store import SharedStore, shared_store
from distillery.backup.folder import BackupError, BackupFile, digest_of, write_file
from evaluations import model_shelf as shelf_of_models
from evaluations.errors import EvaluationError
from releases.storage import shelf


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
        there = {tuple(path.split("/", 2)[:2]) for path in self.paths()}
        for release in sorted(source.glob("*/*")):
            if (release.parent.name, release.name) not in there:
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
