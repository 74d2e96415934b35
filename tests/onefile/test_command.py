"""Options of `judge` and `collect`, and whose account owns what they make."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from distillery.studies import command
from tests.server import free_port


def test_an_account_of_somebody_is_never_taken(db):
    owner = command._owner(None)
    assert (owner.username, owner.is_superuser, owner.has_usable_password()) == ("researcher", True, False)
    assert command._owner(None) == owner
    for changes in (
        {"is_superuser": False},
        {"password": User(username="x").password or "pbkdf2_sha256$1$a$b"},
    ):
        User.objects.filter(pk=owner.pk).update(is_superuser=True, password=owner.password)
        User.objects.filter(pk=owner.pk).update(**changes)
        with pytest.raises(CommandError, match="--as USER"):
            command._owner(None)
    ada = User.objects.create_user("ada")
    assert command._owner("ada") == ada
    with pytest.raises(CommandError, match="no user named 'ben'"):
        command._owner("ben")


def test_times_at_which_a_study_closes(subtests):
    now = timezone.now()
    for text, least, most in (
        ("48h", 2.0, 2.0),
        ("14 d", 14.0, 14.0),
        (f"{now + timedelta(days=3):%Y-%m-%d}", 2.9, 4.1),
    ):
        with subtests.test(text):
            days = (command._time_in(text) - now).total_seconds() / 86_400
            assert least - 0.01 <= days <= most + 0.01
    assert command._time_in("") is None
    for text in ("tomorrow", "2026-02-30", "2001-01-01", "0d", "-1d", "14", "9999999d"):
        with subtests.test(text), pytest.raises(CommandError, match="--close-at"):
            command._time_in(text)


def test_addresses_and_the_settings_that_they_need(subtests):
    assert command._site("", 8000) == "http://127.0.0.1:8000"
    assert command._server_settings("http://127.0.0.1:8000", 8000) == {"WEB_WORKERS": "1"}
    behind = command._server_settings("https://study.example.org", 8000)
    assert behind["ALLOWED_HOSTS"].endswith(",study.example.org")
    assert "WEB_BIND" not in behind
    wide = command._server_settings("http://[2001:db8::7]:8000", 8000)
    assert (wide["WEB_BIND"], wide["ALLOWED_HOSTS"].endswith(",[2001:db8::7]")) == ("::", True)
    assert command._server_settings("http://192.0.2.7:8000", 8000)["WEB_BIND"] == "0.0.0.0"
    assert command._site("HTTP://[::1]:8000/", 8000) == "http://[::1]:8000"
    for text in (
        "https://study.example.org#f",
        "https://a b",
        "https://u:p@study.example.org",
        "http://study.example.org:99999",
        "http://*",
        "study.example.org",
        "ftp://study.example.org",
        "https://study.example.org/path",
        "https://",
        "http://[::1",
    ):
        with subtests.test(text), pytest.raises(CommandError, match="--public-url"):
            command._site(text, 8000)


def test_one_server_serves_a_folder(tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    first, second = free_port(), free_port()
    refused = pytest.raises(CommandError, match=f"served already, on port {first}")
    with command._serving_alone(first), refused, command._serving_alone(second):
        pass
    with command._serving_alone(second):
        pass


def test_what_is_wrong_is_said_before_anything_is_made(db, tmp_path, monkeypatch, settings, subtests):
    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setattr(command, "run_server", lambda *_, **__: pytest.fail("a server was started"))
    answers, nothing = "examples/answers.csv", tmp_path / "empty.md"
    nothing.touch()
    for options, words in (
        ({"file": tmp_path / "none.csv"}, "cannot be read"),
        ({"file": "examples/ratings.csv"}, "no column holds the question"),
        ({"file": answers, "preset": "adem"}, "no column holds turns"),
        ({"file": answers, "people": 0 - 1}, "--judges is from 1"),
        ({"file": answers, "consent": nothing}, "is empty"),
        ({"file": answers, "column": ["question=Frage"]}, "There is no column 'Frage'"),
        ({"file": answers, "port": 70_000}, "Port 70000 cannot be used"),
        ({"file": answers, "port": 0}, "Port 0 cannot be used"),
        ({"file": answers, "people": 0}, "--judges is from 1"),
    ):
        with subtests.test(words), pytest.raises(CommandError, match=words):
            file = options.pop("file")
            call_command("judge", file, no_open=True, **options)
    with subtests.test("no passages"), pytest.raises(CommandError, match="no column holds passages"):
        call_command("collect", answers, no_open=True)
    assert not settings.DATA_DIR.exists()
