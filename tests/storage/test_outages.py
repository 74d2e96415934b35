"""While the bucket of all hosts does not answer, pages and programs are told so."""

# ruff: noqa: F811  # fixtures come from the desk's tests by import

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluations.learned import shelf
from retrieval.errors import IndexUnavailableError
from retrieval.models import Index
from retrieval.services.indexing import build_index
from storage import bucket
from storage.errors import StorageUnavailableError
from tests.annotation.test_search_api import as_, call, corpus, people, project, viewer  # noqa: F401

pytestmark = pytest.mark.django_db
SENTENCE = "The storage s3://away does not answer (EndpointConnectionError). Try again in a minute."


@pytest.fixture
def outage(settings, monkeypatch, on_host):
    """A second host, whose bucket is at an address where nothing answers."""
    on_host("two")
    monkeypatch.setattr(bucket, "ATTEMPTS", 1)
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


def test_a_backup_that_would_lack_models_is_not_written(outage):
    with pytest.raises(StorageUnavailableError):
        shelf.fetch_all()


def test_models_of_this_host_are_listed(outage, caplog):
    assert shelf.shelf() == []
    assert caplog.messages == [f"Models of other hosts are not listed: {SENTENCE}"]
