"""Where the files of built releases are kept: a folder, or S3-compatible storage, as the settings say.

Files are put there first and the row of the release is made ready after, so that a build that is killed in
between leaves no ready release; the next one puts its files in their place.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files import File

from releases.errors import ReleaseError
from releases.rooms import room

if TYPE_CHECKING:
    from releases.models import Release

_S3 = "s3://"


class Shelf(Protocol):
    """A place for the files of releases."""

    def keep(self, name: str, folder: Path, *, move: bool) -> None:
        """Put all files of a folder under a name, in place of what is there."""
        ...

    def open(self, name: str, path: str) -> BinaryIO:
        """A file to read and seek; FileNotFoundError where there is none."""
        ...

    def folder(self, name: str) -> Path | None:
        """The folder with the files, where they lie in one."""
        ...

    def forget(self, name: str) -> None:
        """Remove all files under a name."""
        ...

    def paths(self) -> Iterator[str]:
        """Every file that is kept, as PROJECT/VERSION/PATH, in order."""
        ...


@dataclass(frozen=True, slots=True)
class FolderShelf:
    """A folder per release below `root`. It takes its place in one step, so that it is whole or not there."""

    root: Path

    def keep(self, name: str, folder: Path, *, move: bool) -> None:
        """Copy or move the folder beside its place, then rename it."""
        with room(self.root, ".keeping-") as beside:
            new, place = beside / "new", self.root / name
            if move:
                shutil.move(folder, new)
            else:
                shutil.copytree(folder, new)
            _onto_the_disk(new)
            place.parent.mkdir(exist_ok=True)
            if place.exists():
                place.rename(beside / "old")
            new.rename(place)

    def open(self, name: str, path: str) -> BinaryIO:
        """The file."""
        return (self.root / name / inside(path)).open("rb")

    def folder(self, name: str) -> Path | None:
        """The folder, if it is there."""
        place = self.root / name
        return place if place.is_dir() else None

    def forget(self, name: str) -> None:
        """Remove the folder."""
        shutil.rmtree(self.root / name, ignore_errors=True)

    def paths(self) -> Iterator[str]:
        """The files, without what is being put there."""
        for each in sorted(self.root.glob("[!.]*/*/**/*")):
            if each.is_file():
                yield each.relative_to(self.root).as_posix()


def _onto_the_disk(folder: Path) -> None:
    """Have the system write what it still holds: a ready release survives a power cut."""
    for each in folder.rglob("*"):
        if each.is_file():
            with each.open("rb") as file:
                os.fsync(file.fileno())


@dataclass(frozen=True, slots=True)
class BucketShelf:
    """Objects below a prefix of a bucket, through django-storages."""

    bucket: str
    prefix: str

    def keep(self, name: str, folder: Path, *, move: bool) -> None:
        """Upload each file in parts, then delete what an earlier build left; `move` changes nothing here."""
        from releases.bucket import storage_for  # noqa: PLC0415 - boto3, only where it is the storage

        storage, kept = storage_for(self.bucket), set()
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                key = f"{self._below(name)}{each.relative_to(folder).as_posix()}"
                with each.open("rb") as file:
                    storage.save(key, File(file))
                kept.add(key)
        self._delete(name, but=kept)

    def open(self, name: str, path: str) -> BinaryIO:
        """A reader that asks for what is read, never for the whole object."""
        from releases.bucket import Reader  # noqa: PLC0415

        return Reader.at(self.bucket, f"{self._below(name)}{inside(path)}")

    def folder(self, name: str) -> Path | None:
        """None."""
        return None

    def forget(self, name: str) -> None:
        """Delete the objects."""
        self._delete(name, but=set())

    def paths(self) -> Iterator[str]:
        """The objects below the prefix."""
        from releases.bucket import storage_for  # noqa: PLC0415

        below = f"{self.prefix}/" if self.prefix else ""
        for each in storage_for(self.bucket).bucket.objects.filter(Prefix=below):
            yield str(each.key).removeprefix(below)

    def _below(self, name: str) -> str:
        return f"{self.prefix}/{name}/" if self.prefix else f"{name}/"

    def _delete(self, name: str, *, but: set[str]) -> None:
        from releases.bucket import storage_for  # noqa: PLC0415

        for each in storage_for(self.bucket).bucket.objects.filter(Prefix=self._below(name)):
            if each.key not in but:
                each.delete()


def inside(path: str) -> PurePosixPath:
    """A path inside a release; ValueError for one that leads out of it."""
    found = PurePosixPath(path)
    if found.is_absolute() or not found.parts or ".." in found.parts or "\x00" in path:
        raise ValueError(f"{path!r} is no file of a release.")
    return found


def shelf_at(place: str) -> Shelf:
    """The storage that a setting names: `s3://bucket/prefix`, or a folder."""
    if place.startswith(_S3):
        parts = urlsplit(place)
        if not parts.netloc:
            raise ImproperlyConfigured(
                f"RELEASES_STORAGE={place!r} names no bucket. Write s3://bucket/prefix."
            )
        return BucketShelf(parts.netloc, parts.path.strip("/"))
    if "://" in place:
        raise ImproperlyConfigured(f"RELEASES_STORAGE={place!r} is neither a folder nor s3://bucket/prefix.")
    return FolderShelf(Path(place).absolute())


def shelf() -> Shelf:
    """The storage of this installation."""
    return _shelf(settings.RELEASES_STORAGE)


@cache
def _shelf(place: str) -> Shelf:
    return shelf_at(place)


def keep(release: "Release", folder: Path, *, move: bool = False) -> None:
    """Put the files of a built release where releases are kept; with `move` the folder is used up.

    ReleaseError where the release is ready already: its files never change.
    """
    if release.state in release.BUILT:
        raise ReleaseError(f"Release {release.version} is complete; its files never change.")
    shelf().keep(_name(release), folder, move=move)


def open_at(release: "Release", path: str) -> BinaryIO:
    """A file of a release, to read and to seek; FileNotFoundError where there is none."""
    try:
        return shelf().open(_name(release), path)
    except (ValueError, IsADirectoryError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error


def folder_of(release: "Release") -> Path | None:
    """The folder with the files of a release; None where they lie in no folder, or are not there."""
    return shelf().folder(_name(release))


def forget(release: "Release") -> None:
    """Remove the files of a release that never was ready."""
    if release.state not in release.BUILT:
        shelf().forget(_name(release))


@contextmanager
def workroom() -> Iterator[Path]:
    """An empty folder to build in, on the same disk as the data, removed at the end whatever happens."""
    with room(Path(settings.DATA_DIR) / "building", "release-") as made:
        folder = made / "release"
        folder.mkdir()
        yield folder


def _name(release: "Release") -> str:
    return inside(f"{release.project.slug}/{release.version}").as_posix()
