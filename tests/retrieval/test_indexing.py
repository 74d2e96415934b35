"""Indexes brought up to date, and what is found in them."""

import threading
import time

import pytest
from django.db import connections

from retrieval.copies import engine_named, engine_of, folder_of
from retrieval.engine import cluster
from retrieval.errors import NotIndexedError
from retrieval.models import Index, Passage
from retrieval.selectors import corpus_facts, searchable
from retrieval.services import corpora
from retrieval.services.indexing import build_index
from tests.retrieval.world import add, make_corpus, make_project, search

pytestmark = pytest.mark.django_db


def keys(hits):
    return [hit.passage.key for hit in hits]


def test_new_passages_make_it_stale_and_only_they_are_added(tmp_path):
    corpus = make_corpus(tmp_path, "a red cat", "a black dog")
    index = Index.objects.get(corpus=corpus)
    assert (index.state, index.generation, index.passages) == ("ready", 1, 2)
    assert index.last_passage == Passage.objects.get(corpus=corpus, key="p2").pk
    assert folder_of(index).parent.name == "indexes"
    assert build_index(corpus=corpus).added == 0
    add(corpus, tmp_path, {"id": "new", "text": "a new cat"})
    corpus.index.refresh_from_db()
    assert corpus.index.state == "stale"
    assert keys(search([corpus], "cat")) == ["p1"]
    built = build_index(corpus=corpus)
    assert (built.added, built.passages, built.generation, built.reason) == (1, 3, 1, "")
    assert keys(search([corpus], "cat")) == ["p1", "new"]
    built = build_index(corpus=corpus, anew=True)
    assert (built.generation, built.added, built.reason) == (2, 3, "asked for")


def test_an_index_that_lost_passages_or_its_files_is_built_anew(tmp_path):
    corpus = make_corpus(tmp_path, "a red cat", "a black cat")
    engine_of(corpus).delete([Passage.objects.get(corpus=corpus, key="p1").pk])
    assert build_index(corpus=corpus).reason == "It held 1 of the first 2 passages."
    (folder_of(corpus.index) / "current").write_text("nonsense")
    assert "could not be used" in build_index(corpus=corpus).reason
    assert keys(search([corpus], "cat")) == ["p1", "p2"]
    with corpora.working_on(corpus):
        assert corpus_facts(corpus.project)[0].building
    Passage.objects.filter(corpus=corpus, key="p1").delete()
    assert [(hit.rank, hit.passage.key) for hit in search([corpus], "cat")] == [(1, "p2")]


def test_the_title_counts_as_text(tmp_path):
    corpus = make_corpus(tmp_path, {"text": "It purrs.", "title": "Cats"}, "A dog.")
    assert keys(search([corpus], "cat")) == ["p1"]


def test_a_build_that_fails_says_why(tmp_path, monkeypatch):
    corpus = make_corpus(tmp_path, "a red cat", index=False)

    def progress(passages):
        raise RuntimeError("no more room on the disk")

    with pytest.raises(RuntimeError):
        build_index(corpus=corpus, progress=progress)
    index = Index.objects.get(corpus=corpus)
    assert (index.state, index.note) == ("failed", "no more room on the disk")
    assert build_index(corpus=corpus).passages == 1


@pytest.mark.django_db(transaction=True)
def test_two_builds_at_once_add_each_passage_once(tmp_path):
    corpus = make_corpus(tmp_path, *(f"cat {number}" for number in range(500)), index=False)
    built = []

    def build():
        try:
            built.append(build_index(corpus=type(corpus).objects.get(pk=corpus.pk)))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=build) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.added for each in built) == [0, 0, 500]
    assert engine_of(corpus).count() == 500


def test_several_corpora_are_merged_by_score(tmp_path):
    project = make_project()
    one = make_corpus(tmp_path, "a cat", "a dog", "a bird", project=project)
    other = make_corpus(tmp_path, "a cat", "another cat", project=project)
    hits = search([one, other], "cat", 2)
    assert [hit.corpus for hit in hits] == [one.slug, other.slug]
    assert hits[0].score > hits[1].score


