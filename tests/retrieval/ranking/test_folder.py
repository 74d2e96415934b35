"""Passages of a file, searched without a database."""

import pytest

from retrieval.errors import FileRefusedError
from retrieval.ranking.folder import temporary_collection
from retrieval.ranking.systems import parse_system
from tests.retrieval.world import write


def test_the_passages_of_a_file_are_searched_without_a_database(tmp_path):
    path = write(tmp_path, {"id": "a", "text": "cats sleep"}, {"id": "b", "text": "dogs bark at cats"})
    with temporary_collection(path, network=False) as collection:
        ranking = parse_system("bm25").rank([collection], ["why do dogs bark"], 10)
        assert [collection.key(each.pk) for each in ranking.results] == ["b"]
        assert collection.texts([2, 1]) == {2: "dogs bark at cats", 1: "cats sleep"}


def test_a_file_with_faults_is_refused_with_its_lines(tmp_path):
    path = write(tmp_path, {"id": "a", "text": "cats sleep"}, {"id": "b"})
    with pytest.raises(FileRefusedError, match="line 2"), temporary_collection(path, network=False):
        pass


def test_its_network_knows_the_passages_as_tokens_cut_now(collection_of):
    collection = collection_of("Cats purr. Dogs bark at cats.", "It is. Rain fell in 1999.", network=True)
    stored = collection.columns([2, 1], numbers=True)
    assert [stored.words[token] for token in stored.tokens] == [
        *("rain", "fell", "1999"),
        *("cats", "purr", "dogs", "bark", "cats"),
    ]
    assert stored.passage.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert stored.sentence.tolist() == [1, 1, 1, 1, 1, 2, 2, 2]
    assert collection.evidence.associations(["cats"], ["dogs"]).tolist() != [None]
    texts = (
        "Cats purr. Dogs bark at cats.",
        "It is. Rain fell in 1999.",
        "",
        "Mr. Fox saw 3 cats, and so on.",
    )
    passages = [{"id": f"p{place}", "text": text or "…"} for place, text in enumerate(texts)]
    stored = collection_of(*passages, network=True).columns([1, 2, 3, 4], numbers=False)
    cut = collection_of(*passages).columns([1, 2, 3, 4], numbers=False)
    assert [stored.words[token] for token in stored.tokens] == [cut.words[token] for token in cut.tokens]
    assert stored.passage.tolist() == cut.passage.tolist()
    assert stored.sentence.tolist() == cut.sentence.tolist()
    assert stored.count == cut.count == 4


def test_word_vectors_of_a_file_take_the_place_of_its_own(tmp_path, collection_of):
    path = tmp_path / "vectors.txt"
    path.write_text("cats 1 0\ndogs 0.9 0.1\nrain 0 1\n", encoding="utf-8")
    collection = collection_of("Cats purr in rain.", "Dogs bark.", network=True, vectors=path)
    [[cats, rain]] = collection.evidence.similarities(["dogs"], ["cats", "rain"]).tolist()
    assert cats > rain
    assert len(collection.generation["vectors"]) == 64
    path.write_text("", encoding="utf-8")
    with pytest.raises(FileRefusedError, match="word vectors"):
        collection_of("Cats purr.", network=True, vectors=path)


def test_what_it_is_made_of_is_told(collection_of):
    state = collection_of("Cats purr.", "Dogs bark.", network=True).generation
    assert (state["engine"], state["passages"], len(state["file"])) == ("tantivy", 2, 64)
    assert state["chain"].startswith("english-")
    assert state["rules"].startswith("words-")
