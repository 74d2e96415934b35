"""The embedded engine alone: its files, its locks, and what tantivy does not forgive."""

import json
import math
import multiprocessing

import pytest
import tantivy

from retrieval.engine import files, tantivy_engine
from retrieval.engine.analysis import passage_chain, prepared
from retrieval.errors import BusyError, IndexBrokenError, NotIndexedError
from tests.retrieval.engine.test_engine import CATS, found


@pytest.fixture
def kind():
    return "tantivy"


def test_weights_that_are_no_number_above_0_count_for_nothing(engine):
    engine.index(CATS)
    without = list(engine.search({"cat": 1.0}, 5))
    for weight in (0, -1, math.nan, math.inf):
        assert engine.search({"cat": weight}, 5).pks == ()
        assert list(engine.search({"cat": 1.0, "black": weight}, 5)) == without
    assert engine.search({"cat": 1.0}, 0).pks == ()


def test_a_new_generation_takes_over_at_once_and_the_old_files_go(engine, engine_for):
    engine.index(CATS)
    reader = engine_for()
    assert reader.count() == 3
    assert engine.rebuild([(4, "A newer cat.")]) == 1
    assert found(reader, "cat") == [4]
    assert reader.generation() == 2
    assert sorted(path.name for path in engine._files.path.iterdir()) == ["changes", "current", "g2", "lock"]


def _hold(path, ready, done):
    with files.only_writer(path, "it"):
        ready.set()
        done.wait(30)


def test_a_second_writer_is_told_which_process_writes_when_it_has_waited_long_enough(engine, monkeypatch):
    engine.index(CATS)
    monkeypatch.setattr(files, "PATIENCE", 0.2)
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
    theirs = tantivy.Index(tantivy_engine.schema(), path=str(engine._files.of(1))).writer(15_000_000, 1)
    with pytest.raises(BusyError, match="Something else writes the test index"):
        engine.index([(4, "cat")])
    del theirs
    assert engine.count() == 3


def _tied(engine):
    """Equal scores in several segments, some of which begin before others end."""
    engine.index([(number, "cat") for number in range(10, 60)])
    engine.index([(number, "cat dog" if number % 2 else "cat") for number in range(60, 80)])
    engine.index([(number, "cat") for number in range(80, 90)])


def _answers(engine):
    return [list(engine.search({"cat": 1.0, "dog": 0.5}, k)) for k in (1, 3, 10, 11, 45, 200)]


def test_documents_are_stored_by_number_and_answers_are_those_of_sorting_all_that_are_tied(
    engine, engine_for, monkeypatch
):
    _tied(engine)
    answers = _answers(engine)
    assert engine._newest().is_in_order
    assert [hit.pk for hit in answers[2]] == [61, 63, 65, 67, 69, 71, 73, 75, 77, 79]
    assert [hit.pk for hit in answers[-1]][10:] == [n for n in range(10, 90) if not (60 < n < 80 and n % 2)]
    monkeypatch.setattr(tantivy_engine, "_are_in_order", lambda *given: False)
    tantivy_engine._open.clear()
    assert _answers(engine_for()) == answers
    assert not engine_for()._newest().is_in_order


@pytest.mark.parametrize(
    "change", [lambda engine: engine.index([(95, "dog")]), lambda engine: engine.delete([85])]
)
def test_segments_are_listed_in_the_order_of_their_numbers_however_tantivy_lists_them(
    engine, engine_for, change
):
    _tied(engine)
    meta = engine._files.of(1) / "meta.json"
    layout = json.loads(meta.read_text())
    listed = [segment["segment_id"] for segment in layout["segments"]]
    layout["segments"].reverse()
    meta.write_text(json.dumps(layout))
    tantivy_engine._open.clear()
    assert len(listed) == 3 and not engine_for()._newest().is_in_order
    change(engine)
    assert engine._newest().is_in_order
    layout = json.loads(meta.read_text())
    assert [segment["segment_id"] for segment in layout["segments"]][:3] == listed
    assert found(engine, "cat", 3) == [10, 11, 12]


def test_where_segments_overlap_or_are_of_an_earlier_version_equal_scores_are_sorted(engine):
    engine.index([(number, "cat") for number in range(0, 100, 2)])
    engine.index([(number, "cat") for number in range(1, 60, 2)])
    assert not engine._newest().is_in_order
    assert found(engine, "cat", 7) == [0, 1, 2, 3, 4, 5, 6]


