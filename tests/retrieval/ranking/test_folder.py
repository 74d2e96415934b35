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
