"""What every engine does, on tantivy and on OpenSearch (a server over HTTP that keeps to its contract).

With OPENSEARCH_URL set, the same tests ask that server instead.
"""

import math
import threading
import time

import pytest

from retrieval.errors import IndexBrokenError, NotIndexedError

CATS = [(1, "A cat sat on the mat."), (2, "Dogs chase cats."), (3, "Rain fell in Spain.")]


def found(engine, text, k=10):
    return [hit.pk for hit in engine.search(dict.fromkeys(engine.terms(text), 1.0), k)]


def test_scores_are_bm25(engine):
    """k1 1.2, b 0.75, idf ln(1 + (N - n + 0.5)/(n + 0.5)); lengths are exact below 41 words in tantivy."""
    engine.index([(1, "cat cat dog"), (2, "dog bird fish"), (3, "fish fish fish")])
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / 3))
    assert engine.search({"cat": 1.0}, 1)[0].score == pytest.approx(expected, rel=1e-5)


def test_a_weight_multiplies_what_a_word_adds_and_counts_for_nothing_where_it_is_not_sensible(engine):
    engine.index([(1, "cat"), (2, "dog")])
    hits = engine.search({"cat": 1.0, "dog": 1.5}, 2)
    assert ([hit.pk for hit in hits], [*hits[:1]]) == ([2, 1], [hits[0]])
    one, half = engine.search({"cat": 1.0}, 1)[0], engine.search({"cat": 0.5}, 1)[0]
    assert half.score == pytest.approx(one.score / 2)
    for weight in (0.0, -1.0, math.nan, math.inf):
        assert list(engine.search({"cat": weight}, 10)) == []


def test_equal_scores_come_by_number_whatever_the_segments(engine):
    for number in (5, 9, 12, 30):
        engine.index([(number, "the same words")])
    assert found(engine, "words") == [5, 9, 12, 30]
    engine.rebuild([(number, "the same words") for number in range(300, 0, -1)])
    assert found(engine, "words", k=3) == [1, 2, 3]


def test_a_query_of_function_words_alone_uses_them(engine):
    engine.index([(1, "To be or not to be, that is the question."), (2, "A question of money.")])
    assert engine.terms("to be or not to be") == ["to", "be", "or", "not"]
    assert found(engine, "to be or not to be") == [1]


def test_a_query_finds_the_passages_with_its_words_whatever_their_form(engine):
    with pytest.raises(NotIndexedError, match="index build"):
        engine.search({"cat": 1.0}, 3)
    assert engine.generation() == 0
    engine.index(CATS)
    assert found(engine, "Which cat is it?") == [2, 1]
    assert found(engine, "raining") == [3]
    assert found(engine, 'body:cat AND (NOT [* TO "~^3 pk:1') == [2, 1]
    assert found(engine, "?! …") == []
    assert len(engine.terms(" ".join(f"word{number}" for number in range(10_000)))) == 256

    def passages():
        yield 4, "cat"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError):
        engine.index(passages())
    assert (engine.count(), engine.highest()) == (3, 3)
    engine.index([(4, "A fourth cat.")])
    assert engine.count() == 4
    engine.index([(2**40 + 1, "a far camel")])
    assert found(engine, "camel") == [2**40 + 1]
    assert engine.highest() == 2**40 + 1
    engine.delete([2, 99])
    assert found(engine, "chase") == []
    assert engine.count() == 4


def test_another_object_sees_what_was_added_and_deleted_in_the_meantime(engine, engine_for):
    engine.index(CATS[:2])
    reader = engine_for()
    assert found(reader, "cats") == [2, 1]
    engine.index([(7, "One more cat.")])
    assert 7 in found(reader, "cats")
    engine.delete([7])
    assert 7 not in found(reader, "cats")


@pytest.mark.long
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


@pytest.mark.long
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


def test_a_new_generation_takes_over_at_once_unless_its_rebuild_breaks_off(engine, engine_for):
    engine.index(CATS)

    def passages():
        yield 1, "cat"
        raise RuntimeError("the database is gone")

    with pytest.raises(RuntimeError):
        engine.rebuild(passages())
    assert (found(engine, "cats"), engine.generation()) == ([2, 1], 1)
    with pytest.raises(IndexBrokenError, match="other rules"):
        engine_for("fr").search({"cat": 1.0}, 3)
    reader = engine_for()
    assert reader.count() == 3
    assert engine.rebuild([(4, "A newer cat.")]) == 1
    assert found(reader, "cat") == [4]
    assert reader.generation() == 2
    engine.drop()
    with pytest.raises(NotIndexedError):
        engine.count()
    engine.drop()
    engine.index(CATS)
    assert engine.generation() == 1
