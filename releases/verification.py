"""Checking a release's folder against its manifest: every byte of it, and nothing beside it.

Pure: files in, sentences out. The folder may come from anywhere, so nothing that its manifest says is
followed out of it, and no more of a file is read than its place promises.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from releases.manifest import MANIFEST, SUMS, json_text

_LARGEST_MANIFEST = 64 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")
_BLOCK = 1 << 20
_AGAIN = "Get it again from where it was published."
Progress = Callable[[int, int, str], None]


class _UnreadableError(Exception):
    """A file that is not there or is none; the sentence says which."""


@dataclass(frozen=True, slots=True)
class VerificationResult:
    """What was found. No problems: every file is as it was when the release was built.

    `digest` is that of the manifest as it lies there; `known` is true where it was compared with one from
    elsewhere, without which a folder in which everything was changed alike cannot be told.
    """

    folder: Path
    problems: list[str] = field(default_factory=list)
    name: str = ""
    version: str = ""
    digest: str = ""
    content: str = ""
    files: int = 0
    bytes: int = 0
    known: bool = False

    @property
    def fine(self) -> bool:
        """Nothing is wrong."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class _ManifestFile:
    path: str
    bytes: int
    sha256: str


def verify(folder: Path, digest: str = "", progress: Progress | None = None) -> VerificationResult:
    """Check every file of a release. `digest` is the manifest's as the publisher names it, if you have it."""
    digest = digest.strip().lower()
    try:
        raw = _small(folder, MANIFEST)
    except _UnreadableError as error:
        return VerificationResult(
            folder, [f"{error} This is no folder of a release, or an incomplete one. {_AGAIN}"]
        )
    found = hashlib.sha256(raw).hexdigest()
    problems = []
    if digest and digest != found:
        problems.append(f"{MANIFEST} is not the one that was published: its digest is {found}. {_AGAIN}")
    try:
        manifest = json.loads(raw)
        promised = list(_promised(manifest))
    except (ValueError, RecursionError) as error:
        return VerificationResult(
            folder, [*problems, f"{MANIFEST} cannot be read: {error}. {_AGAIN}"], digest=found
        )
    if json_text(manifest).encode("utf-8", "replace") != raw:
        problems.append(f"{MANIFEST} was written anew: it is laid out otherwise than releases are. {_AGAIN}")
    sums = {each.path: each.sha256 for each in promised} | {MANIFEST: found}
    problems += _sums(folder, sums)
    total, done = sum(each.bytes for each in promised), 0
    for each in promised:
        problems += _file(folder, each)
        done += each.bytes
        if progress:
            progress(done, total, each.path)
    problems += _extra(folder, {each.path for each in promised} | {MANIFEST, SUMS})
    return VerificationResult(
        folder,
        problems,
        name=str(manifest.get("name", "")),
        version=str(manifest.get("version", "")),
        digest=found,
        content=str(manifest.get("content", "")),
        files=len(promised) + 2,
        bytes=total + len(raw) + _size(folder / SUMS),
        known=bool(digest),
    )


def _size(place: Path) -> int:
    return place.stat().st_size if place.is_file() else 0


def _promised(manifest: Any) -> Iterator[_ManifestFile]:
    """The files that a manifest names; ValueError where it is none, or names a file outside of its folder."""
    listed = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it has no list of files")
    seen = set()
    for each in listed:
        path, size, digest = (
            (each.get(key) for key in ("path", "bytes", "sha256")) if isinstance(each, dict) else (None,) * 3
        )
        if not isinstance(path, str) or not _inside(path):
            raise ValueError(f"it names a file {path!r}, which lies in no release")
        if path in seen:
            raise ValueError(f"it names {path!r} twice")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise ValueError(f"it does not say how large {path!r} is")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise ValueError(f"it has no digest of {path!r}")
        seen.add(path)
        yield _ManifestFile(path, size, digest)


