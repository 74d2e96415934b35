"""Checking a folder of a release: whatever was changed in it is found, and nothing outside of it is read."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from releases.manifest import MANIFEST, SUMS, ManifestFile, manifest_of, verify, write_manifest
from tests.scale import limit_cases

FILES = {
    "README.md": "# Capitals\n",
    "jsonl/answers-train.jsonl": '{"answer_id":"a1"}\n{"answer_id":"a2"}\n',
    "csv/answers-train.csv": '"answer_id"\n"a1"\n"a2"\n',
    "reports/costs.json": "{}\n",
}


def write(folder: Path, files: dict[str, str] = FILES) -> str:
    """A folder as a build leaves it; the digest of its manifest."""
    listed = []
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        listed.append(ManifestFile(path, path.split("/")[0], len(text), None, digest))
    about = {"name": "capitals", "version": "1.0.0", "content": "c" * 64}
    return write_manifest(folder, manifest_of(about, listed), listed)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "release")
    return tmp_path / "release"


def problem(folder: Path, **given) -> str:
    """The only problem of a folder."""
    found = verify(folder, **given)
    assert len(found.problems) == 1, found.problems
    return found.problems[0]


def test_a_folder_as_it_was_built_has_no_problems(folder):
    found = verify(folder)
    assert (found.fine, found.name, found.version, found.files) == (True, "capitals", "1.0.0", 6)
    assert not found.known


def test_the_published_digest_is_compared_with_the_manifest(folder):
    digest = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    assert verify(folder, digest.upper()).known
    assert problem(folder, digest="0" * 64).startswith("manifest.json is not the one that was published")


def test_a_changed_byte_is_found_and_the_file_is_named(folder):
    path = folder / "jsonl/answers-train.jsonl"
    path.write_text(path.read_text().replace("a2", "a3"))
    assert problem(folder) == (
        "jsonl/answers-train.jsonl was changed: its bytes are not those that manifest.json names. "
        "Get it again from where it was published."
    )


def test_a_file_that_is_missing_cut_off_longer_or_no_file_is_found(folder):
    path = folder / "README.md"
    with path.open("a") as file:
        file.write("more\n")
    assert problem(folder).startswith("README.md is longer than it was: 16 bytes instead of 11.")
    path.write_text(FILES["README.md"][:-3])
    assert problem(folder).startswith("README.md is cut off: it has 8 of 11 bytes.")
    path.unlink()
    assert problem(folder).startswith("README.md is missing.")
    path.mkdir()
    assert verify(folder).problems[0].startswith("README.md is no file.")


def test_files_and_folders_that_are_not_of_the_release_are_found(folder):
    (folder / "jsonl/empty").mkdir()
    assert problem(folder) == "jsonl/empty/ is not of the release. Delete it, or move it elsewhere."
    (folder / "jsonl/empty").rmdir()
    for path in ("extra.txt", "jsonl/answers-test.jsonl", ".hidden", "new/deep/file"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x")
        assert problem(folder) == f"{path} is not of the release. Delete it, or move it elsewhere."
        (folder / path).unlink()


def test_a_manifest_that_is_missing_or_was_changed_is_found(folder):
    path = folder / MANIFEST
    path.write_text(path.read_text().replace("capitals", "Capitals"))
    assert problem(folder).startswith("SHA256SUMS and manifest.json disagree about manifest.json")
    (folder / MANIFEST).unlink()
    assert problem(folder).startswith("manifest.json is missing. This is no folder of a release")


def test_a_manifest_that_was_laid_out_anew_is_found_though_the_sums_were_changed_with_it(folder):
    raw = json.dumps(json.loads((folder / MANIFEST).read_text())).encode()
    (folder / MANIFEST).write_bytes(raw)
    sums = (folder / SUMS).read_text().splitlines()
    lines = [line for line in sums if MANIFEST not in line]
    lines.append(f"{hashlib.sha256(raw).hexdigest()}  {MANIFEST}")
    (folder / SUMS).write_text("".join(f"{line}\n" for line in sorted(lines, key=lambda line: line[66:])))
    assert problem(folder).startswith("manifest.json was written anew")


def test_changed_sums_are_found(folder):
    path = folder / SUMS
    sums = path.read_text()
    first = sums.splitlines()[0]
    for changed in (
        f"{sums}\n",
        sums.replace("README.md", "readme.md"),
        f"{sums}{first}\n",
        f"{first}\n",
        f"{sums}{'0' * 64}  other.txt\n",
        "\n".join(reversed(sums.splitlines())) + "\n",
        "",
        "not sums\n",
    ):
        path.write_text(changed)
        assert SUMS in problem(folder), changed


def test_a_hostile_manifest_leads_nowhere(folder, tmp_path):
    (tmp_path / "secret").write_text("x")
    manifest = json.loads((folder / MANIFEST).read_text())
    for path in ("../secret", "/etc/passwd", "a/../../secret", "jsonl//x", "./x", "", "C:\\x", "a\\b", "x\n",
                 MANIFEST, 7, None):  # fmt: skip
        manifest["files"][0]["path"] = path
        (folder / MANIFEST).write_text(json.dumps(manifest))
        assert "lies in no release" in problem(folder), path


def test_a_manifest_that_is_none_is_said_to_be_so(folder):
    for raw, why in (
        (b"", "cannot be read"),
        (b"[]", "it has no list of files"),
        (b'{"files": 3}', "it has no list of files"),
        (b'{"files": [3]}', "lies in no release"),
        (b'{"files": [{"path": "a", "bytes": -1}]}', "does not say how large"),
        (b'{"files": [{"path": "a", "bytes": true}]}', "does not say how large"),
        (b'{"files": [{"path": "a", "bytes": 1, "sha256": "x"}]}', "has no digest"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
    ):
        (folder / MANIFEST).write_bytes(raw)
        assert why in problem(folder), raw[:60]


def test_a_file_that_is_a_link_is_refused_even_where_its_bytes_are_right(folder, tmp_path):
    shutil.move(folder / "README.md", tmp_path / "elsewhere.md")
    (folder / "README.md").symlink_to(tmp_path / "elsewhere.md")
    assert problem(folder).startswith("README.md is a link")


def test_a_folder_that_is_a_link_is_not_entered(folder, tmp_path):
    shutil.move(folder / "jsonl", tmp_path / "jsonl")
    (folder / "jsonl").symlink_to(tmp_path / "jsonl")
    assert verify(folder).problems == [
        "jsonl/answers-train.jsonl is a link or lies behind one; releases have none. Get it again from "
        "where it was published.",
        "jsonl is not of the release. Delete it, or move it elsewhere.",
    ]


@settings(
    max_examples=limit_cases(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)
@given(where=st.data())
def test_no_flipped_bit_stays_unseen(folder, where):
    path = folder / where.draw(st.sampled_from([*FILES, MANIFEST, SUMS]))
    before = path.read_bytes()
    place = where.draw(st.integers(0, len(before) - 1))
    bit = where.draw(st.integers(0, 7))
    changed = bytearray(before)
    changed[place] ^= 1 << bit
    path.write_bytes(bytes(changed))
    try:
        assert not verify(folder).fine
    finally:
        path.write_bytes(before)
    assert verify(folder).fine
