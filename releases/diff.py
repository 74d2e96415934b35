"""What differs between two releases: rows by id in every table, files, counts, how they were made.

Pure: two folders in, a description out. Both releases stay as they are.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.errors import ReleaseError
from releases.manifest import MANIFEST
from releases.options import ANSWERS, QUERIES, left_out_of, words_of
from releases.storage import Record, files_of, formats_of, records

if TYPE_CHECKING:
    from releases.selectors import Content

#: Columns that name a row of each table.
KEYS: Mapping[str, tuple[str, ...]] = {
    "references": ("query_id",),
    "answers": ("answer_id",),
    "candidates": ("candidate_id",),
    "scores": ("stage", "candidate_id"),
    "ratings": ("rating_id",),
    "retrieval": ("query_id", "passage_id"),
}
#: Rows named one by one in each list.
EXAMPLES = 20
#: Changed rows of a table of which the columns that changed are counted.
LOOKED_AT = 10_000
#: Facts of the manifest that are compared; the rest follows from them.
_FACTS = ("title", "licence", "language", "simulated", "code", "parameters", "stages", "notes")


@dataclass(frozen=True, slots=True)
class TableDifference:
    """Rows of one table that only one release has, or that both have with other values; the first of each.

    `columns` counts changed rows (the first 10,000) by the column that changed. Where rows could not be read,
    only `before` and `after` are known.
    """

    table: str
    before: int
    after: int
    added: int = 0
    removed: int = 0
    changed: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    first_added: tuple[str, ...] = ()
    first_removed: tuple[str, ...] = ()
    first_changed: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Nothing differs."""
        return not (self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class Difference:
    """All that differs between two releases, `a` the earlier one. Pairs are (in a, in b)."""

    a: str
    b: str
    same_bytes: bool
    same_content: bool
    tables: tuple[TableDifference, ...] = ()
    facts: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    steps: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    files_added: tuple[str, ...] = ()
    files_removed: tuple[str, ...] = ()
    files_changed: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Both are the same, byte by byte."""
        return self.same_bytes

    @property
    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def manifest_in(folder: Path) -> dict[str, Any]:
    """The manifest of a folder; ReleaseError where there is none that can be read."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except OSError as error:
        raise ReleaseError(f"{folder} is no folder of a release: it has no {MANIFEST}.") from error
    except ValueError as error:
        raise ReleaseError(f"{folder / MANIFEST} cannot be read: {error}.") from error
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), list):
        raise ReleaseError(f"{folder / MANIFEST} is no manifest of a release.")
    return manifest


def diff(a: Path, b: Path) -> Difference:
    """Compare two folders. Rows are compared in a format that both have; without one, only counts are."""
    one, other = manifest_in(a), manifest_in(b)
    files, others = _digests(one), _digests(other)
    both = [name for name in formats_of(one) if name in formats_of(other)]
    cautions = []
    if not both:
        cautions.append(
            "The two have no format in common from which rows can be read (jsonl, parquet, csv), so only "
            "counts and files are compared."
        )
    counts = _counts(one), _counts(other)
    names = [name for name in KEYS if name in counts[0] or name in counts[1]]
    return Difference(
        a=_name(one, a),
        b=_name(other, b),
        same_bytes=(a / MANIFEST).read_bytes() == (b / MANIFEST).read_bytes(),
        same_content=bool(one.get("content")) and one.get("content") == other.get("content"),
        tables=tuple(
            _table(name, (a, one), (b, other), both[0])
            if both
            else TableDifference(name, counts[0].get(name, 0), counts[1].get(name, 0))
            for name in names
        ),
        facts={name: (one.get(name), other.get(name)) for name in _FACTS if one.get(name) != other.get(name)},
        steps=_steps(one, other),
        files_added=tuple(sorted(others.keys() - files.keys())),
        files_removed=tuple(sorted(files.keys() - others.keys())),
        files_changed=tuple(
            sorted(path for path in files.keys() & others.keys() if files[path] != others[path])
        ),
        cautions=tuple(cautions),
    )


def _table(
    name: str, a: tuple[Path, dict[str, Any]], b: tuple[Path, dict[str, Any]], format: str
) -> TableDifference:
    before, after = files_of(a[1], format, name), files_of(b[1], format, name)
    counts = _counts(a[1]).get(name, 0), _counts(b[1]).get(name, 0)
    same = {file["path"]: file["sha256"] for file in before} == {
        file["path"]: file["sha256"] for file in after
    }
    if same:
        return TableDifference(name, *counts)
    digests = {_key(name, row): _digest(row) for row in records(a[0], format, before)}
    added: list[str] = []
    n_added = n_changed = 0
    columns: Counter[str] = Counter()
    waiting: dict[str, Record] = {}
    for row in records(b[0], format, after):
        key = _key(name, row)
        digest = digests.pop(key, None)
        if digest is None:
            n_added += 1
            if len(added) < EXAMPLES:
                added.append(key)
        elif digest != _digest(row):
            n_changed += 1
            if len(waiting) < LOOKED_AT:
                waiting[key] = row
    if waiting:
        for row in records(a[0], format, before):
            if (now := waiting.get(_key(name, row))) is not None:
                columns.update(column for column in {**row, **now} if row.get(column) != now.get(column))
    return TableDifference(
        name,
        *counts,
        added=n_added,
        removed=len(digests),
        changed=n_changed,
        columns=dict(columns.most_common()),
        first_added=tuple(added),
        first_removed=tuple(islice(digests, EXAMPLES)),
        first_changed=tuple(waiting)[:EXAMPLES],
    )


