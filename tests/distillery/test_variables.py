"""Wrong values and names in the environment: one sentence, and never a password."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from core import money
from distillery import env
from tests.distillery.installation import ROOT

DATABASES = {"postgres", "sqlite"}


def test_an_address_or_none_is_taken_and_what_is_none_refused_without_showing_it(monkeypatch):
    for value in ("", "postgres://u:p@h/n", "sqlite:////data/x.sqlite3"):
        monkeypatch.setenv("THING_URL", value)
        assert env.address("THING_URL", DATABASES, "postgres://host/name") == value
    for value in ("mysqlite://x", "hello", "postgres://", "://x", "postgres:secret@host/x"):
        monkeypatch.setenv("THING_URL", value)
        with pytest.raises(ImproperlyConfigured) as refused:
            env.address("THING_URL", DATABASES, "postgres://host/name")
        assert str(refused.value) == "THING_URL is no address like postgres://host/name."


@pytest.mark.long
@pytest.mark.parametrize(
    ("variable", "sentence"),
    [
        ("DATABASE_URL=postgres://u:secret@h:port/x", "DATABASE_URL cannot be read: the port is a number"),
        ("MARKETPLACE_CURRENCY=XX", "MARKETPLACE_CURRENCY='XX' is no code of a currency"),
        ("REDIS_URL=hello", "REDIS_URL is no address like redis://host:6379/0."),
    ],
)
def test_a_command_ends_with_one_sentence(variable, sentence, tmp_path):
    name, _, value = variable.partition("=")
    told = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "check"],
        env=os.environ
        | {"DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "distillery.settings", name: value},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 1
    assert told.stderr.startswith(sentence)
    assert "secret" not in told.stderr
    assert told.stderr.count("\n") == 1


def test_a_name_that_nearly_is_a_setting_is_named_and_others_pass():
    nearly = {
        "ALOWED_HOSTS": "ALLOWED_HOSTS", "PUBLIC_ULR": "PUBLIC_URL", "SECRET_KEYS_FILE": "SECRET_KEY_FILE",
        "DATABASE_URI": "DATABASE_URL",
    }  # fmt: skip
    ordinary = {
        "PATH", "HOME", "LANG", "POST", "PORTS", "EDITOR", "PYTHONPATH", "PGHOST", "SECRET_KEY_FILE",
        "ALLOWED_HOSTS",
    }  # fmt: skip
    assert env.resembling_names(dict.fromkeys([*nearly, *ordinary], "x")) == nearly


def test_it_is_a_warning_of_every_command(monkeypatch):
    monkeypatch.setenv("ALOWED_HOSTS", "x")
    [warning] = [each for each in env.check_names(None) if "ALOWED_HOSTS" in each.msg]
    assert (warning.id, "Set ALLOWED_HOSTS instead" in warning.hint) == ("distillery.W003", True)


def test_currencies_are_codes_of_three_letters():
    assert {"USD", "EUR", "JPY"} <= money.CURRENCIES
    assert all(len(code) == 3 and code.isupper() for code in money.CURRENCIES)
