"""`manage.py corpus` and `manage.py index`."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from retrieval.models import Corpus, Passage
from tests.retrieval.world import make_project, write

pytestmark = pytest.mark.django_db


def run(*arguments):
    output = StringIO()
    call_command(*map(str, arguments), stdout=output)
    return output.getvalue()


@pytest.fixture
def project():
    return make_project()


def test_from_a_file_to_a_hit(project, tmp_path):
    path = write(tmp_path, {"id": "a", "text": "Cats purr."}, {"id": "b", "text": "Dogs bark."})
    added = run("corpus", "add", project.slug, path, "--slug", "pets", "--licence", "CC0")
    assert added.startswith(f"2 passages added to {project.slug}/pets.")
    assert "pets: 2 passages added, 2 in the index." in run("index", "build", project.slug)
    hits = json.loads(run("index", "search", project.slug, "What purrs?", "--json"))
    assert [(hit["rank"], hit["id"], hit["corpus"]) for hit in hits] == [(1, "a", "pets")]
    assert "pets/a" in run("index", "search", project.slug, "What purrs?", "-k", "1")


def test_a_conversation_is_searched_with_a_system_of_choice_and_notes_stand_beside(project, tmp_path):
    path = write(tmp_path, {"id": "a", "text": "Cats purr."}, {"id": "b", "text": "Dogs bark at cats."})
    run("corpus", "add", project.slug, path, "--slug", "pets")
    run("index", "build", project.slug)
    search = ("index", "search", project.slug, "What purrs?", "--turn", "Who barks at dogs?", "--json")
    hits = json.loads(run(*search, "--ranker", "bm25:cq1"))
    assert [(hit["id"], hit["ranker"]) for hit in hits] == [("b", "bm25:cq1"), ("a", "bm25:cq1")]
    assert [hit["id"] for hit in json.loads(run(*search, "--ranker", "bm25:current"))] == ["a"]
    output, beside = StringIO(), StringIO()
    call_command("index", "search", project.slug, "cats", "--json", stdout=output, stderr=beside)
    assert json.loads(output.getvalue())[0]["ranker"] == "bm25"
    assert "pets has no word proximity network" in beside.getvalue()


def test_list_and_status(project, tmp_path):
    assert "no corpus yet" in run("corpus", "list", project.slug)
    run("corpus", "add", project.slug, write(tmp_path, "Cats purr."), "--slug", "pets", "--licence", "CC0")
    assert "pets" in run("corpus", "list", project.slug)
    listed = json.loads(run("corpus", "list", project.slug, "--json"))
    assert (listed[0]["passages"], listed[0]["licence"], listed[0]["index"]) == (1, "CC0", "stale")
    run("index", "build", project.slug)
    status = json.loads(run("index", "status", project.slug, "--json"))
    assert (status[0]["state"], status[0]["indexed"], status[0]["generation"]) == ("ready", 1, 1)
    assert status[0]["engine"] == "tantivy"
    assert "ready" in run("index", "status", project.slug)


def test_the_corpus_is_named_after_the_file(project, tmp_path):
    path = write(tmp_path, "Cats purr.").rename(tmp_path / "My pages.2024.jsonl")
    run("corpus", "add", project.slug, path)
    assert Corpus.objects.get(project=project).slug == "my-pages"


def test_a_refused_file_leaves_no_corpus_behind(project, tmp_path):
    with pytest.raises(CommandError, match=r"line 2 \[text\]"):
        run("corpus", "add", project.slug, write(tmp_path, "Cats purr.", {"text": ""}))
    assert not Corpus.objects.filter(project=project).exists()


def test_a_second_file_goes_into_the_same_corpus_which_is_removed(project, tmp_path):
    run("corpus", "add", project.slug, write(tmp_path, {"id": "a", "text": "x"}), "--slug", "pets")
    run("corpus", "add", project.slug, write(tmp_path, {"id": "b", "text": "y"}), "--slug", "pets")
    assert Passage.objects.filter(corpus__project=project).count() == 2
    with pytest.raises(CommandError, match="leave out --licence"):
        run("corpus", "add", project.slug, write(tmp_path, "z"), "--slug", "pets", "--licence", "CC0")
    assert "is removed" in run("corpus", "remove", project.slug, "pets")
    assert not Corpus.objects.filter(project=project).exists()


def test_errors_are_sentences(project):
    for arguments, words in (
        (("corpus", "list", "nowhere"), "There is no project 'nowhere'"),
        (("corpus", "remove", "PROJECT", "nothing"), "There is no corpus 'nothing' in .*; there is: none"),
        (("corpus", "add", "PROJECT", "nothing.jsonl"), "No such file"),
        (("index", "build", "PROJECT"), "has no corpus"),
        (("index", "search", "PROJECT", "cats"), "nothing to search yet"),
        (("index", "search", "PROJECT", "cats", "-k", "0"), "-k is at least 1"),
    ):
        with pytest.raises(CommandError, match=words):
            run(*(project.slug if argument == "PROJECT" else argument for argument in arguments))


def test_hostile_text_is_harmless_in_a_terminal(project, tmp_path):
    run("corpus", "add", project.slug, write(tmp_path, "cat \x1b[31m [red]text[/] \u202e"), "--slug", "pets")
    run("index", "build", project.slug)
    shown = run("index", "search", project.slug, "cat")
    assert "\x1b" not in shown and "\u202e" not in shown and "[red]" in shown
