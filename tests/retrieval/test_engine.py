"""The embedded engine, and what tantivy does not forgive."""

import json
import math
import multiprocessing
import os
import threading
import time

import pytest
import tantivy

from retrieval.engine import embedded, lock
from retrieval.engine.embedded import schema
from retrieval.errors import BusyError, IndexBrokenError, NotIndexedError

CATS = [(1, "A cat sat on the mat."), (2, "Dogs chase cats."), (3, "Rain fell in Spain.")]


def found(engine, text, k=10):
    return [hit.pk for hit in engine.search(dict.fromkeys(engine.terms(text), 1.0), k)]


def test_a_query_finds_the_passages_with_its_words_whatever_their_form(engine):
    engine.index(CATS)
    assert found(engine, "Which cat is it?") == [2, 1]
    assert found(engine, "raining") == [3]


def test_scores_are_bm25(engine):
    """k1 1.2, b 0.75, idf ln(1 + (N - n + 0.5)/(n + 0.5)); lengths are exact below 41 words in tantivy."""
    engine.index([(1, "cat cat dog"), (2, "dog bird fish"), (3, "fish fish fish")])
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / 3))
    assert engine.search({"cat": 1.0}, 1)[0].score == pytest.approx(expected, rel=1e-5)


def test_a_weight_multiplies_what_a_word_adds(engine):
    engine.index([(1, "cat"), (2, "dog")])
    assert [hit.pk for hit in engine.search({"cat": 1.0, "dog": 1.5}, 2)] == [2, 1]
    one, half = engine.search({"cat": 1.0}, 1)[0], engine.search({"cat": 0.5}, 1)[0]
    assert half.score == pytest.approx(one.score / 2)


@pytest.mark.parametrize("weight", [0.0, -1.0, math.nan, math.inf])
def test_a_word_without_a_sensible_weight_counts_for_nothing(engine, weight):
    engine.index(CATS)
    assert engine.search({"cat": weight}, 10) == []


def test_equal_scores_come_by_number_whatever_the_segments(engine):
    for number in (5, 9, 12, 30):
        engine.index([(number, "the same words")])
    engine.rebuild([(number, "the same words") for number in (30, 12, 9, 5)])
    assert found(engine, "words") == [5, 9, 12, 30]


def test_the_last_place_among_equals_goes_to_the_lowest_number(engine):
    engine.rebuild([(number, "the same words") for number in range(300, 0, -1)])
    assert found(engine, "words", k=3) == [1, 2, 3]


def test_deleting_deletes(engine):
    engine.index(CATS)
    engine.delete([2, 99])
    assert found(engine, "cats") == [1]
    assert engine.count() == 2


def test_tantivy_still_deletes_nothing_by_a_term_of_an_unsigned_field():
    """Why we delete by query. If this fails, tantivy has learnt it."""
    index = tantivy.Index(schema())
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).build())
    writer = index.writer(15_000_000, 1)
    document = tantivy.Document()
    document.add_unsigned("pk", 5)
    writer.add_document(document)
    writer.commit()
    writer.delete_documents_by_term("pk", 5)
    writer.commit()
    index.reload()
    assert index.searcher().num_docs == 1


def test_a_number_beyond_32_bits_is_found_again(engine):
    engine.index([(2**40 + 1, "a far cat")])
    assert found(engine, "cat") == [2**40 + 1]
    assert engine.highest() == 2**40 + 1


def test_markup_of_query_languages_in_a_query_is_only_text(engine):
    engine.index(CATS)
    assert found(engine, 'body:cat AND (NOT [* TO "~^3 pk:1') == [2, 1]


def test_a_query_of_function_words_alone_uses_them(engine):
    engine.index([(1, "To be or not to be, that is the question."), (2, "A question of money.")])
    assert engine.terms("to be or not to be") == ["to", "be", "or", "not"]
    assert found(engine, "to be or not to be") == [1]


def test_a_query_without_a_single_word_finds_nothing(engine):
    engine.index(CATS)
    assert found(engine, "?! …") == []


def test_a_query_of_ten_thousand_words_is_cut(engine):
    engine.index(CATS)
    assert len(engine.terms(" ".join(f"word{number}" for number in range(10_000)))) == 256


def test_before_anything_is_indexed_it_says_so(engine):
    with pytest.raises(NotIndexedError, match="index build"):
        engine.search({"cat": 1.0}, 3)
    assert engine.generation() == 0


def test_another_object_sees_what_was_added_and_deleted_in_the_meantime(engine, engine_for):
    engine.index(CATS[:2])
    reader = engine_for()
    assert found(reader, "cats") == [2, 1]
    engine.index([(7, "One more cat.")])
    assert 7 in found(reader, "cats")
    engine.delete([7])
    assert 7 not in found(reader, "cats")


def test_a_new_generation_takes_over_at_once_and_the_old_files_go(engine, engine_for):
    engine.index(CATS)
    reader = engine_for()
    assert reader.count() == 3
    assert engine.rebuild([(4, "A newer cat.")]) == 1
    assert found(reader, "cat") == [4]
    assert reader.generation() == 2
    assert sorted(path.name for path in engine._files.path.iterdir()) == ["current", "g2", "lock"]


