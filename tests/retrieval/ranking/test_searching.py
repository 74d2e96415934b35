"""Searching the corpora of a project with conversations."""

import json
import shutil
from pathlib import Path

import pytest

from retrieval.copies import network_folder
from retrieval.errors import NotIndexedError, ParametersError
from retrieval.models import Corpus, Passage
from retrieval.ranking.parameters import Parameters
from retrieval.search import search_conversation
from retrieval.selectors import searchable
from retrieval.services.indexing import build_index
from retrieval.services.networks import build_network
from tests.retrieval.ranking.test_crown import SENTENCES, TURNS
from tests.retrieval.world import add, make_corpus, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def batman(tmp_path, project):
    corpus = make_corpus(tmp_path, *SENTENCES, project=project, slug="batman")
    build_network(corpus=corpus)
    return Corpus.objects.select_related("index", "network").get(pk=corpus.pk)


def test_a_conversation_is_answered_with_balanced_unless_asked_otherwise(project, batman):
    found = search_conversation(project, TURNS[:2])
    assert found.ranker == "balanced"
    assert len(found.results) == 3
    assert found.results[0].passage.text == SENTENCES[1]
    assert found.results[0].corpus == "batman"
    assert found.generations["batman"]["index"] == found.generations["batman"]["network"] == 1
    assert found.notes == []
    parameters = Parameters.of({"profile": "crown-2020", "results": 2})
    found = search_conversation(project, TURNS, parameters)
    assert (found.ranker, len(found.results)) == ("crown-2020", 2)
    assert found.parameters == parameters.as_dict()
    assert len(search_conversation(project, TURNS, parameters, results=4).results) == 4
    found = search_conversation(project, TURNS, ranker="rrf(bm25:cq1+balanced)")
    assert found.ranker == "rrf(bm25:cq1+balanced)"
    assert set(found.results[0].parts) <= {"bm25:cq1", "balanced"}
    with pytest.raises(ParametersError, match="There is no system 'magic'"):
        search_conversation(project, TURNS, ranker="magic")
    best = search_conversation(project, TURNS[:2]).results[0]
    why, text = best.explanation, best.passage.text
    assert {text[start:end] for start, end in why.keywords} >= {"Alfred", "played", "Batman", "Nolan"}
    assert [text[start:end] for start, end in why.highlights] == [text]
    assert {"alfred", "played"} <= {node.word for node in why.nodes}
    assert search_conversation(project, TURNS, explain=False).results[0].explanation is None
    found = search_conversation(project, TURNS)
    kept = json.loads(json.dumps(found.provenance(found.results[0])))
    assert kept["ranker"] == "balanced"
    assert kept["parameters"]["query_model"] == "cq2"
    assert kept["generation"]["network"] == 1
    assert kept["rank"] == 1
    assert set(kept["parts"]) == {"bm25", "node", "edge", "pos", "coverage", "early", "feedback"}
    assert kept["found_at"] >= 1
    found = search_conversation(project, ['body:alfred AND (NOT "played"~3 OR *) \x00 ☃'])
    assert "p2" in [each.passage.key for each in found.results]


def test_a_damaged_network_is_named_and_the_answer_is_bm25(project, batman):
    for segment in network_folder(batman.network).glob("s*"):
        shutil.rmtree(segment)
    found = search_conversation(project, TURNS)
    assert found.ranker == "bm25"
    assert "manage.py wpn build" in found.notes[0]
    assert found.results[0].explanation.nodes


def test_a_passage_that_came_after_the_network_is_ranked_too(tmp_path, project, batman):

    add(batman, tmp_path, {"id": "new", "text": "Alfred Alfred played Batman in the Nolan movies made."})
    build_index(corpus=batman)
    found = search_conversation(project, TURNS[:2])
    assert "new" in [each.passage.key for each in found.results]
    assert any("batman came or went since its network was built" in note for note in found.notes)


def test_a_passage_that_was_deleted_since_the_index_was_built_is_left_out(project, batman):
    Passage.objects.filter(corpus=batman, key="p2").delete()
    found = search_conversation(project, TURNS[:2])
    assert "p2" not in [each.passage.key for each in found.results]
    assert [each.rank for each in found.results] == list(range(1, len(found.results) + 1))


@pytest.mark.long
def test_the_number_of_queries_depends_on_neither_passages_nor_corpora(
    tmp_path, project, batman, django_assert_num_queries
):
    with django_assert_num_queries(2):
        search_conversation(project, TURNS)
    for number in range(3):
        corpus = make_corpus(tmp_path, *SENTENCES, project=project, slug=f"more-{number}")
        build_network(corpus=corpus)
    with django_assert_num_queries(2):
        search_conversation(project, TURNS, results=20)


def test_corpora_are_searched_together_and_those_of_two_projects_told_apart(tmp_path, project, batman):
    twin = make_corpus(tmp_path, *SENTENCES, slug="batman")
    build_network(corpus=twin)
    corpora = [batman, *searchable(twin.project)]
    found = search_conversation(corpora, TURNS, results=20)
    names = {f"{project.slug}/batman", f"{twin.project.slug}/batman"}
    assert {each.corpus for each in found.results} == names
    assert set(found.generations) == names
    other = make_corpus(tmp_path, "Alfred is played by a butler.", project=project, slug="other")
    build_network(corpus=other)
    found = search_conversation(project, TURNS[:2], results=20)
    assert {each.corpus for each in found.results} == {"batman", "other"}


def test_without_a_network_the_answer_is_bm25_and_still_shows_the_words(project, tmp_path):
    with pytest.raises(NotIndexedError, match="index build"):
        search_conversation(project, ["anything"])
    make_corpus(tmp_path, *SENTENCES, project=project)
    found = search_conversation(project, TURNS[:2])
    assert found.ranker == "bm25"
    assert "manage.py wpn build" in found.notes[0]
    why = found.results[0].explanation
    assert "alfred" in {node.word for node in why.nodes}
    assert why.edges == ()


@pytest.mark.long
def test_searches_leave_neither_open_files_nor_new_ones_behind(project, batman, settings):
    def left():
        files = [path for path in Path(settings.DATA_DIR).rglob("*") if path.is_file()]
        return len(list(Path("/proc/self/fd").iterdir())), sorted(files)

    search_conversation(project, TURNS)
    before = left()
    for turn in TURNS * 4:
        search_conversation(project, [turn])
    assert left() == before
