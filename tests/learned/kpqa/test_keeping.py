"""Kept weights are those that were computed, or none: nothing that happens to the file is an error."""

import multiprocessing
import sqlite3

import numpy as np
import pytest

from distillery_learned.metrics import word_weights
from distillery_learned.metrics.word_weights import Store, file_of, key, weigher
from metrics.model_folders import choice
from tests.learned import tiny

PAIRS = [("How much?", f"It costs {n} euros.") for n in range(5)]


def store(file, most=word_weights.ON_DISK):
    """A store as another process has it: nothing in memory."""
    return Store(file=file, most=most)


def values(*numbers):
    return np.array(numbers, np.float32)


def blobs(file):
    with sqlite3.connect(file) as database:
        found = dict(database.execute("SELECT key, weights FROM kept"))
    database.close()
    return found


def change(file, sql, *given):
    with sqlite3.connect(file) as database:
        database.execute(sql, given)
    database.close()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache" / "kpqa.sqlite"


def test_what_one_process_kept_another_finds(file):
    many = {key("q", str(n)): values(n / 2000, 1) for n in range(1200)}
    store(file).put({**many, key("q", ""): values()})

    found = store(file).get({**dict.fromkeys(many, 2), key("q", ""): 0, key("q", "other"): 1})
    assert found.keys() == {*many, key("q", "")}
    assert all((found[name] == many[name]).all() for name in many)


def test_question_and_answer_are_not_run_together():
    names = {
        key("a", "bc"),
        key("ab", "c"),
        key("", "abc"),
        key("abc", ""),
        key("1 a", ""),
        key("\ud800", "x"),
    }
    assert len(names) == 6


def test_without_a_folder_weights_are_kept_while_the_process_lives(tmp_path):
    here = Store()
    here.put({b"a": values(1)})
    assert here.get({b"a": 1})[b"a"] == [1]
    assert list(tmp_path.iterdir()) == []


def test_weights_that_do_not_fit_the_words_are_not_used(file):
    store(file).put({b"a": values(0.5, 0.25)})
    assert store(file).get({b"a": 3}) == {}
    assert list(store(file).get({b"a": 2})) == [b"a"]


def test_a_changed_entry_is_not_used_and_written_again(file, subtests):
    store(file).put({b"a": values(0.5, 0.25), b"b": values(1)})
    stored = blobs(file)
    for blob in (b"", b"abcd", "text", 7, b"\0" * 12, stored[b"b"]):  # the last are weights of another pair
        with subtests.test(blob=blob):
            change(file, "UPDATE kept SET weights = ? WHERE key = ?", blob, b"a")
            assert list(store(file).get({b"a": 2, b"b": 1})) == [b"b"]
            store(file).put({b"a": values(0.5, 0.25)})
            assert blobs(file) == stored


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_set_aside(file, content):
    file.parent.mkdir()
    for _ in range(2):
        file.write_bytes(content)
        assert store(file).get({b"a": 1}) == {}
        store(file).put({b"a": values(1)})
        assert store(file).get({b"a": 1})[b"a"] == [1]
    assert sorted(found.name for found in file.parent.iterdir()) == ["kpqa.sqlite", "kpqa.sqlite.broken"]


def test_a_damaged_file_is_set_aside(file):
    store(file).put({key("q", str(n)): values(*[n / 5000] * 40) for n in range(4000)})
    content = bytearray(file.read_bytes())
    for place in range(8192, len(content), 4096):
        content[place : place + 64] = b"\xee" * 64
    file.write_bytes(content)

    wanted = {key("q", str(n)): 40 for n in range(4000)}
    found = store(file).get(wanted)
    assert all(len(weights) == 40 for weights in found.values())
    store(file).put({b"a": values(1)})
    store(file).put({b"a": values(1)})
    assert list(store(file).get({b"a": 1})) == [b"a"]


def test_a_file_of_another_format_is_set_aside(file):
    file.parent.mkdir()
    change(file, "CREATE TABLE other (x)")
    assert store(file).get({b"a": 1}) == {}
    assert not file.exists()
    store(file).put({b"a": values(1)})
    change(file, "PRAGMA user_version = 99")
    assert store(file).get({b"a": 1}) == {}


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path):
    (tmp_path / "cache").write_text("a file")
    kept = store(tmp_path / "cache" / "kpqa.sqlite")
    kept.put({b"a": values(1)})
    assert kept.get({b"a": 1, b"b": 1}) == {b"a": values(1)}


def test_a_file_that_another_process_holds_is_left_alone(file, monkeypatch):
    monkeypatch.setattr(word_weights, "_WAIT", 0.05)
    store(file).put({b"a": values(1)})
    with sqlite3.connect(file, isolation_level=None) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert store(file).get({b"a": 1}) == {}
        store(file).put({b"b": values(1)})
        holder.execute("ROLLBACK")
    holder.close()
    assert list(store(file).get({b"a": 1, b"b": 1})) == [b"a"]


def test_the_oldest_go_when_a_file_is_full(file):
    most = 200_000
    for start in range(0, 4000, 200):
        store(file, most).put({key("q", str(n)): values(*[0.5] * 20) for n in range(start, start + 200)})

    wanted = [key("q", str(n)) for n in range(4000)]
    found = store(file).get(dict.fromkeys(wanted, 20))
    assert file.stat().st_size < 2 * most
    assert set(wanted[-200:]) <= found.keys()
    assert not found.keys() & set(wanted[:200])


def write_many(file, mine):
    kept = Store(file=file)
    for start in range(0, 200, 10):
        kept.put({key(mine, str(n)): values(n) for n in range(start, start + 10)})


@pytest.mark.long
def test_several_processes_write_one_file(file):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(file, mine)) for mine in "ab"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    assert [worker.exitcode for worker in workers] == [0, 0]
    found = store(file).get({key(mine, str(n)): 1 for mine in "ab" for n in range(200)})
    assert len(found) == 400
    assert found[key("b", "7")] == [7]


def test_a_weigher_computes_nothing_that_is_kept_on_disk(tmp_path, monkeypatch):
    model = tiny.kpqa(tmp_path / "model")
    other = tiny.kpqa(tmp_path / "other", seed=1)
    cache = str(tmp_path / "cache")
    word_weights._load.cache_clear()
    first = weigher(choice(model.path)[1], cache).weigh(PAIRS)
    word_weights._load.cache_clear()
    monkeypatch.setattr(word_weights.LoadedModel, "weights", lambda *_: pytest.fail("computed again"))
    again = weigher(choice(model.path)[1], cache).weigh(PAIRS[::-1])

    assert all((a.weights == b.weights).all() for a, b in zip(first, again[::-1], strict=True))
    assert [found.name for found in (tmp_path / "cache").iterdir()] == [f"kpqa-{model.digest}.sqlite"]
    assert file_of(cache, other) != file_of(cache, model)
    assert file_of("", model) is None
