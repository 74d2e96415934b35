"""Two hosts with a data folder each: what one of them has, the other finds."""

import shutil
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.services import staged_files
from core.storage import shared_store
from distillery.backup_folder import BackupError, Models
from evaluations import model_shelf
from evaluations.errors import EvaluationError
from evaluations.executor import pack, unpack
from metrics.model_folders import choice, opened, write
from metrics.profiles import ADEM
from retrieval.copies import copies_folder, network_of, working_folder
from retrieval.engine import files
from retrieval.errors import BusyError, NotIndexedError
from retrieval.models import Corpus, Index, Passage, WordNetwork
from retrieval.search import search_conversation
from retrieval.services import sharding
from retrieval.services.corpora import delete_passages, remove_corpus, working_on
from retrieval.services.indexing import build_index
from retrieval.services.networks import build_network
from retrieval.services.sharding import SHARD, over_workers
from tests.retrieval.network.worlds import passages
from tests.retrieval.world import add, make_corpus, make_project

pytestmark = pytest.mark.django_db

#: Many files go to the bucket, for a second; other tests have a bucket in each build, and fewer files.
bucket_is_long = pytest.mark.parametrize(
    "shared", ["folder", pytest.param("bucket", marks=pytest.mark.long)], indirect=True
)

RIVERS = "The Rhine flows through Basel."
LAKES = "Lake Constance lies between three countries."


def search_keys(corpus: Corpus, query: str) -> list[str]:
    """Keys of the passages that a search on this host finds, the best one first."""
    fresh = Corpus.objects.select_related("index", "network", "project").get(pk=corpus.pk)
    results = search_conversation([fresh], [query], ranker="bm25", results=5, explain=False).results
    return [result.passage.key for result in results]


def contents(folder: Path) -> list[bytes]:
    """What the files of a network hold, whatever the number of its state."""
    state = (path for path in folder.rglob("*/*") if path.is_file())
    return sorted(path.read_bytes() for path in state)


def stage(project, text=b"id,query\n1,Why?\n"):
    return staged_files.stage(project=project, name="queries.csv", pieces=[text])


def test_an_upload_on_one_host_is_imported_on_another(shared, on_host):
    on_host("web")
    project = make_project()
    file = stage(project)
    on_host("jobs")
    there = staged_files.staged(project=project, sha256=file.sha256)
    assert there is not None
    assert (there.name, there.path.read_bytes()) == ("queries.csv", b"id,query\n1,Why?\n")
    assert there.path != file.path
    staged_files.forget(there)
    on_host("web")
    assert staged_files.staged(project=project, sha256=file.sha256) is None
    assert not file.path.exists()
    assert list(shared_store().names("imports")) == []


def test_an_upload_that_is_damaged_in_the_storage_is_not_imported(shared, on_host, tmp_path):
    on_host("web")
    project = make_project()
    file = stage(project)
    (tmp_path / "other").write_bytes(b"other")
    shared_store().put(f"imports/{project.pk}/{file.sha256}", tmp_path / "other")
    on_host("jobs")
    assert staged_files.staged(project=project, sha256=file.sha256) is None


def test_uploads_of_a_week_ago_leave_the_storage(shared, on_host, monkeypatch):
    on_host("web")
    project = make_project()
    old = stage(project)
    monkeypatch.setattr(staged_files, "KEPT_SECONDS", -60)
    new = stage(project, b"id,query\n2,How?\n")
    on_host("jobs")
    assert staged_files.staged(project=project, sha256=old.sha256) is None
    assert staged_files.staged(project=project, sha256=new.sha256) is not None


def test_an_index_built_on_one_host_is_searched_on_another(shared, on_host, tmp_path):
    on_host("jobs")
    corpus = make_corpus(tmp_path, RIVERS, LAKES)
    web = on_host("web")
    assert search_keys(corpus, "rhine") == ["p1"]
    copy = copies_folder(Index.objects.get(corpus=corpus))
    assert copy.is_relative_to(web)
    shutil.rmtree(copy)  # a copy may go at any time
    assert search_keys(corpus, "constance") == ["p2"]
    assert not working_folder(corpus.index).joinpath("current").exists()


