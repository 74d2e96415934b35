"""Downloads: in whole, in part, resumed, as one archive, by a signed address, never when withdrawn."""

import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.accounts.keys import keys_of
from core.api.models import Scope
from core.api.tokens import create_token
from core.projects.models import Event
from core.projects.services import remove_member
from releases import download_files
from releases.models import Release
from releases.services import show_release, withdraw_release
from tests.cases import apart
from tests.releases.shelf_world import FILES, as_, make_project, make_release

pytestmark = pytest.mark.django_db
BASE = "/desk/projects/capitals/releases/1.0.0/"
PATH = "jsonl/answers-train.jsonl"
FILE = f"{BASE}files/{PATH}"
CONTENT = FILES[PATH]


@pytest.fixture
def release(settings: Any, tmp_path: Path) -> Release:
    settings.RELEASES_STORAGE = str(tmp_path)
    return make_release(make_project())


def body(response: Any) -> bytes:
    """All of it."""
    return b"".join(response.streaming_content) if response.streaming else response.content


def downloads() -> list[tuple[str, str]]:
    """Subject and person of the events."""
    rows = Event.objects.filter(action="release.downloaded").order_by("pk")
    return [(row.subject, row.actor.username if row.actor else "") for row in rows.select_related("actor")]


def test_a_file_comes_whole_in_small_pieces_with_what_is_needed_to_check_it(release):
    response = as_("viewer").head(FILE)
    assert (response.status_code, response.content) == (200, b"")
    assert response["Content-Length"] == str(len(CONTENT))
    assert downloads() == []
    response = as_("viewer").get(FILE)
    pieces = list(response.streaming_content)
    assert (response.status_code, b"".join(pieces), max(map(len, pieces))) == (200, CONTENT, 1 << 18)
    sum_of_it = release.files.get(path=PATH).sha256
    assert {name: response[name] for name in ("Content-Type", "Content-Length", "ETag", "Accept-Ranges")} == {
        "Content-Type": "application/jsonl",
        "Content-Length": str(len(CONTENT)),
        "ETag": f'"{sum_of_it}"',
        "Accept-Ranges": "bytes",
    }
    assert response["Content-Disposition"] == 'attachment; filename="answers-train.jsonl"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert downloads() == [(f"1.0.0 {PATH}", "viewer")]


def test_the_api_answers_head_and_parts_as_the_page_does(release):
    _, token = create_token(user=User.objects.get(username="viewer"), scopes=[Scope.READ], project=None)
    address = f"/api/v1/projects/capitals/releases/1.0.0/files/{PATH}"

    def ask(method, **headers):
        return Client().generic(method, address, headers={"authorization": f"Bearer {token}", **headers})

    head = ask("HEAD")
    assert (head.status_code, head.streaming, head.content) == (200, False, b"")
    assert (head["Content-Length"], head["Accept-Ranges"]) == (str(len(CONTENT)), "bytes")
    assert head["ETag"] == as_("viewer").head(FILE)["ETag"]
    assert downloads() == [], "programs ask for the head of a file before they read it"
    part = ask("GET", range="bytes=5-9")
    assert (part.status_code, body(part)) == (206, CONTENT[5:10])
    assert part["Content-Range"] == f"bytes 5-9/{len(CONTENT)}"
    assert ask("GET", range=f"bytes={len(CONTENT)}-").status_code == 416
    assert ask("HEAD", **{"if-none-match": head["ETag"]}).status_code == 304


def test_a_download_that_broke_off_goes_on_and_is_one_download(release):
    mira = as_("viewer")
    first = mira.get(FILE, headers={"range": "bytes=0-99999"})
    assert first.status_code == 206
    assert first["Content-Range"] == f"bytes 0-99999/{len(CONTENT)}"
    rest = mira.get(FILE, headers={"range": "bytes=100000-", "if-range": first["ETag"]})
    assert rest.status_code == 206
    assert body(first) + body(rest) == CONTENT
    assert downloads() == [(f"1.0.0 {PATH}", "viewer")]


def test_who_leaves_the_first_byte_out_stands_in_the_log_too(release):
    for _ in range(3):
        body(as_("viewer").get(FILE, headers={"range": "bytes=1-"}))
    assert downloads() == [(f"1.0.0 {PATH}", "viewer")]
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        body(as_("viewer").get(FILE, headers={"range": "bytes=1-"}))
    assert len(downloads()) == 2


def test_parts_are_sent_as_the_standard_says(release):
    response = as_("viewer").get(FILE, headers={"range": f"bytes={len(CONTENT)}-"})
    assert (response.status_code, response["Content-Range"]) == (416, f"bytes */{len(CONTENT)}")
    assert downloads() == []
    response = as_("viewer").get(FILE, headers={"range": "bytes=-5"})
    assert (response.status_code, body(response)) == (206, CONTENT[-5:])
    response = as_("viewer").get(FILE, headers={"range": "bytes=5-", "if-range": '"something else"'})
    assert (response.status_code, len(body(response))) == (200, len(CONTENT))
    etag = as_("viewer").head(FILE)["ETag"]
    response = as_("viewer").get(FILE, headers={"if-none-match": f'"x", {etag}'})
    assert (response.status_code, response.content) == (304, b"")