def _inside(path: str) -> bool:
    """A plain relative path, spelled in the one way in which it can be."""
    pure = PurePosixPath(path)
    return (
        bool(pure.parts)
        and not pure.is_absolute()
        and str(pure) == path
        and ".." not in pure.parts
        and path.isprintable()
        and "\\" not in path
        and ":" not in path
        and path not in (MANIFEST, SUMS)
    )


def _sums(folder: Path, sums: Mapping[str, str]) -> list[str]:
    try:
        text = _small(folder, SUMS).decode("utf-8", "replace")
    except _UnreadableError as error:
        return [f"{error} {_AGAIN}"]
    found = {}
    for line in text.removesuffix("\n").split("\n"):
        match = _SUM.fullmatch(line)
        if match is None or match[2] in found:
            return [f"{SUMS} was changed: {line[:80]!r} is no line of it. {_AGAIN}"]
        found[match[2]] = match[1]
    wrong = [path for path in sorted(sums) if found.get(path) != sums[path]]
    if wrong:
        return [f"{SUMS} and {MANIFEST} disagree about {wrong[0]}{_more(wrong)}: one was changed. {_AGAIN}"]
    unknown = sorted(set(found) - set(sums))
    if unknown:
        return [f"{SUMS} was changed: {MANIFEST} does not name {unknown[0][:200]}{_more(unknown)}. {_AGAIN}"]
    expected = "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))
    return [] if text == expected else [f"{SUMS} was changed: its lines are in another form. {_AGAIN}"]


def _file(folder: Path, promised: _ManifestFile) -> list[str]:
    try:
        place = _place(folder, promised.path)
    except _UnreadableError as error:
        return [f"{error} {_AGAIN}"]
    size = place.stat().st_size
    if size < promised.bytes:
        return [f"{promised.path} is cut off: it has {size:,} of {promised.bytes:,} bytes. {_AGAIN}"]
    if size > promised.bytes:
        return [
            f"{promised.path} is longer than it was: {size:,} bytes instead of {promised.bytes:,}. {_AGAIN}"
        ]
    digest = hashlib.sha256()
    try:
        with place.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        return [f"{promised.path} cannot be read: {error.strerror or error}."]
    if digest.hexdigest() != promised.sha256:
        return [f"{promised.path} was changed: its bytes are not those that {MANIFEST} names. {_AGAIN}"]
    return []


def _place(folder: Path, path: str) -> Path:
    """Where a file lies; _UnreadableError where it is missing, no plain file, or behind a link."""
    place = folder
    for part in PurePosixPath(path).parts:
        place = place / part
        if place.is_symlink():
            raise _UnreadableError(f"{path} is a link or lies behind one; releases have none.")
    try:
        mode = place.lstat().st_mode
    except OSError:
        raise _UnreadableError(f"{path} is missing.") from None
    if not stat.S_ISREG(mode):
        raise _UnreadableError(f"{path} is no file.")
    return place


def _small(folder: Path, name: str) -> bytes:
    place = _place(folder, name)
    if place.stat().st_size > _LARGEST_MANIFEST:
        raise _UnreadableError(f"{name} is larger than it can be.")
    try:
        return place.read_bytes()
    except OSError as error:
        raise _UnreadableError(f"{name} cannot be read: {error.strerror or error}.") from None


def _extra(folder: Path, known: set[str]) -> list[str]:
    """What lies in the folder and is not of the release; folders that are links are not entered."""
    problems = []
    for root, folders, files in os.walk(folder, followlinks=False):
        here = Path(root).relative_to(folder)
        for name in sorted(files) + sorted(each for each in folders if (Path(root) / each).is_symlink()):
            path = (here / name).as_posix()
            if path not in known:
                problems.append(f"{path} is not of the release. Delete it, or move it elsewhere.")
        inside = {PurePosixPath(path).parents for path in known}
        parents = {str(parent) for each in inside for parent in each}
        problems += [
            f"{(here / name).as_posix()}/ is not of the release. Delete it, or move it elsewhere."
            for name in sorted(folders)
            if (here / name).as_posix() not in parents
            and not (Path(root) / name).is_symlink()
            and not any((Path(root) / name).iterdir())
        ]
    return problems


def _more(paths: list[str]) -> str:
    return f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
