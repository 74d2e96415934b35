"""While the storage of all hosts does not answer, pages and programs are told so."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import errno
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.services import staged_files
from core import bucket, storage_outages
from core.storage import FolderShelf, FolderStore, shared_store
from core.storage_outages import StorageUnavailableError
from distillery.backup_folder import Models
from evaluations import model_shelf
from retrieval.errors import IndexUnavailableError
from retrieval.models import Index
from retrieval.services.indexing import build_index
from tests.annotation.test_search_api import as_, call, corpus, people, project, viewer  # noqa: F401

pytestmark = pytest.mark.django_db
SENTENCE = "The storage s3://away does not answer (EndpointConnectionError). Try again in a minute."


@pytest.fixture
def outage(settings, monkeypatch, on_host):
    """A second host, whose bucket is at an address where nothing answers."""
    on_host("two")
    monkeypatch.setattr(storage_outages, "_timeouts", replace(storage_outages.OF_PAGES, attempts=1))
    bucket.storage_for.cache_clear()
    settings.DATA_S3_ENDPOINT, settings.DATA_S3_REGION = "http://127.0.0.1:9", "us-east-1"
    settings.DATA_S3_ACCESS_KEY = settings.DATA_S3_SECRET_KEY = "testing"
    settings.DATA_STORAGE = "s3://away/data"
    yield
    bucket.storage_for.cache_clear()


@pytest.fixture
def published(corpus, outage):
    """A corpus whose index another host has published."""
    Index.objects.filter(corpus=corpus).update(published="a" * 64)
    return corpus


def test_a_program_that_searches_gets_503_and_a_sentence(viewer, published):
    answer = call(viewer, {"questions": ["Where is Basel?"]})
    assert (answer.status_code, answer.json()) == (503, {"errors": {"": SENTENCE}})


def test_the_search_page_keeps_the_question_and_says_why(viewer, published, project):
    address = f"/desk/projects/{project.slug}/search/"
    answer = viewer.get(address, {"q": "Where is Basel?"})
    assert answer.status_code == 200
    answer = viewer.post(address, {"do": "ask", "question": "Where is Basel?"})
    assert answer.status_code == 422
    assert SENTENCE in answer.content.decode()
    assert "Where is Basel?" in answer.content.decode()


def test_an_upload_that_cannot_be_kept_for_all_hosts_is_refused_with_503(as_, outage, project):
    manager = as_("manager")
    file = SimpleUploadedFile("queries.csv", b"id,query\n1,Why?\n")
    answer = manager.post(f"/desk/projects/{project.slug}/imports/new/", {"file": file})
    assert answer.status_code == 503
    assert "The storage of files does not answer" in answer.content.decode()


def test_a_build_that_cannot_be_published_fails_in_words(corpus, outage):
    with pytest.raises(IndexUnavailableError, match="does not answer"):
        build_index(corpus=corpus)
    index = Index.objects.get(corpus=corpus)
    assert (index.state, index.note, index.published) == (Index.State.FAILED, SENTENCE, "")


def test_models_of_this_host_are_listed_and_a_backup_that_would_lack_others_is_not_written(outage, caplog):
    assert model_shelf.shelf() == []
    assert caplog.messages == [f"Models of other hosts are not listed: {SENTENCE}"]
    with pytest.raises(StorageUnavailableError):
        list(Models().paths())


@pytest.fixture
def folder_away(settings, on_host, tmp_path):
    """A host whose shared folder is not mounted."""
    on_host("two")
    settings.DATA_STORAGE = str(tmp_path / "mount" / "data")
    return Path(settings.DATA_STORAGE)


def test_an_upload_while_the_shared_folder_is_away_is_refused_with_503(as_, folder_away, project):
    file = SimpleUploadedFile("queries.csv", b"id,query\n1,Why?\n")
    answer = as_("manager").post(f"/desk/projects/{project.slug}/imports/new/", {"file": file})
    assert answer.status_code == 503
    assert "The storage of files does not answer" in answer.content.decode()
    assert not folder_away.exists()  # nothing is written under the mount, where it would be hidden later


def test_an_upload_stays_on_its_host_while_the_folder_is_away(folder_away, project, tmp_path):
    shared_store().prepare()
    file = staged_files.stage(project=project, name="queries.csv", pieces=[b"id,query\n1,Why?\n"])
    folder_away.rename(tmp_path / "elsewhere")
    with pytest.raises(StorageUnavailableError, match="is not there"):
        staged_files.staged(project=project, sha256=file.sha256)
    (tmp_path / "elsewhere").rename(folder_away)
    assert staged_files.staged(project=project, sha256=file.sha256).path.exists()


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES, errno.ENOSPC])
def test_a_shared_folder_that_refuses_is_named_with_the_cause(tmp_path, monkeypatch, number):
    def refuse(*_args, **_kwargs):
        raise OSError(number, "the cause")

    store, shelf = FolderStore(tmp_path), FolderShelf(tmp_path / "releases")
    source = tmp_path / "source"
    source.write_bytes(b"1")
    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    for action in (
        lambda: store.size("a/b"),
        lambda: store.put("a/b", source),
        lambda: store.delete("a/b"),
        lambda: shelf.keep("p/1.0.0", tmp_path, move=False),
    ):
        with pytest.raises(StorageUnavailableError, match="the cause"):
            action()


def test_a_release_is_not_kept_where_its_disk_is_away(tmp_path):
    shelf = FolderShelf(tmp_path / "mount" / "data" / "releases")
    built = tmp_path / "built"
    built.mkdir()
    for action in (
        lambda: shelf.keep("p/1.0.0", built, move=False),
        lambda: shelf.open("p/1.0.0", "manifest.json"),
        lambda: list(shelf.paths()),
    ):
        with pytest.raises(StorageUnavailableError, match="is not there"):
            action()
    assert not (tmp_path / "mount").exists()


def test_a_bucket_that_hangs_holds_a_page_for_seconds(outage, settings, monkeypatch):
    """botocore alone waits a minute for each answer. Here a server takes the connection and is silent."""
    assert (
        storage_outages.OF_PAGES.attempts * (storage_outages.OF_PAGES.connect + storage_outages.OF_PAGES.read)
        <= 30
    )
    short = replace(storage_outages.OF_PAGES, read=0.05, attempts=1)
    monkeypatch.setattr(storage_outages, "_timeouts", short)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.DATA_S3_ENDPOINT = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StorageUnavailableError, match="ReadTimeoutError"):
            shared_store().size("models/a")


@pytest.mark.long
def test_the_web_server_chooses_short_timeouts():
    script = (
        "import distillery.wsgi; from core.storage_outages import *; assert bucket_timeouts() is OF_PAGES"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
