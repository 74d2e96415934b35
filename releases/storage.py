"""Where the files of built releases are kept: a folder, or S3-compatible storage; and reading their rows.

Files are put there first and the row of the release is made ready after, so that a build that is killed in
between leaves no ready release; the next one puts its files in their place.
"""

import csv
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from core.files.atomic import scratch_dir
from core.storage import Shelf, inside, shelf_at
from releases.errors import ReleaseError
from releases.manifest import MANIFEST, SUMS
from releases.models import Release


def shelf() -> Shelf:
    """The storage of this installation."""
    return _shelf(settings.RELEASES_STORAGE)


@cache
def _shelf(place: str) -> Shelf:
    return shelf_at(place)


def keep_files(release: Release, folder: Path, *, move: bool = False) -> None:
    """Put the files of a built release where releases are kept; with `move` the folder is used up.

    ReleaseError where the release is ready already: its files never change.
    """
    if release.state in release.BUILT:
        raise ReleaseError(f"Release {release.version} is complete; its files never change.")
    shelf().keep(_name(release), folder, move=move)


def open_at(release: Release, path: str) -> BinaryIO:
    """A file of a release, to read and to seek; FileNotFoundError where there is none."""
    try:
        return shelf().open(_name(release), path)
    except (ValueError, IsADirectoryError, NotADirectoryError) as error:
        raise FileNotFoundError(path) from error


def folder_of(release: Release) -> Path | None:
    """The folder with the files of a release; None where they lie in no folder, or are not there."""
    return shelf().folder(_name(release))


def forget_files(release: Release) -> None:
    """Remove the files of a release that never was ready."""
    if release.state not in release.BUILT:
        shelf().forget(_name(release))


@contextmanager
def workroom() -> Iterator[Path]:
    """An empty folder to build in, on the same disk as the data, removed at the end whatever happens."""
    with scratch_dir(Path(settings.DATA_DIR) / "building", "release-") as scratch:
        folder = scratch / "release"
        folder.mkdir()
        yield folder


def _name(release: Release) -> str:
    return inside(f"{release.project.slug}/{release.version}").as_posix()


# The files of a kept release as a folder, wherever they are kept.


@contextmanager
def fetched_folder(release: Release) -> Iterator[Path]:
    """A folder with all files of a release: where they lie, or a copy that is gone afterwards.

    ReleaseError where they are not there.
    """
    place = folder_of(release)
    if place is not None:
        yield place
        return
    with workroom() as folder:
        for path in [*release.files.values_list("path", flat=True), MANIFEST, SUMS]:
            target = folder / inside(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with open_at(release, path) as file, target.open("wb") as copy:
                    shutil.copyfileobj(file, copy)
            except FileNotFoundError as error:
                raise ReleaseError(
                    f"The files of {release.project.slug} {release.version} are no longer in storage."
                ) from error
        yield folder


# The rows of a built release out of its files, whichever of the plain formats it has.

#: Formats that hold every table whole, the fastest to read first.
READABLE = ("jsonl", "parquet", "csv")
_SUFFIX = {"jsonl": "jsonl", "parquet": "parquet", "csv": "csv"}
Record = Mapping[str, Any]


def formats_of(manifest: Mapping[str, Any]) -> list[str]:
    """Formats of a release from which its rows can be read."""
    present = {file.get("format") for file in manifest.get("files", ())}
    return [name for name in READABLE if name in present]


def files_of(manifest: Mapping[str, Any], format: str, table: str) -> list[Mapping[str, Any]]:
    """The files of a table in a format, as the manifest names them."""
    suffix = _SUFFIX[format]
    return [
        file
        for file in manifest.get("files", ())
        if file.get("format") == format
        and str(file.get("path", "")).startswith(f"{format}/{table}-")
        and str(file["path"]).endswith(f".{suffix}")
    ]


def records(folder: Path, format: str, files: Sequence[Mapping[str, Any]]) -> Iterator[Record]:
    """The rows of some files of one format, a few at a time."""
    read = {"jsonl": _lines, "parquet": _parquet, "csv": _cells}[format]
    for file in files:
        yield from read(folder / str(file["path"]))


def _lines(path: Path) -> Iterator[Record]:
    with path.open("rb") as file:
        for line in file:
            yield json.loads(line)


def _parquet(path: Path) -> Iterator[Record]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=5_000):
            yield from batch.to_pylist()


def _cells(path: Path) -> Iterator[Record]:
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)
