"""`manage.py wpn`."""

import json

import pytest
from django.core.management import CommandError

from core.jobs.models import Job
from retrieval.copies import network_of
from retrieval.models import WordNetwork
from retrieval.services.sharding import SHARD
from tests.retrieval.network.worlds import passages
from tests.retrieval.test_commands import run
from tests.retrieval.world import make_corpus, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(tmp_path):
    return make_corpus(tmp_path, *passages(120, seed=1), slug="texts", index=False)


@pytest.fixture
def name(corpus):
    return f"{corpus.project.slug}/texts"


def test_a_network_is_built_and_looked_at(corpus, name):
    [status] = json.loads(run("wpn", "status", name, "--json"))
    assert (status["state"], status["built_at"]) == ("none", "never")
    built = run("wpn", "build", name)
    assert built.startswith("texts: 120 passages counted, 0 taken off; 120 passages, ")
    assert "Built anew: There was none." in built
    assert run("wpn", "build", name).startswith("texts: 0 passages counted, 0 taken off; ")
    [status] = json.loads(run("wpn", "status", name, "--json"))
    facts = (status["corpus"], status["state"], status["generation"], status["passages"])
    assert facts == ("texts", "ready", 1, 120)
    assert "ready" in run("wpn", "status", corpus.project.slug)
    found = json.loads(run("wpn", "calibrate", name, "--target", "2", "--json"))
    assert found["neighbours"] <= 2 < network_of(corpus).neighbours(found["alpha"] - 0.01)
    assert f"node threshold of {found['alpha']:.2f}" in run("wpn", "calibrate", name, "--target", "2")
    found = json.loads(run("wpn", "neighbours", name, "Doctor", "unknownword", "-k", "3", "--json"))
    hospital = {"nurse", "patient", "ward", "treats", "visits", "heals", "bed", "ill", "medicine"}
    assert {near["word"] for near in found["Doctor"]["similar"]} <= hospital
    assert {near["word"] for near in found["Doctor"]["next_to"]} <= hospital
    assert len(found["Doctor"]["next_to"]) == 3
    assert found["unknownword"] == {"similar": [], "next_to": []}
    shown = run("wpn", "neighbours", name, "doctor", "unknownword")
    assert "next to it" in shown
    assert "The network knows no neighbours of 'unknownword'." in shown
    WordNetwork.objects.filter(corpus=corpus).update(state="building")
    [status] = json.loads(run("wpn", "status", name, "--json"))
    assert status["state"] == "broken off", "where a build was killed"


def test_a_corpus_may_be_named_by_its_slug_while_no_other_has_it(corpus, tmp_path):
    assert run("wpn", "build", "texts").startswith("texts: 120 passages counted")
    other = make_corpus(tmp_path, "other words", slug="texts", index=False)
    both = ", ".join(sorted(f"{each.project.slug}/texts" for each in (corpus, other)))
    with pytest.raises(CommandError, match=f"There are several corpora 'texts': {both}"):
        run("wpn", "build", "texts")


def test_all_corpora_of_a_project_are_built(corpus, tmp_path):
    make_corpus(tmp_path, "other words", slug="others", project=corpus.project, index=False)
    facts = json.loads(run("wpn", "build", corpus.project.slug, "--json"))

    assert [(each["corpus"], each["passages"]) for each in facts] == [("others", 1), ("texts", 120)]


@pytest.mark.long
def test_shards_and_processes_build_it_too(corpus, name):
    run("wpn", "build", name, "--shards", "3")
    assert Job.objects.filter(kind=SHARD, state="done").count() == 3
    assert json.loads(run("wpn", "build", name, "--anew", "--processes", "2", "--json"))[0]["added"] == 120


def test_vectors_of_a_file_take_the_place_of_its_own(corpus, name, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("doctor 1 0\nnurse 0.9 0.1\nengine 0 1\n")
    run("wpn", "build", name, "--vectors", path)
    network = network_of(corpus)
    assert network.vectors.facts.source == "vectors.txt"
    assert network.similarities(["doctor"], ["engine"]).tolist() == [[0.0]]

    run("wpn", "build", name)
    assert network_of(corpus).generation == 1, "the next build keeps the options"
    run("wpn", "build", name, "--vectors", "own")
    assert network_of(corpus).vectors.facts.source == "ppmi-svd"


def test_faults_are_told_in_words(corpus, name):
    for arguments, words in (
        (["build", "nowhere"], "There is no corpus 'nowhere'. Name one as PROJECT/SLUG."),
        (["build", "nowhere/texts"], "There is no project 'nowhere'."),
        (["build", "{project}/none"], "There is no corpus 'none'"),
        (["build", "{name}", "--min-count", "0"], "--processes and --min-count are at least 1."),
        (["build", "{name}", "--shards", "0"], "--shards is at least 1."),
        (["build", "{name}", "--vectors", "/nowhere.vec"], "nowhere.vec was not imported."),
        (["neighbours", "{name}", "word"], "There is no word proximity network yet."),
        (["calibrate", "{name}", "--target", "nan"], "There is no word proximity network yet."),
        (["neighbours", "{project}", "word"], "There is no word proximity network yet."),
        (["build", make_project().slug], "There is no corpus yet"),
    ):
        words_of_command = [each.format(name=name, project=corpus.project.slug) for each in arguments]
        with pytest.raises(CommandError, match=words):
            run("wpn", *words_of_command)
