"""Single files that every host may need, in the one storage that all hosts share.

Without DATA_STORAGE there is one host, its data folder holds everything, and nothing here does anything.
A host is known by a token that lies in its data folder.
"""

import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from django.conf import settings
from django.core.files import File

from core.storage.outages import name_folder_outages, refuse_absent_folder
from core.storage.shelves import bucket_place, inside

_PIECE = 1 << 20


class SharedStore(Protocol):
    """Files by name. A name ends in the file's own part, such as `imports/7/0f3a`.

    A storage that does not answer raises StorageUnavailableError, whatever is asked of it.
    """

    is_shared: bool

    def prepare(self) -> None:
        """Make the bucket or folder, if it is not there."""

    def put(self, name: str, source: Path) -> None:
        """Have a copy of a file there, whole or not at all, in place of what is there."""

    def size(self, name: str) -> int | None:
        """How many bytes a file has; None where there is none."""

    def open(self, name: str) -> BinaryIO:
        """A file to read; FileNotFoundError where there is none."""

    def delete(self, name: str) -> None:
        """Remove a file, if it is there."""

    def names(self, below: str) -> Iterator[tuple[str, datetime]]:
        """Names of all files below a folder, and since when each is there."""


class NoStore:
    """One host: nothing is shared, and nothing is asked for."""

    is_shared = False

    def prepare(self) -> None:
        """Nothing to do."""

    def put(self, name: str, source: Path) -> None:
        """Nothing to do."""

    def size(self, name: str) -> int | None:
        """None."""
        return None

    def open(self, name: str) -> BinaryIO:
        """There is nothing."""
        raise FileNotFoundError(name)

    def delete(self, name: str) -> None:
        """Nothing to do."""

    def names(self, below: str) -> Iterator[tuple[str, datetime]]:
        """None."""
        return iter(())


@dataclass(frozen=True, slots=True)
class FolderStore:
    """A folder that all hosts see under the same or another path."""

    root: Path
    is_shared = True

    def prepare(self) -> None:
        """Make the folder."""
        with name_folder_outages(self.root):
            self.root.mkdir(parents=True, exist_ok=True)

    def put(self, name: str, source: Path) -> None:
        """Copy beside its place, then rename."""
        place = self.root / inside(name)
        half = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        with source.open("rb") as file, name_folder_outages(self.root):
            refuse_absent_folder(self.root)
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                with half.open("wb") as into:
                    _copy(file, into)
                half.replace(place)
            finally:
                half.unlink(missing_ok=True)

    def size(self, name: str) -> int | None:
        """Of the file."""
        try:
            with name_folder_outages(self.root):
                return (self.root / inside(name)).stat().st_size
        except FileNotFoundError:
            return None

    def open(self, name: str) -> BinaryIO:
        """The file."""
        with name_folder_outages(self.root):
            return (self.root / inside(name)).open("rb")

    def delete(self, name: str) -> None:
        """Remove the file."""
        with name_folder_outages(self.root):
            refuse_absent_folder(self.root)
            (self.root / inside(name)).unlink(missing_ok=True)

    def names(self, below: str) -> Iterator[tuple[str, datetime]]:
        """The files, without those that are being put there."""
        with name_folder_outages(self.root):
            refuse_absent_folder(self.root)
            found = sorted((self.root / inside(below)).rglob("[!.]*"))
        for each in found:
            try:
                with name_folder_outages(self.root):
                    if not each.is_file():
                        continue
                    since = datetime.fromtimestamp(each.stat().st_mtime, UTC)
            except FileNotFoundError:
                continue
            yield each.relative_to(self.root).as_posix(), since


@dataclass(frozen=True, slots=True)
class BucketStore:
    """Objects below a prefix of a bucket."""

    bucket: str
    prefix: str
    is_shared = True

    def prepare(self) -> None:
        """Make the bucket unless it is there."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - where a bucket is

        client = self._storage().connection.meta.client
        try:
            client.head_bucket(Bucket=self.bucket)
        except ClientError:
            client.create_bucket(Bucket=self.bucket)

    def put(self, name: str, source: Path) -> None:
        """Upload, in parts where it is large."""
        with source.open("rb") as file, self._name_outages():
            self._storage().save(self._key(name), File(file))

    def size(self, name: str) -> int | None:
        """Of the object."""
        from core.storage.bucket import object_size

        with self._name_outages():
            return object_size(self._storage().bucket.Object(self._key(name)))

    def open(self, name: str) -> BinaryIO:
        """A reader of the object."""
        from core.storage.bucket import Reader

        return Reader.of(self._storage(), self._key(name))

    def delete(self, name: str) -> None:
        """Delete the object."""
        with self._name_outages():
            self._storage().delete(self._key(name))

    def names(self, below: str) -> Iterator[tuple[str, datetime]]:
        """The objects."""
        prefix = self._key(below) + "/"
        objects = iter(self._storage().bucket.objects.filter(Prefix=prefix))
        while True:
            with self._name_outages():
                each = next(objects, None)
            if each is None:
                return
            yield str(each.key)[len(prefix) - len(below) - 1 :], each.last_modified

    def _storage(self) -> Any:  # an S3Storage
        from core.storage.bucket import storage_for

        return storage_for(self.bucket, "DATA_S3")

    def _name_outages(self) -> AbstractContextManager[None]:
        from core.storage.bucket import name_outages

        return name_outages(self.bucket)

    def _key(self, name: str) -> str:
        path = inside(name).as_posix()
        return f"{self.prefix}/{path}" if self.prefix else path


def shared_store() -> SharedStore:
    """The storage of this installation's hosts."""
    return _store(settings.DATA_STORAGE)


@cache
def _store(place: str) -> SharedStore:
    if not place:
        return NoStore()
    if "://" in place:
        return BucketStore(*bucket_place("DATA_STORAGE", place))
    return FolderStore(Path(place).absolute())


def fetch(store: SharedStore, name: str, target: Path) -> str:
    """Have a copy of a file here, whole or not at all; its SHA-256. FileNotFoundError where there is none."""
    target.parent.mkdir(parents=True, exist_ok=True)
    half = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with store.open(name) as file, half.open("wb") as into:
            digest = _copy(file, into)
        half.replace(target)
    finally:
        half.unlink(missing_ok=True)
    return digest


def _copy(source: BinaryIO, into: BinaryIO) -> str:
    digest = hashlib.sha256()
    while piece := source.read(_PIECE):
        digest.update(piece)
        into.write(piece)
    into.flush()
    os.fsync(into.fileno())
    return digest.hexdigest()


# Which host this is.

HOST_FILE = "host-id"


def host_id() -> str:
    """Token of this host's data folder. Processes that share the folder are one host."""
    return _host_id(Path(settings.DATA_DIR))


@cache
def _host_id(folder: Path) -> str:
    place = folder / HOST_FILE
    if not place.exists():
        half = place.with_name(f".{HOST_FILE}.{secrets.token_hex(4)}")
        half.write_text(secrets.token_hex(8), encoding="utf-8")
        try:
            # Fails where the name is taken: of processes that start at once the first one wins.
            os.link(half, place)
        except FileExistsError:
            pass
        finally:
            half.unlink()
    return place.read_text(encoding="utf-8").strip()