@bucket_is_long
def test_building_goes_on_where_another_host_ended(shared, on_host, tmp_path):
    on_host("one")
    corpus = make_corpus(tmp_path, RIVERS)
    on_host("two")
    add(corpus, tmp_path, {"id": "q1", "text": LAKES})
    built = build_index(corpus=corpus)
    assert (built.added, built.passages, built.reason) == (1, 2, "")
    on_host("one")
    assert search_keys(corpus, "lake") == ["q1"]
    add(corpus, tmp_path, {"id": "q2", "text": "A lake in the north."})
    assert build_index(corpus=corpus).added == 1
    assert search_keys(corpus, "north") == ["q2"]
    delete_passages(corpus=corpus, keys=["q1"])
    on_host("two")
    assert search_keys(corpus, "north") == ["q2"]
    assert search_keys(corpus, "constance") == []
    states = [name for name, _ in shared_store().names(f"indexes/{corpus.index.location}")]
    assert sum(name.endswith(".json") for name in states) == 2
    copies = [each for each in copies_folder(corpus.index).iterdir() if each.is_dir()]
    assert len(copies) <= 2


@bucket_is_long
def test_an_index_that_the_storage_lost_is_built_again(shared, on_host, tmp_path):
    on_host("one")
    corpus = make_corpus(tmp_path, RIVERS)
    for name, _ in list(shared_store().names("indexes")):
        shared_store().delete(name)
    on_host("two")
    with pytest.raises(NotIndexedError, match="not in the shared storage"):
        search_keys(corpus, "rhine")
    assert build_index(corpus=corpus).added == 1
    on_host("one")
    assert search_keys(corpus, "rhine") == ["p1"]


def test_a_corpus_that_is_removed_leaves_nothing_in_the_storage(shared, on_host, tmp_path):
    on_host("one")
    corpus = make_corpus(tmp_path, *passages(20, seed=1))
    build_network(corpus=corpus)
    on_host("two")
    remove_corpus(corpus=Corpus.objects.select_related("index", "project").get(pk=corpus.pk))
    assert list(shared_store().names("indexes")) == []
    assert list(shared_store().names("networks")) == []


@bucket_is_long
def test_a_network_built_on_one_host_answers_on_another_and_grows_there(shared, on_host, tmp_path):
    on_host("one")
    corpus = make_corpus(tmp_path, *passages(60, seed=8), index=False)
    build_network(corpus=corpus)
    working_folder_there = working_folder(WordNetwork.objects.get(corpus=corpus))
    on_host("two")
    network = network_of(corpus)
    assert network is not None
    assert network.passages == 60
    copied = contents(network.folder)
    assert copied
    assert copied == contents(working_folder_there)
    add(corpus, tmp_path, {"id": "new", "text": "the river and the lake"})
    assert build_network(corpus=corpus).added == 1
    on_host("one")
    assert network_of(corpus).passages == 61


@pytest.mark.long
def test_a_shard_counted_on_another_host_changes_no_byte(shared, on_host, tmp_path, monkeypatch):
    here = on_host("one")
    corpus = make_corpus(tmp_path, *passages(60, seed=8), index=False)
    build_network(corpus=corpus)
    alone = contents(working_folder(WordNetwork.objects.get(corpus=corpus)))
    do_one = sharding._do_one

    def on_the_other(jobs):
        on_host("two")
        try:
            return do_one(jobs)
        finally:
            on_host(here.name)

    monkeypatch.setattr(sharding, "_do_one", on_the_other)
    build_network(corpus=corpus, anew=True, counter=over_workers(3))
    assert contents(working_folder(WordNetwork.objects.get(corpus=corpus))) == alone
    assert list(shared_store().names("shards")) == []
    assert sharding.Job.objects.filter(kind=SHARD, state="done").count() == 3


