"""What the head of every answer says, and what is refused at the door."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from core.accounts import middleware
from core.projects.services import create_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return User.objects.create_user("mira", password="seven green kettles", is_staff=True)


@pytest.fixture
def browser(person) -> Client:
    client = Client()
    client.force_login(person)
    create_project(slug="reading", title="Reading", owner=person)
    return client


def test_heads_say_who_may_keep_and_embed_pages_and_strangers_not_the_version(browser, client):
    for path in (
        "/", "/desk/", "/desk/projects/", "/desk/projects/?format=csv", "/nothing",
        "/desk/projects/reading/members/",
    ):  # fmt: skip
        assert browser.get(path)["Cache-Control"] == "no-store", path
    page = client.get("/")
    assert "Cache-Control" not in page
    assert page["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "camera=()" in page["Permissions-Policy"]
    assert "version" not in client.get("/health/").json()
    assert browser.get("/health/").json()["version"]
    for port, status in ((99999999, 400), (65536, 400), (65535, 200)):
        assert client.get("/", HTTP_HOST=f"testserver:{port}").status_code == status


def test_the_contact_for_weaknesses_is_the_operators(client, settings):
    assert client.get("/.well-known/security.txt").status_code == 404
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    lines = client.get("/.well-known/security.txt").content.decode().splitlines()
    assert lines[0] == "Contact: mailto:security@example.org"
    assert lines[1].startswith("Expires: 20")


def test_a_long_body_of_a_visitor_is_refused_unread(client, browser, settings):
    settings.ANONYMOUS_BODY_MOST = 100
    body = {"data": b"x" * 200, "content_type": "application/octet-stream"}
    assert client.post("/accounts/login/", **body).status_code == 413
    assert client.post("/mturk/externalSubmit", **body).status_code == 413
    assert browser.post("/desk/projects/reading/edit/", {"title": "x" * 200}).status_code == 422
    assert client.post("/accounts/login/", {"username": "x"}).status_code == 200


@pytest.mark.parametrize(
    ("who", "path", "taken"),
    [
        ("visitor", "/accounts/login/", []),
        ("visitor", "/mturk/externalSubmit", []),
        ("visitor", "/desk/projects/reading/imports/new/", []),
        ("person", "/profile", []),
        ("person", "/desk/projects/reading/imports/new/", ["file"]),
    ],
)
def test_files_of_people_who_are_not_asked_for_them_touch_no_disk(
    client, browser, monkeypatch, who, path, taken
):
    seen: list[str] = []
    taking = middleware.QuotaHandler.receive_data_chunk

    def receive(self, raw_data, start):
        seen.append(self.field_name)
        return taking(self, raw_data, start)

    monkeypatch.setattr(middleware.QuotaHandler, "receive_data_chunk", receive)
    sender = browser if who == "person" else client
    sender.post(path, {"file": SimpleUploadedFile("big.csv", b"x" * 1000), "text": "words"})
    assert seen == taken


def settings_under(**environment: str) -> list[str]:
    """What a real installation decides from its environment."""
    names = (
        "SESSION_COOKIE_NAME CSRF_COOKIE_NAME DEVICE_COOKIE_NAME SESSION_COOKIE_SECURE SECURE_HSTS_SECONDS "
        "SECURE_SSL_REDIRECT SESSION_COOKIE_AGE SESSION_LONGEST_S"
    )
    code = f"import distillery.settings as s; print(*(getattr(s, n) for n in {names.split()!r}))"
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return found.stdout.split()


def test_under_an_https_address_cookies_are_bound_to_the_host_and_http_is_left():
    under_https = settings_under(PUBLIC_URL="https://crowd.example.org", BEHIND_TLS_PROXY="1")
    assert under_https[:3] == ["__Host-session", "__Host-csrf", "__Host-device"]
    assert under_https[3:] == ["True", "31536000", "True", "43200", "1209600"]
    plain = settings_under(PUBLIC_URL="", BEHIND_TLS_PROXY="0")
    assert plain == ["sessionid", "csrftoken", "device", "False", "0", "False", "43200", "1209600"]


def test_behind_a_proxy_that_encrypts_http_is_led_to_https(client, settings):
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31_536_000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    fresh = Client()
    assert fresh.get("/tasks").headers["Location"] == "https://testserver/tasks"
    assert fresh.get("/health/").status_code == 200
    page = fresh.get("/", HTTP_X_FORWARDED_PROTO="https")
    assert (page.status_code, page["Strict-Transport-Security"]) == (200, "max-age=31536000")


def test_a_database_is_made_for_its_user_alone(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    old = data / "old.sqlite3"
    old.touch(mode=0o644)
    code = "import django; django.setup(); from django.db import connection; connection.ensure_connection()"
    environment = {
        name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")
    }
    environment |= {"DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "distillery.settings"}
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, check=True, umask=0o022)
    made = data / "distillery.sqlite3"
    assert (made.stat().st_mode & 0o777, old.stat().st_mode & 0o777) == (0o600, 0o600)