def test_a_generation_of_an_earlier_version_is_not_sorted_and_is_searched_all_the_same(engine):
    engine.index([])
    folder = engine._files.of(1)
    for path in folder.iterdir():
        path.unlink()
    tantivy.Index(tantivy_engine.schema(), path=str(folder))
    _tied(engine)
    assert not engine._newest().is_in_order
    assert found(engine, "cat dog", 3) == [61, 63, 65]


def _write(folder, method, argument):
    getattr(tantivy_engine.TantivyEngine(folder, "en"), method)(argument)


def test_what_another_process_wrote_is_seen_at_once(engine, monkeypatch):
    monkeypatch.setattr(tantivy_engine, "LOOK_EVERY", 1_000.0)  # by the count of changes alone
    engine.index(CATS)
    assert found(engine, "cats") == [2, 1]
    # A forked child would keep a lock that a thread of tantivy's holds at that moment.
    context = multiprocessing.get_context("spawn")
    for method, argument, after in (
        ("index", [(7, "cats cats")], [7, 2, 1]),
        ("delete", [2], [7, 1]),
        ("rebuild", [(9, "cat")], [9]),
    ):
        writer = context.Process(target=_write, args=(engine._files.path, method, argument))
        writer.start()
        writer.join()
        assert (writer.exitcode, found(engine, "cats")) == (0, after)
    engine.drop()
    with pytest.raises(NotIndexedError):
        engine.count()


def test_without_a_count_of_changes_a_rebuild_is_seen_by_the_files_that_went(engine, monkeypatch):
    monkeypatch.setattr(files.IndexFolder, "count_change", lambda folder: None)
    monkeypatch.setattr(tantivy_engine, "LOOK_EVERY", 1_000.0)
    engine.index(CATS)
    assert found(engine, "cats") == [2, 1]
    engine.index([(7, "cats cats")])
    assert found(engine, "cats") == [7, 2, 1]
    engine.rebuild([(9, "cat")])
    assert found(engine, "cats") == [9]


def test_damaged_files_are_an_error_with_a_remedy_and_a_rebuild_heals_them(engine, engine_for, capfd):
    for generation, pattern in enumerate(("*.term", "*.store", "*.fast", "meta.json"), 1):
        engine.rebuild(CATS)
        for path in engine._files.of(generation * 2 - 1).glob(pattern):
            # Another file in its place: threads of tantivy's may still have the old one mapped, and one that
            # is cut under them ends the process (SIGBUS).
            cut = path.with_name("cut")
            cut.write_bytes(path.read_bytes()[:3])
            cut.replace(path)
        with pytest.raises(IndexBrokenError):
            engine_for().search({"cat": 1.0}, 3)
        engine.rebuild(CATS)
        assert found(engine_for(), "cats") == [2, 1], pattern
    (engine._files.path / "current").write_text("{")
    with pytest.raises(IndexBrokenError, match="index build"):
        engine.count()
    engine.rebuild(CATS)
    assert engine.count() == 3


def test_a_process_keeps_only_so_many_indexes_open(engine_for, monkeypatch):
    monkeypatch.setattr(tantivy_engine, "MOST_OPEN", 2)
    engines = [engine_for(name=f"index-{number}") for number in range(4)]
    for each in engines:
        each.index([(1, "cat")])
    for each in [*engines, engines[0]]:
        assert found(each, "cat") == [1]
    assert len(tantivy_engine._open) == 2


def test_no_text_is_stored(engine):
    engine.index(CATS)
    index = tantivy.Index.open(str(engine._files.of(1)))
    searcher = index.searcher()
    [(_, address)] = searcher.search(tantivy.Query.all_query(), 1).hits
    assert searcher.doc(address).to_dict() == {}


def test_the_words_of_an_index_made_before_passages_were_cut_here_are_the_same(engine):
    """Generations of the first version cut by themselves; they are added to and searched as they are."""
    engine.index([])
    old = tantivy.Index.open(str(engine._files.of(1)))
    old.register_tokenizer("words", passage_chain("en"))
    writer = old.writer(15_000_000, 1)
    document = tantivy.Document()
    document.add_unsigned("pk", 1)
    document.add_text("body", prepared("The Cats' cafés were running, weren't they?", "en"))
    writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    engine.index([(2, "The Cats' cafés were running, weren't they?")])
    for term in ("cat", "cafe", "run", "weren", "t", "the"):
        one, other = engine.search({term: 1.0}, 5)
        assert (one.pk, other.pk) == (1, 2)
        assert one.score == other.score
