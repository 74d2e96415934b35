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


def test_a_value_may_lie_in_a_file(monkeypatch, tmp_path):
    (tmp_path / "thing").write_text("from the file\n")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    assert env.text("THING") == "from the file"


def test_a_value_given_twice_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("THING", "one")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    with pytest.raises(ImproperlyConfigured, match="Both THING and THING_FILE are set; keep one of them"):
        env.text("THING")


def test_a_file_that_is_missing_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    with pytest.raises(ImproperlyConfigured, match="cannot be read: No such file or directory"):
        env.text("THING")


def test_a_file_that_is_empty_is_refused(monkeypatch, tmp_path):
    (tmp_path / "thing").write_text("\n")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    with pytest.raises(ImproperlyConfigured, match="is empty"):
        env.secret("THING", tmp_path)


@pytest.mark.parametrize(("value", "meaning"), [("1", True), ("Yes", True), ("0", False), ("", False)])
def test_a_switch_is_yes_or_no(monkeypatch, value, meaning):
    monkeypatch.setenv("THING", value)
    assert env.flag("THING") is meaning


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


def test_a_list_is_separated_by_commas(monkeypatch):
    monkeypatch.setenv("THING", "a.example, b.example,")
    assert env.words("THING", []) == ["a.example", "b.example"]


def test_a_secret_is_generated_once_and_kept_for_our_eyes_only(tmp_path):
    folder = tmp_path / "data" / "secrets"
    first = env.secret("THING", folder)
    assert len(first) > 60
    assert env.secret("THING", folder) == first
    assert stat.S_IMODE((folder / "thing").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not stat.S_IMODE((tmp_path / "data").stat().st_mode) & stat.S_IRWXO


def test_a_secret_that_is_given_is_not_written_down(monkeypatch, tmp_path):
    monkeypatch.setenv("THING", "given")
    assert env.secret("THING", tmp_path / "secrets") == "given"
    assert not (tmp_path / "secrets").exists()


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