def test_two_hosts_never_change_a_corpus_at_once(shared, on_host, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "PATIENCE", 0.0)
    on_host("one")
    corpus = make_corpus(tmp_path, RIVERS)
    with working_on(corpus) as lease:
        on_host("two")
        with pytest.raises(BusyError, match="Another host works on the corpus"), working_on(corpus):
            pass
        Corpus.objects.filter(pk=corpus.pk).update(held_until=timezone.now() - timedelta(seconds=1))
        with working_on(corpus):
            assert not lease.is_ours()
            with pytest.raises(BusyError, match="took over"), lease.guarded():
                Passage.objects.all().delete()
    assert Passage.objects.filter(corpus=corpus).count() == 1
    assert Corpus.objects.get(pk=corpus.pk).held_by == ""


def test_what_a_killed_process_of_this_host_held_is_free_at_once(shared, on_host, tmp_path, monkeypatch):
    from core.storage import host_id

    monkeypatch.setattr(files, "PATIENCE", 0.0)
    on_host("one")
    corpus = make_corpus(tmp_path, RIVERS)
    later = timezone.now() + timedelta(hours=1)
    Corpus.objects.filter(pk=corpus.pk).update(held_by=f"{host_id()}:dead", held_until=later)
    with working_on(corpus):
        pass


def test_an_installation_that_gets_a_second_host_publishes_what_it_has(
    shared, settings, on_host, tmp_path, capsys
):
    storage, settings.DATA_STORAGE = settings.DATA_STORAGE, ""
    on_host("one")
    corpus = make_corpus(tmp_path, RIVERS)
    file = stage(corpus.project)
    settings.DATA_STORAGE = storage
    call_command("storage", "publish")
    on_host("two")
    assert search_keys(corpus, "rhine") == ["p1"]
    assert staged_files.staged(project=corpus.project, sha256=file.sha256) is not None
    assert f"{corpus.project.slug}/{corpus.slug}: published" in capsys.readouterr().out


def test_a_model_chosen_on_one_host_scores_on_another(shared, on_host):
    here = on_host("web")
    folder = here / "models" / "rivers"

    def fill(made: Path) -> None:
        (made / "weights.bin").write_bytes(b"weights")
        (made / "deep").mkdir()
        (made / "deep" / "words.txt").write_text("rhine\n")

    write(folder, ADEM, {}, {}, fill)
    [kept] = model_shelf.shelf()
    model_shelf.publish(kept)
    kind, chosen = choice(folder)
    packed = pack(chosen)
    there = on_host("jobs")
    [listed] = model_shelf.shelf()
    assert (listed.kind, listed.digest, listed.when) == (kept.kind, kept.digest, kept.when)
    assert not (there / "models").exists()  # a list fetches nothing: pages show it
    moved = unpack(packed)
    assert moved.folder == str(there.resolve() / "models" / "rivers")
    assert opened(Path(moved.folder), kind, chosen.digest).digest == kept.digest
    assert [(each.name, each.bundle) for each in model_shelf.shelf()] == [("rivers", "")]


def test_a_model_whose_published_files_are_gone_is_refused_in_words(shared, on_host):
    write(on_host("web") / "models" / "rivers", ADEM, {}, {}, lambda made: (made / "w").write_bytes(b"w"))
    [kept] = model_shelf.shelf()
    model_shelf.publish(kept)
    for name in [name for name, _ in shared_store().names("models/rivers/files")]:
        shared_store().delete(name)
    there = on_host("jobs")
    [listed] = model_shelf.shelf()
    with pytest.raises(EvaluationError, match="The model rivers cannot be fetched"):
        model_shelf.fetch_files(listed)
    with pytest.raises(BackupError, match="The model rivers cannot be fetched"):
        list(Models().paths())
    assert not (there / "models" / "rivers").exists()
