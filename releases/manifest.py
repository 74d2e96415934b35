"""The manifest of a release: what is in it, how it came about, and the digest of every file."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from releases.tables import OPTIONAL, TABLES, Table

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
