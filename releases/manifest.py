"""The manifest of a release: contents, origin, digests of files; its page, and checking a folder by it.

Pure: files and manifests in, numbers and sentences out.
"""

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from core.progress import Progress
from releases.options import GROUPS
from releases.tables import OPTIONAL, SPLITS, TABLES, Table

#: Grows when the manifest has other fields.
FORM = 2
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """One file of a release; `path` has / between its parts, `rows` is None where it has no rows."""

    path: str
    format: str
    bytes: int
    rows: int | None
    sha256: str

    @property
    def as_json(self) -> dict[str, Any]:
        """As it is in the manifest."""
        return {
            "path": self.path,
            "format": self.format,
            "bytes": self.bytes,
            "rows": self.rows,
            "sha256": self.sha256,
        }


def sha256_of(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def json_text(value: Any) -> str:
    """JSON as a release has it: two spaces, keys in their order, one line feed at the end."""
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def content_digest(lines: Mapping[str, str], about: Mapping[str, Any]) -> str:
    """The digest of the data alone: of the digests of all tables' lines, and of what is beside them.

    The same data give the same digest, whatever the formats, the version and the code.
    """
    plain = json.dumps({"lines": lines, "about": about}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()


def tables_of(
    rows: Mapping[str, Mapping[str, int]], tables: Iterable[Table] = TABLES
) -> list[dict[str, Any]]:
    """The tables with their columns and how many rows each split has."""
    return [
        {
            "name": table.name,
            "title": table.title,
            "meaning": table.meaning,
            "columns": [
                {"name": column.name, "kind": str(column.kind), "meaning": column.meaning}
                for column in table.columns
            ],
            "rows": dict(rows.get(table.name, {})),
        }
        for table in tables
        if table.name not in OPTIONAL or rows.get(table.name)
    ]


def manifest_of(about: Mapping[str, Any], files: Iterable[ManifestFile]) -> dict[str, Any]:
    """The whole manifest; the files are in the order of their paths."""
    ordered = sorted(files, key=lambda file: file.path)
    return {"manifest": FORM, **about, "files": [file.as_json for file in ordered]}


def write_manifest(folder: Path, manifest: Mapping[str, Any], files: Sequence[ManifestFile]) -> str:
    """Write `manifest.json` and `SHA256SUMS`, the last two files of a release; the manifest's digest."""
    text = json_text(manifest).encode()
    digest = hashlib.sha256(text).hexdigest()
    sums = {file.path: file.sha256 for file in files} | {MANIFEST: digest}
    (folder / SUMS).write_text(
        "".join(f"{sums[path]}  {path}\n" for path in sorted(sums)), encoding="utf-8", newline="\n"
    )
    (folder / MANIFEST).write_bytes(text)
    return digest


# A release's manifest in the words and numbers of its page. Pure: manifests are what their builder wrote.

Manifest = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table with its rows by split, in the order of the splits, and in all."""

    title: str
    name: str
    meaning: str
    by_split: list[int]
    total: int


@dataclass(frozen=True, slots=True)
class StepRow:
    """One step: how many came in and went on, and what became of the others, in words."""

    reasons_text: str
    before: int
    after: int
    reasons: str


@dataclass(frozen=True, slots=True)
class Change:
    """Something that two releases have differently."""

    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes:
    """How the manifests of two releases differ."""

    facts: list[Change] = field(default_factory=list)
    rows: list[Change] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    same: int = 0
    same_content: bool = False

    @property
    def anything(self) -> bool:
        """There is a difference."""
        return bool(self.facts or self.rows or self.added or self.removed or self.changed)


def tables(manifest: Manifest) -> list[TableRows]:
    """The tables that have rows."""
    rows = []
    for each in _records(manifest.get("tables")):
        counts = each.get("rows") if isinstance(each.get("rows"), Mapping) else {}
        by_split = [_number(counts.get(split)) for split in SPLITS]  # type: ignore[union-attr]
        if any(by_split):
            title, name = str(each.get("title", "")), str(each.get("name", ""))
            rows.append(TableRows(title, name, str(each.get("meaning", "")), by_split, sum(by_split)))
    return rows


def steps(manifest: Manifest) -> list[StepRow]:
    """Counts before and after each step."""
    rows = []
    for each in _records(manifest.get("steps")):
        stored = each.get("reasons")
        reasons: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
        reasons_text = ", ".join(
            f"{GROUPS[name].label.lower() if name in GROUPS else str(name).replace('_', ' ')} "
            f"{_number(count):,}"
            for name, count in reasons.items()
        )
        rows.append(
            StepRow(
                f"{each.get('what', '')}: {each.get('step', '')}",
                _number(each.get("before")),
                _number(each.get("after")),
                reasons_text,
            )
        )
    return rows


def facts(manifest: Manifest) -> list[tuple[str, str]]:
    """What the manifest says about how the release was made."""
    parameters = manifest.get("parameters")
    options = parameters if isinstance(parameters, Mapping) else {}
    splits = options.get("splits") if isinstance(options.get("splits"), Mapping) else {}
    assert isinstance(splits, Mapping)
    shares = splits.get("shares") if isinstance(splits.get("shares"), Mapping) else {}
    assert isinstance(shares, Mapping)
    brought: Mapping[str, Any] = options.get("brought_in") or {}
    code = manifest.get("code") if isinstance(manifest.get("code"), Mapping) else {}
    assert isinstance(code, Mapping)
    values = {
        "Licence": manifest.get("licence"),
        "Language": manifest.get("language"),
        "Formats": ", ".join(map(str, options.get("formats") or ())),
        "Splits": ", ".join(f"{name} {float(share):.0%}" for name, share in shares.items() if share),
        "Seed of the splits": splits.get("seed"),
        "Brought in": ", ".join(
            f"{brought.get(name, 0):,} {GROUPS[name].noun}"
            for name in GROUPS
            if name in (options.get("include") or ())
        ),
        "Spans blacked out": options.get("redacted_spans"),
        "Made with": ", ".join(f"{name} {version}" for name, version in code.items()),
    }
    return [(name, str(value)) for name, value in values.items() if value not in (None, "")]


def changes(before: Manifest, after: Manifest) -> Changes:
    """What differs from one release to the next."""
    one, other = dict(facts(before)), dict(facts(after))
    rows, more = (
        {row.title: row.total for row in tables(before)},
        {row.title: row.total for row in tables(after)},
    )
    files, now = _digests(before), _digests(after)
    both = files.keys() & now.keys()
    return Changes(
        facts=[
            Change(name, one.get(name, "none"), other.get(name, "none"))
            for name in {**one, **other}
            if one.get(name) != other.get(name)
        ],
        rows=[
            Change(name, f"{rows.get(name, 0):,}", f"{more.get(name, 0):,}")
            for name in {**rows, **more}
            if rows.get(name) != more.get(name)
        ],
        added=sorted(now.keys() - files.keys()),
        removed=sorted(files.keys() - now.keys()),
        changed=sorted(path for path in both if files[path] != now[path]),
        same=sum(files[path] == now[path] for path in both),
        same_content=bool(before.get("content")) and before.get("content") == after.get("content"),
    )


def _digests(manifest: Manifest) -> dict[str, str]:
    return {str(each.get("path")): str(each.get("sha256")) for each in _records(manifest.get("files"))}


def _records(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0


# Checking a release's folder against its manifest: every byte of it, and nothing beside it.
#
# The folder may come from anywhere, so nothing that its manifest says is followed out of it, and no more of a
# file is read than its place promises.

_LARGEST_MANIFEST = 64 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUM = re.compile(r"([0-9a-f]{64})  (.+)")
_BLOCK = 1 << 20
_AGAIN = "Get it again from where it was published."


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
    own_digest = hashlib.sha256(raw).hexdigest()
    problems = []
    if digest and digest != own_digest:
        problems.append(f"{MANIFEST} is not the one that was published: its digest is {own_digest}. {_AGAIN}")
    try:
        manifest = json.loads(raw)
        promised = list(_promised(manifest))
    except (ValueError, RecursionError) as error:
        return VerificationResult(
            folder, [*problems, f"{MANIFEST} cannot be read: {error}. {_AGAIN}"], digest=own_digest
        )
    # Other JSON of the same meaning has another digest; who has no published one learns of it by its layout.
    if json_text(manifest).encode("utf-8", "replace") != raw:
        problems.append(f"{MANIFEST} was written anew: it is laid out otherwise than releases are. {_AGAIN}")
    sums = {each.path: each.sha256 for each in promised} | {MANIFEST: own_digest}
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
        digest=own_digest,
        content=str(manifest.get("content", "")),
        files=len(promised) + 2,
        bytes=total + len(raw) + _size(folder / SUMS),
        known=bool(digest),
    )


def _size(place: Path) -> int:
    return place.stat().st_size if place.is_file() else 0


def _promised(manifest: Any) -> Iterator[_ManifestFile]:
    """The files that a manifest names; ValueError where it is none, or names a file outside of its folder."""
    entries = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(entries, list):
        raise ValueError("it has no list of files")
    seen = set()
    for each in entries:
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
        # Separators and drives of Windows, where the folder may be checked.
        and "\\" not in path
        and ":" not in path
        and path not in (MANIFEST, SUMS)
    )


def _sums(folder: Path, sums: Mapping[str, str]) -> list[str]:
    try:
        text = _small(folder, SUMS).decode("utf-8", "replace")
    except _UnreadableError as error:
        return [f"{error} {_AGAIN}"]
    by_path = {}
    for line in text.removesuffix("\n").split("\n"):
        match = _SUM.fullmatch(line)
        if match is None or match[2] in by_path:
            return [f"{SUMS} was changed: {line[:80]!r} is no line of it. {_AGAIN}"]
        by_path[match[2]] = match[1]
    wrong = [path for path in sorted(sums) if by_path.get(path) != sums[path]]
    if wrong:
        return [f"{SUMS} and {MANIFEST} disagree about {wrong[0]}{_more(wrong)}: one was changed. {_AGAIN}"]
    unknown = sorted(set(by_path) - set(sums))
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
        # Each part of the way: a folder that is a link leads out of the release like a file that is one.
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


def _extra(folder: Path, expected: set[str]) -> list[str]:
    """What lies in the folder and is not of the release; folders that are links are not entered."""
    problems = []
    for root, folders, files in os.walk(folder, followlinks=False):
        folder_path = Path(root).relative_to(folder)
        for name in sorted(files) + sorted(each for each in folders if (Path(root) / each).is_symlink()):
            path = (folder_path / name).as_posix()
            if path not in expected:
                problems.append(f"{path} is not of the release. Delete it, or move it elsewhere.")
        inside = {PurePosixPath(path).parents for path in expected}
        parents = {str(parent) for each in inside for parent in each}
        problems += [
            f"{(folder_path / name).as_posix()}/ is not of the release. Delete it, or move it elsewhere."
            for name in sorted(folders)
            if (folder_path / name).as_posix() not in parents
            and not (Path(root) / name).is_symlink()
            and not any((Path(root) / name).iterdir())
        ]
    return problems


def _more(paths: list[str]) -> str:
    return f" and {len(paths) - 1:,} more" if len(paths) > 1 else ""
