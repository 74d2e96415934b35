"""Files of releases in a folder and in S3-compatible storage: the same promises on both."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from core.projects.services import create_project
from releases import storage
from releases.errors import ReleaseError
from releases.models import Release

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="session")
def moto() -> Iterator[str]:
    """A server that speaks S3, with one bucket."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1", **keys).create_bucket(
        Bucket="shelf"
    )
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(params=["folder", "bucket"])
def place(request: Any, settings: Any, tmp_path: Path) -> str:
    """Each kind of storage."""
    if request.param == "folder":
        settings.RELEASES_STORAGE = str(tmp_path / "shelf")
    else:
        settings.RELEASES_S3_ENDPOINT = request.getfixturevalue("moto")
        settings.RELEASES_S3_REGION = "us-east-1"
        settings.RELEASES_S3_ACCESS_KEY = settings.RELEASES_S3_SECRET_KEY = "testing"
        settings.RELEASES_STORAGE = f"s3://shelf/{tmp_path.name}"
    return str(request.param)


@pytest.fixture
def release() -> Release:
    return Release.objects.create(
        project=create_project(slug="capitals", title="Capitals"),
        version="1.0.0",
        created_at=timezone.now(),
    )


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A folder as a build leaves it."""
    folder = tmp_path / "built"
    (folder / "jsonl").mkdir(parents=True)
    (folder / "README.md").write_text("# Capitals\n", encoding="utf-8")
    (folder / "jsonl" / "answers-train.jsonl").write_bytes(b"0123456789" * 100_000)
    return folder


def test_what_is_kept_is_read_back_from_any_place(place, release, built):
    assert storage.folder_of(release) is None
    storage.keep_files(release, built)
    with storage.open_at(release, "jsonl/answers-train.jsonl") as file:
        assert file.read(4) == b"0123"
        assert file.seek(-3, 2) == 999_997
        assert file.read() == b"789"
        assert file.seek(500_005) == 500_005
        assert (file.read(5), file.tell()) == (b"56789", 500_010)
    assert built.is_dir()
    folder = storage.folder_of(release)
    if place == "bucket":
        assert folder is None
    else:
        assert folder is not None
        assert sorted(each.name for each in folder.iterdir()) == ["README.md", "jsonl"]
    for path in ("../1.0.0/README.md", "/etc/passwd", "", "jsonl", "README.md/x", "a\x00b"):
        with pytest.raises(FileNotFoundError):
            storage.open_at(release, path)
    storage.forget_files(release)  # of a build that failed
    with pytest.raises(FileNotFoundError):
        storage.open_at(release, "README.md")


def test_a_build_that_is_repeated_takes_the_place_of_what_the_first_one_left(place, release, built):
    storage.keep_files(release, built)
    (built / "README.md").write_text("# Again\n", encoding="utf-8")
    (built / "jsonl" / "answers-train.jsonl").unlink()
    storage.keep_files(release, built, move=True)
    with storage.open_at(release, "README.md") as file:
        assert file.read() == b"# Again\n"
    with pytest.raises(FileNotFoundError):
        storage.open_at(release, "jsonl/answers-train.jsonl")


def test_files_of_a_complete_release_never_change(place, release, built):
    storage.keep_files(release, built)
    release.state, release.digest, release.built_at = Release.State.READY, "a" * 64, timezone.now()
    with pytest.raises(ReleaseError, match=r"Release 1\.0\.0 is complete; its files never change"):
        storage.keep_files(release, built)
    storage.forget_files(release)
    with storage.open_at(release, "README.md") as file:
        assert file.read() == b"# Capitals\n"


def test_a_room_to_build_in_is_gone_afterwards(tmp_path, settings):
    settings.DATA_DIR = tmp_path
    with storage.workroom() as folder:
        (folder / "x").write_text("x", encoding="utf-8")
    assert list((tmp_path / "building").iterdir()) == []


def test_a_setting_that_names_no_storage_is_refused_in_words():
    with pytest.raises(ImproperlyConfigured, match="names no bucket"):
        storage.shelf_at("s3:///prefix")
    with pytest.raises(ImproperlyConfigured, match="neither a folder nor s3"):
        storage.shelf_at("gs://bucket")