def test_only_files_of_the_release_and_what_names_them_are_there(release, tmp_path):
    viewer = as_("viewer")
    for name in ("manifest.json", "SHA256SUMS"):
        response = viewer.get(f"{BASE}files/{name}")
        assert response.status_code == 200
        assert len(body(response)) == int(response["Content-Length"])
    for path in ("../1.0.0/README.md", "%2e%2e/x", "nothing.txt", "jsonl/", "jsonl", "/etc/passwd"):
        assert viewer.get(f"{BASE}files/{path}").status_code == 404, path
    for method in ("post", "put", "delete"):
        assert getattr(as_("owner"), method)(FILE).status_code == 405
    (tmp_path / "capitals" / "1.0.0" / "README.md").unlink()
    assert viewer.get(f"{BASE}files/README.md").status_code == 404, "not where it was put"


def test_a_hostile_name_is_only_a_name(settings, tmp_path):
    settings.RELEASES_STORAGE = str(tmp_path)
    name = 'x"\u202e;evil.html'
    make_release(make_project(), files={name: b"<script>"})
    response = as_("viewer").get(f"{BASE}files/{name}")
    assert body(response) == b"<script>"
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"] == "attachment; filename*=utf-8''x%22%E2%80%AE%3Bevil.html"


def test_all_files_come_in_one_archive(release):
    response = as_("viewer").get(f"{BASE}all.zip")
    with zipfile.ZipFile(io.BytesIO(body(response))) as archive:
        assert archive.testzip() is None
        names = {f"capitals-1.0.0/{path}" for path in (*FILES, "manifest.json", "SHA256SUMS")}
        assert set(archive.namelist()) == names
        assert archive.read(f"capitals-1.0.0/{PATH}") == CONTENT
    assert response["Content-Disposition"] == 'attachment; filename="capitals-1.0.0.zip"'
    assert downloads() == [("1.0.0 (all files)", "viewer")]


def test_a_withdrawn_release_says_why_in_place_of_its_files(release):
    show_release(release=release, actor=None)
    address = f"/releases/link/{download_files.link_for(release, User.objects.get(username='viewer'))}/{PATH}"
    withdraw_release(
        release=release, reason="A writer asked for it.", actor=User.objects.get(username="owner")
    )
    for client, path in (
        (as_("owner"), FILE),
        (as_("owner"), f"{BASE}all.zip"),
        (as_("anonymous"), f"/releases/capitals/1.0.0/files/{PATH}"),
        (as_("anonymous"), "/releases/capitals/1.0.0/all.zip"),
        (as_("anonymous"), address),
    ):
        response = client.get(path)
        assert response.status_code == 410
        assert response.content.decode() == "Release 1.0.0 was withdrawn: A writer asked for it.\n"
    assert downloads() == []


def test_what_is_not_ready_has_no_files(settings, tmp_path, subtests):
    for state in ["building", "failed"]:
        with apart(subtests, state=state):
            settings.RELEASES_STORAGE = str(tmp_path)
            project = make_project()
            Release.objects.create(project=project, version="1.0.0", state=state, created_at=timezone.now())
            assert as_("owner").get(f"{BASE}files/README.md").status_code == 404
            assert as_("owner").get(f"{BASE}all.zip").status_code == 404


def test_strangers_find_nothing_and_anybody_what_is_public(release):
    assert as_("stranger").get(FILE).status_code == 404
    assert as_("anonymous").get(FILE).status_code == 302
    address = f"/releases/capitals/1.0.0/files/{PATH}"
    assert as_("anonymous").get(address).status_code == 404
    assert as_("owner").get(address).status_code == 404
    show_release(release=release, actor=None)
    response = as_("anonymous").get(address)
    assert body(response) == CONTENT
    assert "Set-Cookie" not in response
    assert downloads() == [(f"1.0.0 {PATH}", "")]


def test_a_signed_address_downloads_as_its_person_while_they_may_look(release):
    viewer = User.objects.get(username="viewer")
    address = f"/releases/link/{download_files.link_for(release, viewer)}/{PATH}"
    response = as_("anonymous").get(address, headers={"range": "bytes=0-3"})
    assert (response.status_code, body(response)) == (206, CONTENT[:4])
    assert downloads() == [(f"1.0.0 {PATH}", "viewer")]
    assert as_("anonymous").get(address.replace("/link/", "/link/x")).status_code == 404
    with time_machine.travel(timezone.now() + timedelta(days=8), tick=False):
        assert as_("anonymous").get(address).status_code == 404
    User.objects.filter(pk=viewer.pk).update(is_active=False)
    assert as_("anonymous").get(address).status_code == 404
    User.objects.filter(pk=viewer.pk).update(is_active=True)
    remove_member(project=release.project, user=viewer)
    assert as_("anonymous").get(address).status_code == 404


def test_a_signed_address_that_its_person_ended_downloads_nothing(release):
    viewer = User.objects.get(username="viewer")
    address = f"/releases/link/{download_files.link_for(release, viewer)}/{PATH}"
    assert body(as_("anonymous").get(address)) == CONTENT
    [key] = keys_of(viewer)
    assert key.name == f"Files of {release.project.title} 1.0.0"
    as_("viewer").post("/accounts/end-key/", {"key": key.pk})
    assert as_("anonymous").get(address).status_code == 404
