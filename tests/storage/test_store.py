"""Files and states of folders in the storage of all hosts: the same promises in a folder and in a bucket."""

import hashlib
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from core.storage import DamagedBundleError, fetch, fetch_bundle, prune_bundles, publish_bundle, shared_store


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "state"
    (made / "g1").mkdir(parents=True)
    (made / "current").write_text("g1")
    (made / "g1" / "words").write_bytes(b"0123456789" * 1000)
    (made / "g1" / ".tantivy-writer.lock").write_text("")
    (made / "left-over").write_text("not of the state")
    return made


def tree(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".fetched.json")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_a_file_comes_back_as_it_was_put_with_its_digest(shared, tmp_path):
    store, source = shared_store(), tmp_path / "upload"
    source.write_bytes(b"query\n" * 100_000)
    assert store.size("imports/7/upload") is None
    store.put("imports/7/upload", source)
    store.put("imports/8/upload", source)
    assert store.size("imports/7/upload") == 600_000
    assert [name for name, _ in store.names("imports/7")] == ["imports/7/upload"]
    assert (
        fetch(store, "imports/7/upload", tmp_path / "deep" / "copy")
        == hashlib.sha256(source.read_bytes()).hexdigest()
    )
    store.delete("imports/7/upload")
    store.delete("imports/7/upload")
    assert list(store.names("imports/7")) == []
    with pytest.raises(FileNotFoundError):
        fetch(store, "imports/7/upload", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_no_name_leads_out_of_the_storage(shared, subtests):
    for name in ["../secrets/key", "/etc/passwd", ""]:
        with subtests.test(name), pytest.raises(ValueError, match="no file"):
            shared_store().size(name)


def test_a_state_is_fetched_byte_for_byte_without_what_is_not_of_it(shared, folder, tmp_path):
    digest = publish_bundle(shared_store(), "indexes/7-ab", folder, ["current", "g1"])
    assert publish_bundle(shared_store(), "indexes/7-ab", folder, ["g1", "current"]) == digest
    fetch_bundle(shared_store(), "indexes/7-ab", digest, tmp_path / "copy")
    assert tree(tmp_path / "copy") == {"current": b"g1", "g1/words": b"0123456789" * 1000}


def test_files_that_two_states_share_are_carried_once_and_old_states_go(shared, folder, tmp_path):
    store = shared_store()
    first = publish_bundle(store, "indexes/7-ab", folder, ["current", "g1"])
    fetch_bundle(store, "indexes/7-ab", first, tmp_path / "first")
    (folder / "g1" / "more").write_bytes(b"new")
    second = publish_bundle(store, "indexes/7-ab", folder, ["current", "g1"])
    assert len([name for name, _ in store.names("indexes/7-ab")]) == 2 + 3
    prune_bundles(store, "indexes/7-ab", {second})
    with pytest.raises(FileNotFoundError):
        fetch_bundle(store, "indexes/7-ab", first, tmp_path / "gone")
    fetch_bundle(store, "indexes/7-ab", second, tmp_path / "second", like=[tmp_path / "first"])
    assert (tmp_path / "second" / "g1" / "words").samefile(tmp_path / "first" / "g1" / "words")
    assert tree(tmp_path / "second")["g1/more"] == b"new"
    prune_bundles(store, "indexes/7-ab", ())
    assert list(store.names("indexes/7-ab")) == []
    assert list(tmp_path.glob(".gone*")) == []


def test_a_state_that_was_changed_in_the_storage_is_not_taken(shared, folder, tmp_path):
    store = shared_store()
    digest = publish_bundle(store, "indexes/7-ab", folder, ["current"])
    (folder / "current").write_text("g2")
    [file] = [name for name, _ in store.names("indexes/7-ab/files")]
    store.put(file, folder / "current")
    with pytest.raises(DamagedBundleError, match="current in the shared storage is damaged"):
        fetch_bundle(store, "indexes/7-ab", digest, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_bucket_that_is_not_there_is_made_once(shared, settings, tmp_path):
    if settings.DATA_STORAGE.startswith("s3://"):
        settings.DATA_STORAGE = f"s3://{tmp_path.name.replace('_', '-')[:60]}/data"
    for _ in "ab":
        call_command("storage", "prepare")
    shared_store().put("imports/1/a", Path(__file__))
    assert shared_store().size("imports/1/a") == Path(__file__).stat().st_size


def test_without_a_setting_nothing_is_shared_and_one_that_is_none_is_named(settings, folder):
    settings.DATA_STORAGE = ""
    store = shared_store()
    store.put("imports/7/upload", folder / "current")
    assert not store.is_shared
    assert (store.size("imports/7/upload"), list(store.names("imports"))) == (None, [])
    settings.DATA_STORAGE = "ftp://host/folder"
    with pytest.raises(ImproperlyConfigured, match=r"DATA_STORAGE='ftp.* neither a folder nor s3://bucket"):
        shared_store()
