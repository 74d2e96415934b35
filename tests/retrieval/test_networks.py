"""Networks of corpora: built, kept up to date, shared, stale, broken off."""

import pytest

from core.jobs.errors import PermanentError, StoppingError
from core.jobs.models import Job
from core.jobs.runner import run
from core.jobs.services import enqueue
from core.projects.models import Event
from retrieval.copies import network_folder, network_of
from retrieval.errors import BusyError, FileRefusedError, RetrievalError
from retrieval.models import WordNetwork
from retrieval.ranking.base import columns
from retrieval.services.corpora import delete_passages, remove_corpus, working_on
from retrieval.services.networks import Options, build_network
from retrieval.services.sharding import SHARD, as_many_as_needed, over_workers, together
from retrieval.tokens import with_title
from tests.retrieval.network.worlds import passages, tree
from tests.retrieval.world import add, make_corpus

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(tmp_path):
    return make_corpus(tmp_path, *passages(40, seed=1), index=False)


def state(corpus):
    return WordNetwork.objects.get(corpus=corpus)


def test_a_network_is_built_once_and_its_row_says_what_it_holds(corpus):
    assert network_of(corpus) is None
    built = build_network(corpus=corpus)
    row, network = state(corpus), network_of(corpus)
    assert (built.added, built.passages, built.reason) == (40, 40, "There was none.")
    assert (row.state, row.passages, row.generation) == ("ready", 40, 1)
    assert (row.words, row.edges) == (network.word_count, network.edge_count)
    assert row.last_passage == corpus.passages.latest("pk").pk
    assert row.built_at is not None
    assert row.options["neighbours"] == round(network.neighbours(0.75), 2)
    assert (row.options["source"], row.options["rules"]) == ("ppmi-svd", network.pointer.rules)
    assert row.options["words_with_vectors"] == network.vectors.facts.words
    assert network_of(corpus) is network, "the process shares what it has open"
    again = build_network(corpus=corpus)
    assert (again.added, again.removed, again.generation, again.reason) == (0, 0, 1, "")
    assert Event.objects.filter(action="network.built", subject=corpus.slug).count() == 1


def test_passages_that_come_and_go_make_it_stale_and_a_build_follows_them(corpus, tmp_path):
    build_network(corpus=corpus)
    add(corpus, tmp_path, {"id": "new", "text": "Quantum computers compute quickly."})
    assert state(corpus).state == "stale"
    built = build_network(corpus=corpus)
    assert (built.added, built.removed, built.passages, built.generation) == (1, 0, 41, 2)
    assert state(corpus).state == "ready"
    assert network_of(corpus).associations(["quantum"], ["computers"]) == pytest.approx([1.0])
    delete_passages(corpus=corpus, keys=["p1", "p2"])
    assert state(corpus).state == "stale"
    built = build_network(corpus=corpus)
    assert (built.added, built.removed, built.passages) == (0, 2, 39)
    grown = network_of(corpus)
    build_network(corpus=corpus, anew=True)
    anew = network_of(corpus)
    words = ["bread", "salt", "doctor", "nurse", "engine", "oil"]
    pairs = [(a, b) for a in words for b in words if a < b]
    one, two = zip(*pairs, strict=True)
    assert grown.associations(one, two) == pytest.approx(anew.associations(one, two), nan_ok=True)
    assert grown.idf(words) == pytest.approx(anew.idf(words))
    assert anew.generation > grown.generation
    add(corpus, tmp_path, *({"id": f"n{i}", "text": text} for i, text in enumerate(passages(20, seed=9))))
    assert build_network(corpus=corpus).reason == "It had 39 of 59 passages.", "with vectors of theirs"


def test_other_options_build_it_anew_and_are_kept(corpus):
    build_network(corpus=corpus)
    built = build_network(corpus=corpus, options=Options(least_count=3))

    assert built.reason == "Other options were asked for."
    assert state(corpus).options["least_count"] == 3
    assert build_network(corpus=corpus).reason == ""


def test_damaged_files_are_built_anew_with_further_numbers_of_generations(corpus):
    build_network(corpus=corpus)
    (network_of(corpus).segments[0].folder / "keys").write_bytes(b"")
    assert build_network(corpus=corpus).reason.startswith("The files could not be used: ")
    assert (network_of(corpus).passages, state(corpus).generation) == (40, 2)
    path = network_of(corpus).segments[0].folder / "counts"
    path.write_bytes(b"\x07" + path.read_bytes()[1:])
    assert "damaged: counts has changed" in build_network(corpus=corpus).reason
    (network_folder(state(corpus)) / "current").write_text("")
    assert build_network(corpus=corpus).generation == 4
    assert build_network(corpus=corpus).reason == ""


