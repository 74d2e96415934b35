"""The manifest of a release: contents, origin, the digest of every file; and how its page shows it."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from releases.groups import GROUPS
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
        """As it stands in the manifest."""
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
    """The digest of the data alone: of the digests of all tables' lines, and of what stands beside them.

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
    listed = sorted(files, key=lambda file: file.path)
    return {"manifest": FORM, **about, "files": [file.as_json for file in listed]}


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

    words: str
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
    found = []
    for each in _records(manifest.get("tables")):
        counts = each.get("rows") if isinstance(each.get("rows"), Mapping) else {}
        by_split = [_number(counts.get(split)) for split in SPLITS]  # type: ignore[union-attr]
        if any(by_split):
            title, name = str(each.get("title", "")), str(each.get("name", ""))
            found.append(TableRows(title, name, str(each.get("meaning", "")), by_split, sum(by_split)))
    return found


def steps(manifest: Manifest) -> list[StepRow]:
    """Counts before and after each step."""
    found = []
    for each in _records(manifest.get("steps")):
        given = each.get("reasons")
        reasons: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        words = ", ".join(
            f"{GROUPS[name].label.lower() if name in GROUPS else str(name).replace('_', ' ')} "
            f"{_number(count):,}"
            for name, count in reasons.items()
        )
        found.append(
            StepRow(
                f"{each.get('what', '')}: {each.get('step', '')}",
                _number(each.get("before")),
                _number(each.get("after")),
                words,
            )
        )
    return found


def facts(manifest: Manifest) -> list[tuple[str, str]]:
    """What the manifest says about how the release was made."""
    parameters = manifest.get("parameters")
    given = parameters if isinstance(parameters, Mapping) else {}
    splits = given.get("splits") if isinstance(given.get("splits"), Mapping) else {}
    assert isinstance(splits, Mapping)
    shares = splits.get("shares") if isinstance(splits.get("shares"), Mapping) else {}
    assert isinstance(shares, Mapping)
    brought: Mapping[str, Any] = given.get("brought_in") or {}
    code = manifest.get("code") if isinstance(manifest.get("code"), Mapping) else {}
    assert isinstance(code, Mapping)
    found = {
        "Licence": manifest.get("licence"),
        "Language": manifest.get("language"),
        "Formats": ", ".join(map(str, given.get("formats") or ())),
        "Splits": ", ".join(f"{name} {float(share):.0%}" for name, share in shares.items() if share),
        "Seed of the splits": splits.get("seed"),
        "Brought in, not accepted": ", ".join(
            f"{brought.get(name, 0):,} {GROUPS[name].words}"
            for name in GROUPS
            if name in (given.get("include") or ())
        ),
        "Spans blacked out": given.get("redacted_spans"),
        "Made with": ", ".join(f"{name} {version}" for name, version in code.items()),
    }
    return [(name, str(value)) for name, value in found.items() if value not in (None, "")]


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
