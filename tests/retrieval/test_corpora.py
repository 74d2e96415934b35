"""Corpora: filled, emptied, removed; nothing half of a file."""

import json
import os
import signal
import subprocess
import sys
import tracemalloc

import pytest
from django.conf import settings

from core.projects.models import Event
from retrieval.copies import engine_of, folder_of
from retrieval.errors import CorpusError, FileRefusedError
from retrieval.models import Corpus, Index, Passage
from retrieval.passage_files import open_passages
from retrieval.selectors import searchable
from retrieval.services import corpora
from retrieval.services.corpora import add_passages, create_corpus, delete_passages, remove_corpus
from retrieval.services.indexing import build_index
from tests.jobs.conftest import database_url_of_this_test
from tests.retrieval.world import add, make_corpus, make_project, search, write
from tests.server import ROOT

pytestmark = pytest.mark.django_db


def keys(corpus):
    return sorted(Passage.objects.filter(corpus=corpus).values_list("key", flat=True))


def test_a_corpus_is_made_in_the_projects_language_and_logged_once_by_its_slug():
    project = make_project(language="zh")
    corpus = create_corpus(project=project, slug="pages", licence="CC0")
    assert (corpus.language, corpus.title, corpus.index.generation) == ("zh", "pages", 0)
    assert Event.objects.filter(project=project, action="corpus.created", subject="pages").count() == 1
    with pytest.raises(CorpusError, match="already a corpus 'pages'"):
        create_corpus(project=project, slug="pages")
    with pytest.raises(CorpusError, match="slug"):
        create_corpus(project=project, slug="two words")


def test_all_fields_of_a_passage_are_kept_as_they_are(tmp_path):
    text = "  <b>Text</b> with\u202e direction, \ttabs\r\nand spaces  "
    record = {"id": "a", "text": text, "title": "T", "url": "https://example.org", "start": 3, "end": 9}
    corpus = make_corpus(tmp_path, record, index=False)
    passage = Passage.objects.get(corpus=corpus)
    assert (passage.key, passage.text, passage.title, passage.start, passage.end) == ("a", text, "T", 3, 9)
    assert passage.page == passage.url == "https://example.org"


def test_ids_that_repeat_and_a_fault_far_down_take_everything_back(tmp_path, monkeypatch):
    corpus = make_corpus(tmp_path, index=False)
    with pytest.raises(FileRefusedError, match=r"line 3 \[id\]: the id 'a' is on line 1 already"):
        add(corpus, tmp_path, {"id": "a", "text": "x"}, "y", {"id": "a", "text": "z"})
    assert keys(corpus) == []
    monkeypatch.setattr(corpora, "BATCH", 2)
    with pytest.raises(FileRefusedError, match="line 6"):
        add(corpus, tmp_path, "one", "two", "three", "four", "five", {"id": "six"})
    assert keys(corpus) == []


def test_ids_that_the_corpus_has_are_refused_and_what_came_before_them_is_taken_back(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "BATCH", 2)
    corpus = make_corpus(tmp_path, {"id": "old", "text": "x"})
    with pytest.raises(FileRefusedError, match=r"line 4 \[id\]: the id 'old' is in the corpus already"):
        add(corpus, tmp_path, "one", "two", "three", {"id": "old", "text": "y"}, "five")
    assert keys(corpus) == ["old"]
    corpus.refresh_from_db()
    assert corpus.adding_after is None
    assert add(corpus, tmp_path, "one") == 1


def test_while_passages_are_added_the_new_ones_do_not_count(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "BATCH", 2)
    corpus = make_corpus(tmp_path, {"id": "old", "text": "x"})
    seen = []

    def progress(passages, bytes):
        there = Corpus.objects.get(pk=corpus.pk)
        seen.append((passages, corpora.counting_passages(there).count()))

    add_passages(corpus=corpus, file=open_passages(write(tmp_path, "a", "b", "c")), progress=progress)
    assert seen == [(2, 1), (3, 1)]
    assert corpora.counting_passages(corpus).count() == 4


