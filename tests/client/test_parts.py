"""A release in a folder and in a bucket, downloaded in parts by the client through the whole application."""

# ruff: noqa: F811  # fixtures come from the tests of storage by import

import hashlib

import httpx
import pytest
from distillery_client import Client, RetryPolicy
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.utils import timezone

from core.api.tokens import create_token
from core.projects.models import Event
from core.projects.services import create_project
from releases import storage
from releases.models import Release, ReleaseFile
from tests.releases.test_storage import built, moto, place  # noqa: F401

pytestmark = pytest.mark.django_db
PATH = "jsonl/answers-train.jsonl"
CONTENT = b"0123456789" * 100_000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def release(place, built):
    owner = User.objects.create_user("olga")
    project = create_project(slug="capitals", title="Capitals", owner=owner)
    row = Release.objects.create(project=project, version="1.0.0", created_at=timezone.now())
    (built / "manifest.json").write_text("{}")
    (built / "SHA256SUMS").write_text(f"{DIGEST}  {PATH}\n")
    storage.keep_files(row, built)
    for path in ("README.md", PATH):
        content = (built / path).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        ReleaseFile.objects.create(
            release=row, path=path, bytes=len(content), sha256=digest, format="jsonl" if path == PATH else ""
        )
    digest = hashlib.sha256(b"{}").hexdigest()
    now = timezone.now()
    Release.objects.filter(pk=row.pk).update(state="ready", digest=digest, built_at=now)
    return row


class Losing(httpx.BaseTransport):
    """The application, whose answers break off after `most` bytes of a file."""

    def __init__(self, most=None):
        self.inner, self.most, self.ranges = httpx.WSGITransport(app=WSGIHandler()), most, []

    def handle_request(self, request):
        response = self.inner.handle_request(request)
        if self.most is None or not request.url.path.endswith(PATH):
            return response
        self.ranges.append(request.headers.get("Range", ""))
        return httpx.Response(
            response.status_code, headers=response.headers, stream=Broken(response, self.most)
        )


class Broken(httpx.SyncByteStream):
    def __init__(self, response, most):
        self.response, self.left = response, most

    def __iter__(self):
        for piece in self.response.stream:
            yield piece[: self.left]
            self.left -= len(piece)
            if self.left <= 0:
                raise httpx.ReadError("the connection is lost")

    def close(self):
        self.response.close()


@pytest.fixture
def client_of(release):
    """Clients of the application on the connection of the test, which a request would close."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield _clients()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _clients():
    _, token = create_token(user=User.objects.get(username="olga"), scopes=["read"])

    def client_of(transport):
        retry = RetryPolicy(attempts=2, first_pause_s=0)
        return Client("http://testserver", token, retry=retry, transport=transport)

    return client_of


def test_a_download_that_breaks_off_is_resumed_and_is_one_event(client_of, release, tmp_path):
    there = Losing(most=400_000)
    folder = client_of(there).project("capitals").release("1.0.0").download(tmp_path / "data")
    assert (folder / PATH).read_bytes() == CONTENT
    assert there.ranges[0] == "" and len(there.ranges) == 3
    places = [int(each.removeprefix("bytes=").rstrip("-")) for each in there.ranges[1:]]
    assert places == sorted(places) and places[0] >= 262_144
    events = Event.objects.filter(action="release.downloaded", subject=f"1.0.0 {PATH}")
    assert events.count() == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("asked", "status", "content", "place_of"),
    [
        ({"Range": "bytes=10-19"}, 206, CONTENT[10:20], "bytes 10-19/1000000"),
        ({"Range": "bytes=-5"}, 206, CONTENT[-5:], "bytes 999995-999999/1000000"),
        ({"Range": "bytes=999990-2000000"}, 206, CONTENT[-10:], "bytes 999990-999999/1000000"),
        ({"Range": "bytes=5-9", "If-Range": f'"{DIGEST}"'}, 206, CONTENT[5:10], "bytes 5-9/1000000"),
        ({"Range": "bytes=5-9", "If-Range": '"another"'}, 200, CONTENT, None),
        ({"Range": "bytes=1000000-"}, 416, b"", "bytes */1000000"),
        ({"If-None-Match": f'"{DIGEST}"'}, 304, b"", None),
        ({}, 200, CONTENT, None),
    ],
)
def test_parts_heads_and_digests_are_those_of_the_file(client_of, asked, status, content, place_of):
    client = client_of(Losing())
    address = client.project("capitals").release("1.0.0")._address(PATH)
    for method in ("GET", "HEAD"):
        response = client._http.request(method, address, headers=asked)
        assert response.status_code == status
        assert response.headers["ETag"] == f'"{DIGEST}"'
        assert response.headers.get("Content-Range") == place_of
        assert response.content == (b"" if method == "HEAD" else content)
        if status in (200, 206):
            assert int(response.headers["Content-Length"]) == len(content)
            assert response.headers["Accept-Ranges"] == "bytes"


def test_a_part_of_a_file_without_a_known_size_is_read_from_the_storage(client_of):
    client = client_of(Losing())
    address = client.project("capitals").release("1.0.0")._address("SHA256SUMS")
    response = client._http.get(address, headers={"Range": "bytes=0-3"})
    assert (response.status_code, response.content) == (206, DIGEST[:4].encode())