def test_without_any_index_it_says_what_to_run(tmp_path):
    corpus = make_corpus(tmp_path, "a cat", index=False)
    assert searchable(corpus.project) == []
    with pytest.raises(NotIndexedError, match=r"manage\.py corpus add"):
        search([], "cat")


def test_a_list_of_corpora_takes_one_query(tmp_path, django_assert_num_queries):
    project = make_project()
    for _ in range(3):
        make_corpus(tmp_path, "a cat", "a dog", project=project)
    with django_assert_num_queries(1):
        facts = corpus_facts(project)
        assert [(each.passages, each.building, each.corpus.index.passages) for each in facts] == [
            (2, False, 2)
        ] * 3


@pytest.fixture
def on_opensearch(settings, opensearch_url):
    settings.OPENSEARCH_URL, settings.OPENSEARCH_PREFIX = opensearch_url, f"test-{time.time_ns()}"
    settings.RETRIEVAL_ENGINE = "opensearch"


@pytest.mark.long
def test_one_setting_takes_a_corpus_to_opensearch_and_back(tmp_path, settings, opensearch_url):
    corpus = make_corpus(tmp_path, "a red cat", "a black dog")
    settings.OPENSEARCH_URL, settings.OPENSEARCH_PREFIX = opensearch_url, f"test-{time.time_ns()}"
    settings.RETRIEVAL_ENGINE = "opensearch"
    assert keys(search([corpus], "cat")) == ["p1"]
    built = build_index(corpus=corpus)
    assert (built.added, built.passages, built.reason) == (2, 2, "It moved from tantivy to opensearch.")
    corpus = type(corpus).objects.get(pk=corpus.pk)
    assert (corpus.index.engine, corpus.index.state) == ("opensearch", "ready")
    assert not list(folder_of(corpus.index).glob("g*"))
    assert keys(search([corpus], "cat")) == ["p1"]
    settings.RETRIEVAL_ENGINE = "tantivy"
    assert build_index(corpus=corpus).reason == "It moved from opensearch to tantivy."
    assert engine_named("opensearch", corpus).generation() == 0
    assert keys(search([type(corpus).objects.get(pk=corpus.pk)], "dog")) == ["p2"]


@pytest.mark.long
def test_an_index_can_leave_a_server_that_is_gone(tmp_path, settings, on_opensearch):
    corpus = make_corpus(tmp_path, "a red cat")
    settings.OPENSEARCH_URL, settings.RETRIEVAL_ENGINE = "http://127.0.0.1:1", "tantivy"
    assert build_index(corpus=corpus).passages == 1
    assert keys(search([corpus], "cat")) == ["p1"]


@pytest.mark.long
def test_on_opensearch_passages_come_go_and_are_found_as_elsewhere(tmp_path, on_opensearch):
    corpus = make_corpus(tmp_path, "a red cat", "a black dog")
    assert (corpus.index.engine, corpus.index.note) == ("opensearch", "")
    add(corpus, tmp_path, {"id": "new", "text": "a new cat"})
    assert build_index(corpus=corpus).added == 1
    corpora.delete_passages(corpus=corpus, keys=["p1"])
    assert keys(search([corpus], "cat")) == ["new"]
    corpora.remove_corpus(corpus=corpus)
    assert engine_of(corpus).generation() == 0


def test_passages_that_go_while_the_server_is_away_are_not_shown_and_the_index_is_stale(
    tmp_path, settings, on_opensearch, monkeypatch
):
    monkeypatch.setattr(cluster, "READING", 0.0)
    monkeypatch.setattr(cluster, "WRITING", 0.0)
    corpus = make_corpus(tmp_path, "a red cat", "a black cat")
    url, settings.OPENSEARCH_URL = settings.OPENSEARCH_URL, "http://127.0.0.1:1"
    assert corpora.delete_passages(corpus=corpus, keys=["p1"]) == 1
    assert Index.objects.get(corpus=corpus).state == "stale"
    settings.OPENSEARCH_URL = url
    assert keys(search([corpus], "cat")) == ["p2"]
    assert build_index(corpus=corpus).reason == "It held 2 of the first 1 passages."