def test_a_rebuild_that_breaks_off_leaves_the_old_generation(engine):
    engine.index(CATS)

    def passages():
        yield 1, "cat"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError):
        engine.rebuild(passages())
    assert (found(engine, "cats"), engine.generation()) == ([2, 1], 1)
    assert sorted(path.name for path in engine._files.path.glob("g*")) == ["g1"]


def test_an_addition_that_breaks_off_adds_nothing(engine):
    engine.index(CATS)

    def passages():
        yield 4, "cat"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError):
        engine.index(passages())
    assert (engine.count(), engine.highest()) == (3, 3)
    engine.index([(4, "A fourth cat.")])
    assert engine.count() == 4


def test_a_second_writer_waits_for_the_first(engine, engine_for):
    started = threading.Event()

    def slowly():
        yield 1, "cat"
        started.set()
        time.sleep(0.3)
        yield 2, "cat"

    first = threading.Thread(target=engine.index, args=(slowly(),))
    first.start()
    started.wait(10)
    engine_for().index([(3, "cat")])
    first.join()
    assert engine.count() == 3


def _hold(path, ready, done):
    with lock.only_writer(path, "it"):
        ready.set()
        done.wait(30)


def test_a_second_writer_is_told_which_process_writes_when_it_has_waited_long_enough(engine, monkeypatch):
    engine.index(CATS)
    monkeypatch.setattr(lock, "PATIENCE", 0.2)
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    holder = context.Process(target=_hold, args=(engine._files.lock, ready, done))
    holder.start()
    try:
        assert ready.wait(30)
        with pytest.raises(BusyError, match=rf"number {holder.pid}.*the test index.*0\.2 s"):
            engine.index([(9, "cat")])
    finally:
        done.set()
        holder.join()
    assert engine.index([(9, "cat")]) == 1


def test_a_writer_of_somebody_else_is_an_error_not_a_loss(engine):
    engine.index(CATS)
    theirs = tantivy.Index(schema(), path=str(engine._files.of(1))).writer(15_000_000, 1)
    with pytest.raises(BusyError, match="Something else writes the test index"):
        engine.index([(4, "cat")])
    del theirs
    assert engine.count() == 3


def test_after_a_fork_the_child_opens_its_own(engine):
    engine.index(CATS)
    assert found(engine, "cats") == [2, 1]
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        try:
            os.write(write, json.dumps(found(engine, "cats")).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert json.loads(os.read(read, 100)) == [2, 1]
    os.close(read)
    os.close(write)


def test_searches_of_many_threads_while_somebody_writes_and_rebuilds(engine, engine_for):
    engine.index(CATS)
    stop, troubles = threading.Event(), []

    def search():
        while not stop.is_set():
            try:
                if 1 not in found(engine_for(), "cats"):
                    troubles.append("the first cat is missing")
            except Exception as error:
                troubles.append(repr(error))

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(10, 16):
        engine.index([(number, "Another cat.")])
        engine.rebuild([*CATS, (number, "Another cat.")])
    stop.set()
    for thread in threads:
        thread.join()
    assert troubles == []


@pytest.mark.parametrize("pattern", ["*.term", "*.store", "*.fast", "meta.json"])
def test_damaged_files_are_an_error_with_a_remedy_and_a_rebuild_heals_them(
    engine, engine_for, pattern, capfd
):
    engine.index(CATS)
    for path in engine._files.of(1).glob(pattern):
        path.write_bytes(path.read_bytes()[:3])
    with pytest.raises(IndexBrokenError):
        engine_for().search({"cat": 1.0}, 3)
    engine.rebuild(CATS)
    assert found(engine_for(), "cats") == [2, 1]


def test_a_pointer_that_cannot_be_read_is_an_error_with_a_remedy(engine):
    engine.index(CATS)
    (engine._files.path / "current").write_text("{")
    with pytest.raises(IndexBrokenError, match="index build"):
        engine.count()
    engine.rebuild(CATS)
    assert engine.count() == 3


def test_an_index_of_other_rules_for_words_wants_to_be_built_again(engine, engine_for):
    engine.index(CATS)
    with pytest.raises(IndexBrokenError, match="other rules"):
        engine_for("fr").search({"cat": 1.0}, 3)


def test_what_is_dropped_is_gone(engine):
    engine.index(CATS)
    engine.drop()
    assert not engine._files.path.exists()
    engine.drop()


def test_a_process_keeps_only_so_many_indexes_open(engine_for, monkeypatch):
    monkeypatch.setattr(embedded, "MOST_OPEN", 2)
    engines = [engine_for(name=f"index-{number}") for number in range(4)]
    for each in engines:
        each.index([(1, "cat")])
    for each in [*engines, engines[0]]:
        assert found(each, "cat") == [1]
    assert len(embedded._open) == 2
