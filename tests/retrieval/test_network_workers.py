"""Networks counted by real Celery workers, and builds that are killed."""

import os
import signal

import pytest

from core.jobs.models import Job
from retrieval.copies import network_folder, network_of
from retrieval.models import Corpus, WordNetwork
from retrieval.services import sharding
from retrieval.services.networks import build_network
from retrieval.services.sharding import SHARD, over_workers
from tests.jobs.conftest import effect_table, empty_queue, start_worker  # noqa: F401
from tests.retrieval.network.worlds import passages, tree
from tests.retrieval.test_corpora import killed
from tests.retrieval.world import make_corpus

pytestmark = pytest.mark.django_db(transaction=True)

BUILDING = """
import sys
from retrieval.models import Corpus
from retrieval.network import builder
from retrieval.services.networks import build_network
builder.SHARD_PASSAGES = 10
build_network(corpus=Corpus.objects.get(pk=int(sys.argv[1])), anew=True,
              progress=lambda step, passages: print(step, passages, flush=True))
"""


@pytest.fixture
def corpus(tmp_path):
    corpus = make_corpus(tmp_path, *passages(60, seed=8), index=False)
    build_network(corpus=corpus)
    return corpus


def folder_of(corpus):
    return network_folder(WordNetwork.objects.get(corpus=corpus))


@pytest.mark.long
def test_workers_on_the_broker_count_the_shards_and_change_no_byte(corpus, start_worker, monkeypatch):  # noqa: F811
    alone = tree(folder_of(corpus))
    monkeypatch.setattr(sharding, "_do_one", lambda jobs: False)
    for _ in "ab":
        start_worker()
    build_network(corpus=corpus, anew=True, counter=over_workers(5))

    assert Job.objects.filter(kind=SHARD, state="done").count() == 5
    assert tree(folder_of(corpus)) == alone


@pytest.mark.long
def test_a_worker_that_is_killed_takes_no_shard_with_it(corpus, start_worker, monkeypatch):  # noqa: F811
    alone = tree(folder_of(corpus))
    monkeypatch.setattr(sharding, "_do_one", lambda jobs: False)
    monkeypatch.setattr(sharding, "_RECONCILE_SECONDS", 0.5)
    # Looked at more often than a shard takes, so that the worker is met at work on a quick machine, too.
    monkeypatch.setattr(sharding, "_NAP_SECONDS", 0.005)
    first = start_worker()

    def kill_at_work():
        if first.poll() is None and Job.objects.filter(kind=SHARD).exclude(state="queued").exists():
            os.killpg(first.pid, signal.SIGKILL)
            first.wait()
            start_worker()

    build_network(corpus=corpus, anew=True, counter=over_workers(40, still_ours=kill_at_work))

    assert first.returncode == -signal.SIGKILL
    assert tree(folder_of(corpus)) == alone


@pytest.mark.parametrize("lines", [7, *(pytest.param(line, marks=pytest.mark.long) for line in (3, 8))])
def test_killed_while_building_the_old_network_answers_and_the_next_build_leaves_nothing_behind(
    corpus, lines
):
    before = tree(folder_of(corpus))
    assert killed(BUILDING, corpus.pk, after=lines) == -signal.SIGKILL
    corpus = Corpus.objects.get(pk=corpus.pk)
    assert network_of(corpus).generation == 1
    assert network_of(corpus).passages == 60

    assert build_network(corpus=corpus, anew=True).generation == 2
    assert tree(folder_of(corpus)) == before
    assert len(list(folder_of(corpus).iterdir())) == 4
