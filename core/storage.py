"""Where files lie that are no rows: folders of this host, and the storage that all hosts share.

Releases and evaluations have a shelf (`shelf_at`), whose folders take their place in one step. The one
storage that all hosts share is `shared_store()`: without DATA_STORAGE there is one host, its data folder
holds everything, and nothing that is asked of the store does anything. A bundle there is a
state of a folder for hosts that did not make it: an index, a network, a learned model.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files import File

from core.files.atomic import scratch_dir
from core.storage_outages import name_folder_outages, refuse_absent_folder

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
        from core.bucket import name_outages, storage_for

        storage, keys = storage_for(self.bucket), set()
        for each in sorted(folder.rglob("*")):
            if each.is_file():
                key = f"{self._below(name)}{each.relative_to(folder).as_posix()}"
                with each.open("rb") as file, name_outages(self.bucket):
                    storage.save(key, File(file))
                keys.add(key)
        self._delete(name, but=keys)

    def open(self, name: str, path: str) -> BinaryIO:
        """A reader that asks for what is read, never for the whole object."""
        from core.bucket import Reader

        return Reader.at(self.bucket, f"{self._below(name)}{inside(path)}")

    def folder(self, name: str) -> Path | None:
        """None."""
        return None

    def forget(self, name: str) -> None:
        """Delete the objects."""
        self._delete(name, but=set())

    def paths(self) -> Iterator[str]:
        """The objects below the prefix."""
        from core.bucket import storage_for

        below = f"{self.prefix}/" if self.prefix else ""
        for each in storage_for(self.bucket).bucket.objects.filter(Prefix=below):
            yield str(each.key).removeprefix(below)

    def _below(self, name: str) -> str:
        return f"{self.prefix}/{name}/" if self.prefix else f"{name}/"

    def _delete(self, name: str, *, but: set[str]) -> None:
        from core.bucket import name_outages, storage_for

        with name_outages(self.bucket):
            for each in storage_for(self.bucket).bucket.objects.filter(Prefix=self._below(name)):
                if each.key not in but:
                    each.delete()


def inside(path: str) -> PurePosixPath:
    """A path inside a release; ValueError for one that leads out of it."""
    relative = PurePosixPath(path)
    if relative.is_absolute() or not relative.parts or ".." in relative.parts or "\x00" in path:
        raise ValueError(f"{path!r} is no file of a release.")
    return relative


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


_PIECE = 1 << 20


# Single files.


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
            paths = sorted((self.root / inside(below)).rglob("[!.]*"))
        for each in paths:
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
        from core.bucket import object_size

        with self._name_outages():
            return object_size(self._storage().bucket.Object(self._key(name)))

    def open(self, name: str) -> BinaryIO:
        """A reader of the object."""
        from core.bucket import Reader

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
        from core.bucket import storage_for

        return storage_for(self.bucket, "DATA_S3")

    def _name_outages(self) -> AbstractContextManager[None]:
        from core.bucket import name_outages

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


# Bundles: a state is published as its files, each under its SHA-256, and a list of them under the SHA-256 of
# that list. The database keeps the list's digest, so a host that fetches a state knows that it got just that.
# Files that two states have in common are kept and carried once.
#
# NAME/files/SHA-256     the files
# NAME/DIGEST.json       {"current": {"sha256": "…", "bytes": 36}, "g3/meta.json": …}

_LIST = re.compile(r"([0-9a-f]{64})\.json")
_Listed = dict[str, dict[str, str | int]]


class DamagedBundleError(Exception):
    """What the storage gave is not what was published."""


def publish_bundle(store: SharedStore, name: str, folder: Path, parts: Iterable[str]) -> str:
    """Publish files and folders of a folder as one state; its digest.

    The list is put there last, so that what a killed host left is no state.
    """
    files: _Listed = {}
    for path in sorted(_files(folder, parts)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
        files[path.relative_to(folder).as_posix()] = {"sha256": digest, "bytes": size}
        if store.size(_file(name, digest)) != size:
            store.put(_file(name, digest), path)
    text = json.dumps(files, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    with tempfile.NamedTemporaryFile() as written:
        written.write(text)
        written.flush()
        store.put(_list(name, digest), Path(written.name))
    return digest


def fetch_bundle(
    store: SharedStore, name: str, digest: str, target: Path, *, like: Iterable[Path] = ()
) -> None:
    """Have a published state in a folder that is not there yet.

    Files that a folder of `like` has are linked from there. FileNotFoundError where the state is no longer
    published, DamagedBundleError where a file is not the one that was.
    """
    files = _read(store, name, digest)
    near = {sha256: path for folder in like for sha256, path in _index_fetched(folder).items()}
    with scratch_dir(target.parent, f".{target.name}-") as beside:
        state = beside / "state"
        state.mkdir(mode=0o700)
        for path, facts in files.items():
            place, sha256 = state / inside(path), str(facts["sha256"])
            place.parent.mkdir(parents=True, exist_ok=True)
            if sha256 in near and _linked(near[sha256], place):
                continue
            if fetch(store, _file(name, sha256), place) != sha256:
                raise DamagedBundleError(f"{name}/{path} in the shared storage is damaged.")
        (state / FETCHED).write_text(json.dumps(files), encoding="utf-8")
        try:
            state.rename(target)
        except OSError:
            if not target.is_dir():  # another process was as fast
                raise


def prune_bundles(store: SharedStore, name: str, keep: Collection[str]) -> None:
    """Remove all published states but these, and files that none of these has."""
    used: set[str] = set()
    for digest in keep:
        try:
            used |= {str(facts["sha256"]) for facts in _read(store, name, digest).values()}
        except FileNotFoundError:
            continue
    for each in [path for path, _ in store.names(name)]:
        own = each.removeprefix(f"{name}/")
        match = _LIST.fullmatch(own)
        if (match and match[1] not in keep) or (
            own.startswith("files/") and own.removeprefix("files/") not in used
        ):
            store.delete(each)


#: List of a fetched state, in its folder.
FETCHED = ".fetched.json"


def is_fetched(folder: Path) -> bool:
    """Whether the folder holds a state that was fetched whole."""
    return (folder / FETCHED).is_file()


def _index_fetched(folder: Path) -> dict[str, Path]:
    """Files of a fetched state by digest; they are never changed in place."""
    try:
        files: _Listed = json.loads((folder / FETCHED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(facts["sha256"]): folder / path for path, facts in files.items()}


def _linked(source: Path, place: Path) -> bool:
    try:
        os.link(source, place)
    except OSError:
        return False
    return True


def _read(store: SharedStore, name: str, digest: str) -> _Listed:
    with store.open(_list(name, digest)) as file:
        text = file.read()
    if hashlib.sha256(text).hexdigest() != digest:
        raise DamagedBundleError(f"The list of {name} in the shared storage is damaged.")
    files: _Listed = json.loads(text)
    return files


def _files(folder: Path, parts: Iterable[str]) -> Iterable[Path]:
    for part in parts:
        place = folder / part
        every = [place] if place.is_file() else place.rglob("*")
        yield from (each for each in every if each.is_file() and each.suffix != ".lock")


def _file(name: str, digest: str) -> str:
    return f"{name}/files/{digest}"


def _list(name: str, digest: str) -> str:
    return f"{name}/{digest}.json"
