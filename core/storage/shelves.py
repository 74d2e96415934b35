"""Whole folders of files under a name, as releases and evaluations have them: in a folder or in a bucket."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.files import File

from core.files.atomic import scratch_dir
from core.storage.outages import name_folder_outages, refuse_absent_folder

S3 = "s3://"


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
        with name_folder_outages(self.root):
            if not self.root.exists():
                refuse_absent_folder(self.root.parent)
            self._keep(name, folder, move=move)

    def _keep(self, name: str, folder: Path, *, move: bool) -> None:
        with scratch_dir(self.root, ".keeping-") as beside:
            new, place = beside / "new", self.root / name
            if move:
                shutil.move(folder, new)
            else:
                shutil.copytree(folder, new)
            write_to_disk(new)
            place.parent.mkdir(exist_ok=True)
            if place.exists():
                place.rename(beside / "old")
            new.rename(place)

    def open(self, name: str, path: str) -> BinaryIO:
        """The file."""
        with name_folder_outages(self.root.parent):
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
        refuse_absent_folder(self.root.parent)
        for each in sorted(self.root.glob("[!.]*/*/**/*")):
            if each.is_file():
                yield each.relative_to(self.root).as_posix()


def write_to_disk(folder: Path) -> None:
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
        from core.storage.bucket import name_outages, storage_for

        storage, kept = storage_for(self.bucket), set()
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                key = f"{self._below(name)}{each.relative_to(folder).as_posix()}"
                with each.open("rb") as file, name_outages(self.bucket):
                    storage.save(key, File(file))
                kept.add(key)
        self._delete(name, but=kept)

    def open(self, name: str, path: str) -> BinaryIO:
        """A reader that asks for what is read, never for the whole object."""
        from core.storage.bucket import Reader

        return Reader.at(self.bucket, f"{self._below(name)}{inside(path)}")

    def folder(self, name: str) -> Path | None:
        """None."""
        return None

    def forget(self, name: str) -> None:
        """Delete the objects."""
        self._delete(name, but=set())

    def paths(self) -> Iterator[str]:
        """The objects below the prefix."""
        from core.storage.bucket import storage_for

        below = f"{self.prefix}/" if self.prefix else ""
        for each in storage_for(self.bucket).bucket.objects.filter(Prefix=below):
            yield str(each.key).removeprefix(below)

    def _below(self, name: str) -> str:
        return f"{self.prefix}/{name}/" if self.prefix else f"{name}/"

    def _delete(self, name: str, *, but: set[str]) -> None:
        from core.storage.bucket import name_outages, storage_for

        with name_outages(self.bucket):
            for each in storage_for(self.bucket).bucket.objects.filter(Prefix=self._below(name)):
                if each.key not in but:
                    each.delete()


def inside(path: str) -> PurePosixPath:
    """A path inside a release; ValueError for one that leads out of it."""
    found = PurePosixPath(path)
    if found.is_absolute() or not found.parts or ".." in found.parts or "\x00" in path:
        raise ValueError(f"{path!r} is no file of a release.")
    return found


def bucket_place(setting: str, place: str) -> tuple[str, str]:
    """Bucket and prefix of `s3://bucket/prefix`; ImproperlyConfigured, naming the setting, for others."""
    if not place.startswith(S3):
        raise ImproperlyConfigured(f"{setting}={place!r} is neither a folder nor s3://bucket/prefix.")
    parts = urlsplit(place)
    if not parts.netloc:
        raise ImproperlyConfigured(f"{setting}={place!r} names no bucket. Write s3://bucket/prefix.")
    return parts.netloc, parts.path.strip("/")


def shelf_at(place: str) -> Shelf:
    """The storage that RELEASES_STORAGE names: `s3://bucket/prefix`, or a folder."""
    if "://" in place:
        return BucketShelf(*bucket_place("RELEASES_STORAGE", place))
    return FolderShelf(Path(place).absolute())
