"""Settings from the environment: what is given counts, what cannot be used is said, secrets are made once."""

import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ImproperlyConfigured

from distillery import env


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    monkeypatch.delenv("THING", raising=False)
    monkeypatch.delenv("THING_FILE", raising=False)


def test_a_variable_that_is_not_set_has_its_default():
    assert env.text("THING", "so") == "so"
    assert env.flag("THING", True) is True
    assert env.integer("THING", 7) == 7
    assert env.words("THING", ["a"]) == ["a"]
    assert env.choice("THING", "open", {"open", "closed"}) == "open"


def test_a_value_may_lie_in_a_file_that_is_there_and_not_empty(monkeypatch, tmp_path):
    file = tmp_path / "thing"
    monkeypatch.setenv("THING_FILE", str(file))
    with pytest.raises(ImproperlyConfigured, match="cannot be read: No such file or directory"):
        env.text("THING")
    file.write_text("\n")
    with pytest.raises(ImproperlyConfigured, match="is empty"):
        env.secret("THING", tmp_path)
    file.write_text("from the file\n")
    assert env.text("THING") == "from the file"
    monkeypatch.setenv("THING", "one")
    with pytest.raises(ImproperlyConfigured, match="Both THING and THING_FILE are set; keep one of them"):
        env.text("THING")


def test_switches_lists_and_secrets_are_read_as_they_are_given(monkeypatch, tmp_path):
    for value, meaning in (("1", True), ("Yes", True), ("0", False), ("", False)):
        monkeypatch.setenv("THING", value)
        assert env.flag("THING") is meaning
    monkeypatch.setenv("THING", "a.example, b.example,")
    assert env.words("THING", []) == ["a.example", "b.example"]
    assert env.secret("THING", tmp_path / "secrets") == "a.example, b.example,"
    assert not (tmp_path / "secrets").exists()


@pytest.mark.parametrize(
    ("read", "value", "sentence"),
    [
        (lambda: env.flag("THING"), "maybe", "THING='maybe' is neither yes nor no. Use 1 or 0."),
        (lambda: env.integer("THING", 1), "ten", "THING='ten' is not a whole number."),
        (lambda: env.integer("THING", 1, least=1), "0", "THING=0 is below 1."),
        (lambda: env.choice("THING", "a", {"a", "b"}), "c", "THING='c' is not one of a, b."),
    ],
)
def test_a_value_that_cannot_be_used_is_named_in_a_sentence(monkeypatch, read, value, sentence):
    monkeypatch.setenv("THING", value)
    with pytest.raises(ImproperlyConfigured) as refusal:
        read()
    assert str(refusal.value) == sentence


def test_a_secret_is_generated_once_and_kept_for_our_eyes_only(tmp_path):
    folder = tmp_path / "data" / "secrets"
    first = env.secret("THING", folder)
    assert len(first) > 60
    assert env.secret("THING", folder) == first
    assert stat.S_IMODE((folder / "thing").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not stat.S_IMODE((tmp_path / "data").stat().st_mode) & stat.S_IRWXO


def test_sixteen_that_start_at_once_get_the_same_secret(tmp_path):
    gate = threading.Barrier(16)

    def start():
        gate.wait()
        return env.secret("THING", tmp_path / "secrets")

    with ThreadPoolExecutor(16) as pool:
        seen = {future.result() for future in [pool.submit(start) for _ in range(16)]}
    assert len(seen) == 1
    assert [path.name for path in (tmp_path / "secrets").iterdir()] == ["thing"]


def test_a_folder_that_cannot_be_made_is_said_in_words(tmp_path):
    (tmp_path / "data").write_text("a file in the way")
    with pytest.raises(ImproperlyConfigured, match=r"THING cannot be kept in .*Set DATA_DIR to a folder"):
        env.secret("THING", tmp_path / "data" / "secrets")