@pytest.mark.long
def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "many.jsonl"
    with path.open("w") as file:
        for number in range(40_000):
            file.write(json.dumps({"id": number, "text": "some words " * 30}) + "\n")
    corpus = make_corpus(tmp_path, index=False)
    tracemalloc.start()
    try:
        assert add_passages(corpus=corpus, file=open_passages(path)) == 40_000
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_deleted_passages_are_found_no_more_with_an_index_or_without(tmp_path):
    corpus = make_corpus(tmp_path, "a red cat", "a black cat")
    assert delete_passages(corpus=corpus, keys=["p1", "unknown"]) == 1
    assert [hit.passage.key for hit in search([corpus], "cat")] == ["p2"]
    assert Index.objects.get(corpus=corpus).passages == 1
    corpus = make_corpus(tmp_path, "one", "two", index=False)
    assert delete_passages(corpus=corpus, keys=["p1"]) == 1


def test_a_removed_corpus_leaves_neither_rows_nor_files_also_with_a_broken_index(tmp_path):
    corpus = make_corpus(tmp_path, "one")
    (folder_of(corpus.index) / "current").write_text("{")
    remove_corpus(corpus=corpus)
    assert not folder_of(corpus.index).exists()
    corpus = make_corpus(tmp_path, "a red cat")
    folder = folder_of(corpus.index)
    assert folder.is_relative_to(settings.DATA_DIR) and folder.is_dir()
    remove_corpus(corpus=corpus)
    assert (Corpus.objects.filter(slug=corpus.slug).count(), folder.exists()) == (0, False)


def killed(code, *arguments, after):
    """Run code in a process with our settings and kill it when it has printed `after` lines."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import django; django.setup()\n" + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database_url_of_this_test()},
    )
    for _ in range(after):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return process.returncode


ADDING = """
import sys
from pathlib import Path
from retrieval.models import Corpus
from retrieval.passage_files import open_passages
from retrieval.services import corpora
corpora.BATCH = 50
corpora.add_passages(corpus=Corpus.objects.get(pk=int(sys.argv[1])), file=open_passages(Path(sys.argv[2])),
                     progress=lambda passages, bytes: print(passages, flush=True))
"""
BUILDING = """
import sys
from retrieval.engine import analysis, tantivy_engine
from retrieval.models import Corpus
from retrieval.services import indexing
analysis.BATCH, tantivy_engine.COMMIT_EVERY, indexing.READ_AT_ONCE = 50, 100, 50
indexing.build_index(corpus=Corpus.objects.get(pk=int(sys.argv[1])), anew=sys.argv[2] == "anew",
                     progress=lambda passages: print(passages, flush=True))
"""


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_killed_while_adding_nothing_of_the_file_counts_and_it_can_be_added_again(tmp_path):
    corpus = make_corpus(tmp_path, {"id": "old", "text": "an old cat"})
    path = write(tmp_path, *(f"cat number {number}" for number in range(2000)))
    assert killed(ADDING, corpus.pk, path, after=5) == -signal.SIGKILL
    corpus = Corpus.objects.get(pk=corpus.pk)
    assert Passage.objects.filter(corpus=corpus).count() > 200
    assert corpora.counting_passages(corpus).count() == 1
    build_index(corpus=corpus)
    assert [hit.passage.key for hit in search([corpus], "cat")] == ["old"]
    assert add_passages(corpus=corpus, file=open_passages(path)) == 2000
    assert build_index(corpus=corpus).passages == 2001


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("way", ["more", "anew"])
def test_killed_while_building_the_index_answers_and_building_goes_on(tmp_path, way):
    corpus = make_corpus(tmp_path, {"id": "old", "text": "an old cat"})
    add(corpus, tmp_path, *(f"cat number {number}" for number in range(3000)))
    assert killed(BUILDING, corpus.pk, way, after=12) == -signal.SIGKILL
    corpus = Corpus.objects.get(pk=corpus.pk)
    assert [hit.passage.key for hit in search([corpus], "old")] == ["old"]
    held = engine_of(corpus).count()
    assert held >= 400 if way == "more" else held == 1
    built = build_index(corpus=corpus)
    assert (built.added, built.passages, built.reason) == (3001 - held, 3001, "")
    assert engine_of(corpus).highest() == Passage.objects.filter(corpus=corpus).order_by("pk").last().pk


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_killed_in_the_first_build_of_all_nothing_is_searched_and_building_goes_on(tmp_path):
    corpus = make_corpus(tmp_path, *(f"cat number {number}" for number in range(3000)), index=False)
    assert killed(BUILDING, corpus.pk, "more", after=12) == -signal.SIGKILL
    assert searchable(corpus.project) == []
    assert build_index(corpus=corpus).passages == 3000
    assert [each.slug for each in searchable(corpus.project)] == [corpus.slug]