def test_a_title_is_a_sentence_before_the_text(tmp_path):
    record = {"id": "p1", "title": "Moon landings", "text": "People landed in 1969. They came back."}
    corpus = make_corpus(tmp_path, record, index=False)
    build_network(corpus=corpus)
    stored = network_of(corpus).columns([corpus.passages.get().pk], numbers=True)
    cut = columns([with_title(record["title"], record["text"])], "en", numbers=True)

    assert [stored.words[token] for token in stored.tokens] == [cut.words[token] for token in cut.tokens]
    assert stored.sentence.tolist() == cut.sentence.tolist() == [1, 1, 2, 2, 2, 3, 3]


def test_a_build_that_fails_says_why_and_the_old_network_answers(corpus, tmp_path, monkeypatch):
    build_network(corpus=corpus)
    with pytest.raises(FileRefusedError):
        build_network(corpus=corpus, options=Options(vectors=tmp_path / "nowhere.vec"))

    assert state(corpus).state == "failed"
    assert "nowhere.vec" in state(corpus).note
    assert network_of(corpus).passages == 40
    monkeypatch.setattr("retrieval.engine.files.PATIENCE", 0.1)
    with working_on(corpus), pytest.raises(BusyError):
        build_network(corpus=corpus)


def test_a_removed_corpus_takes_its_network_along(tmp_path):
    corpus = make_corpus(tmp_path, "some words here")
    build_network(corpus=corpus)
    folder = network_folder(state(corpus))
    remove_corpus(corpus=corpus)

    assert not folder.exists()
    assert not WordNetwork.objects.filter(location=folder.name).exists()


def test_passages_of_an_addition_that_is_not_complete_do_not_count(corpus):
    corpus.adding_after = corpus.passages.order_by("pk")[9].pk
    corpus.save(update_fields=["adding_after"])

    assert build_network(corpus=corpus).passages == 10


def test_shards_are_jobs_that_the_builder_does_itself_or_in_processes_when_nobody_else_is_there(corpus):
    build_network(corpus=corpus)
    alone = tree(network_folder(state(corpus)))
    build_network(corpus=corpus, anew=True, counter=over_workers(7))
    assert tree(network_folder(state(corpus))) == alone
    jobs = Job.objects.filter(kind=SHARD)
    assert [job.state for job in jobs] == ["done"] * 7
    assert sum(job.progress_done for job in jobs) == 40
    build_network(corpus=corpus, anew=True, counter=together(2))
    assert tree(network_folder(state(corpus))) == alone


@pytest.mark.long
def test_a_large_corpus_is_counted_in_as_many_shards_as_it_needs(corpus, monkeypatch):
    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 15)
    build_network(corpus=corpus, counter=as_many_as_needed)
    assert Job.objects.filter(kind=SHARD, state="done").count() == 3

    monkeypatch.setattr("retrieval.network.builder.SHARD_PASSAGES", 50)
    build_network(corpus=corpus, counter=as_many_as_needed, anew=True)
    assert Job.objects.filter(kind=SHARD).count() == 3


def test_more_shards_than_passages_are_as_many_as_passages(tmp_path):
    corpus = make_corpus(tmp_path, "one text", "another text", index=False)
    build_network(corpus=corpus, counter=over_workers(9))
    assert Job.objects.filter(kind=SHARD).count() == 2
    assert network_of(corpus).passages == 2
    corpus = make_corpus(tmp_path, index=False)
    build_network(corpus=corpus, counter=over_workers(3))
    assert network_of(corpus).passages == 0


def test_a_shard_that_cannot_be_counted_ends_the_build_in_words(corpus, monkeypatch):
    def refuse(*given):
        raise PermanentError("No room on the disk.")

    monkeypatch.setattr("retrieval.tasks.count_one", refuse)
    with pytest.raises(RetrievalError, match=r"could not be counted. No room on the disk."):
        build_network(corpus=corpus, counter=over_workers(3))

    assert state(corpus).state == "failed"
    assert not Job.objects.filter(kind=SHARD, state__in=["queued", "running"]).exists()


def test_shards_of_builds_that_fail_are_called_off_or_are_over_count_nothing(corpus, tmp_path):
    def stop():
        raise StoppingError("the worker stops")

    with pytest.raises(StoppingError):
        build_network(corpus=corpus, counter=over_workers(3, still_ours=stop))
    assert {job.state for job in Job.objects.filter(kind=SHARD)} == {"cancelled"}
    payload = {"corpus": corpus.pk, "scratch": "networks/gone", "number": 0, "after": 0, "upto": 9}
    job = enqueue(kind=SHARD, payload=payload)
    run(job_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The build that wanted this shard is over.")