def _key(table: str, row: Record) -> str:
    return "/".join(str(row.get(column)) for column in KEYS[table])


def _digest(row: Record) -> bytes:
    plain = json.dumps(row, sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=12).digest()


def _digests(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {str(file.get("path")): str(file.get("sha256")) for file in manifest["files"]}


def _counts(manifest: Mapping[str, Any]) -> dict[str, int]:
    return {str(table["name"]): sum(table.get("rows", {}).values()) for table in manifest.get("tables", ())}


def _steps(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[int | None, int | None]]:
    before, after = (
        {f"{each['what']}: {each['step']}": each["after"] for each in manifest.get("steps", ())}
        for manifest in (one, other)
    )
    return {
        name: (before.get(name), after.get(name))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }


def _name(manifest: Mapping[str, Any], folder: Path) -> str:
    name, version = manifest.get("name"), manifest.get("version")
    return f"{name}@{version}" if name and version else str(folder)


# What goes into a release, and the difference between two, in lines for people.


def selection_lines(manifest: Mapping[str, Any]) -> Iterator[str]:
    """What a built release left out by group, and what was brought in; nothing where there is nothing."""
    for of in (QUERIES, ANSWERS):
        if left_out := left_out_of(manifest["steps"], of):
            yield f"{of} left out: {words_of(left_out)}"
    if brought := manifest["parameters"]["brought_in"]:
        yield f"brought in, not accepted: {words_of(brought)}"


def content_lines(content: "Content") -> Iterator[str]:
    """What a release would take now; each group with what became of it."""
    for of, inside, everything, groups in (
        (QUERIES, content.queries, content.all_queries, content.of_queries),
        (ANSWERS, content.answers, content.all_answers, content.of_answers),
    ):
        yield f"{of}: {inside:,} of {everything:,} go in"
        for each in groups:
            if each.count:
                name = each.group.name
                how = (
                    "brought in"
                    if each.brought_in
                    else f"--include {name}"
                    if each.group.optional
                    else "stays out"
                )
                yield f"  {each.count:>9,}  {each.group.label.lower()} ({how})"
        if of == ANSWERS and content.answers_of_queries:
            yield f"  {content.answers_of_queries:>9,}  of queries that are left out"
    yield f"answers of systems: {content.candidates:,} of {content.all_candidates:,} go in"
    yield f"ratings: {content.ratings:,} of {content.all_ratings:,} go in"
    yield from (f"  {rating_text} (stay out)" for rating_text in content.ratings_words)


def difference_lines(difference: Difference) -> Iterator[str]:
    """What differs, the most important first."""
    yield f"{difference.a} -> {difference.b}"
    if difference.same_bytes:
        yield "They are the same, byte by byte."
        return
    if difference.same_content:
        yield "The data are the same; what differs is how they are written or described."
    yield from difference.cautions
    for table in difference.tables:
        yield from _table_lines(table)
    for name, (before, after) in difference.steps.items():
        yield f"  {name}: {_count(before)} -> {_count(after)}"
    for name, pair in difference.facts.items():
        yield f"  {name}: {pair[0]!r} -> {pair[1]!r}"
    for label, files in (
        ("only in the first", difference.files_removed),
        ("only in the second", difference.files_added),
        ("with other bytes", difference.files_changed),
    ):
        if files:
            yield f"  files {label}: {', '.join(files)}"


def _table_lines(table: TableDifference) -> Iterator[str]:
    counts = f"{table.table}: {table.before:,} -> {table.after:,} rows"
    if table.same:
        yield counts if table.before != table.after else f"{counts}, none changed"
        return
    yield f"{counts}; {table.added:,} added, {table.removed:,} removed, {table.changed:,} changed"
    for change, names in (
        ("added", table.first_added),
        ("removed", table.first_removed),
        ("changed", table.first_changed),
    ):
        if names:
            count = getattr(table, change)
            more = f" and {count - len(names):,} more" if count > len(names) else ""
            yield f"  {change}: {', '.join(names)}{more}"
    if table.columns:
        yield "  columns: " + ", ".join(f"{name} ({count:,})" for name, count in table.columns.items())


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
