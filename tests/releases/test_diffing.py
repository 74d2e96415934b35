"""What differs between two releases, from their files alone."""

import json
from pathlib import Path

import pytest

from releases.diff import diff, difference_lines
from releases.errors import ReleaseError
from releases.manifest import ManifestFile, manifest_of, sha256_of, tables_of, write_manifest

ONE = [
    {"answer_id": "a1", "answer": "Paris", "split": "train"},
    {"answer_id": "a2", "answer": "Rome", "split": "train"},
    {"answer_id": "a3", "answer": "Bern", "split": "train"},
]
OTHER = [
    {"answer_id": "a1", "answer": "Paris", "split": "train"},
    {"answer_id": "a2", "answer": "Roma", "split": "test"},
    {"answer_id": "a4", "answer": "Chad", "split": "train"},
]


def release(folder: Path, rows: list[dict], version: str, format: str = "jsonl", **about) -> Path:
    """A folder with one table in one format."""
    (folder / format).mkdir(parents=True)
    listed = []
    for split in ("train", "test"):
        mine = [row for row in rows if row["split"] == split]
        if mine:
            path = f"{format}/answers-{split}.{format}"
            if format == "jsonl":
                (folder / path).write_text("".join(json.dumps(row) + "\n" for row in mine))
            elif format == "csv":
                lines = [list(mine[0]), *(row.values() for row in mine)]
                (folder / path).write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
            else:
                import pyarrow as pa
                import pyarrow.parquet as pq

                pq.write_table(pa.Table.from_pylist(mine), folder / path)
            size = (folder / path).stat().st_size
            listed.append(ManifestFile(path, format, size, len(mine), sha256_of(folder / path)))
    given = {
        "name": "capitals",
        "version": version,
        "content": version,
        "licence": "CC-BY-4.0",
        "steps": [{"what": "answers", "step": "counted", "after": len(rows)}],
        "tables": tables_of({"answers": {"train": len(rows)}}),
        **about,
    }
    write_manifest(folder, manifest_of(given, listed), listed)
    return folder


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet"])
def test_rows_are_compared_by_their_id(tmp_path, format):
    a = release(tmp_path / "a", ONE, "1.0.0", format)
    b = release(tmp_path / "b", OTHER, "1.1.0", format)
    answers = next(table for table in diff(a, b).tables if table.table == "answers")
    assert (answers.added, answers.removed, answers.changed) == (1, 1, 1)
    assert (answers.first_added, answers.first_removed, answers.first_changed) == (("a4",), ("a3",), ("a2",))
    assert answers.columns == {"answer": 1, "split": 1}


def test_files_counts_and_facts_are_compared_or_all_is_the_same(tmp_path):
    a = release(tmp_path / "a", ONE, "1.0.0")
    b = release(tmp_path / "b", OTHER[:2], "1.1.0", licence="CC0-1.0")
    found = diff(a, b)
    assert found.steps == {"answers: counted": (3, 2)}
    assert found.facts == {"licence": ("CC-BY-4.0", "CC0-1.0")}
    assert found.files_added == ("jsonl/answers-test.jsonl",)
    assert found.files_changed == ("jsonl/answers-train.jsonl",)
    assert not found.same
    found = diff(a, a)
    assert found.same
    assert list(difference_lines(found)) == [
        "capitals@1.0.0 -> capitals@1.0.0",
        "They are the same, byte by byte.",
    ]
    with pytest.raises(ReleaseError, match=r"is no folder of a release: it has no manifest\.json"):
        diff(tmp_path, tmp_path)


def test_without_a_format_in_common_only_counts_are_compared(tmp_path):
    a = release(tmp_path / "a", ONE, "1.0.0", "jsonl")
    b = release(tmp_path / "b", OTHER[:2], "1.1.0", "csv")
    found = diff(a, b)
    assert found.cautions[0].startswith("The two have no format in common")
    answers = next(table for table in found.tables if table.table == "answers")
    assert (answers.before, answers.after, answers.changed) == (3, 2, 0)


def test_the_difference_in_words(tmp_path):
    a = release(tmp_path / "a", ONE, "1.0.0")
    b = release(tmp_path / "b", OTHER, "1.1.0")
    assert list(difference_lines(diff(a, b))) == [
        "capitals@1.0.0 -> capitals@1.1.0",
        "references: 0 -> 0 rows, none changed",
        "answers: 3 -> 3 rows; 1 added, 1 removed, 1 changed",
        "  added: a4",
        "  removed: a3",
        "  changed: a2",
        "  columns: answer (1), split (1)",
        "candidates: 0 -> 0 rows, none changed",
        "scores: 0 -> 0 rows, none changed",
        "ratings: 0 -> 0 rows, none changed",
        "retrieval: 0 -> 0 rows, none changed",
        "  files only in the second: jsonl/answers-test.jsonl",
        "  files with other bytes: jsonl/answers-train.jsonl",
    ]
