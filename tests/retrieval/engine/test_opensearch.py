"""What is said to OpenSearch, and what happens when it says no. Over HTTP; nothing here is about tantivy."""

import json
import threading
import time

import pytest

from retrieval.engine import cluster, files, opensearch
from retrieval.engine.cluster import Cluster
from retrieval.engine.opensearch import OpenSearchEngine
from retrieval.errors import (
    BusyError,
    CorpusError,
    EngineError,
    IndexBrokenError,
    NoRoomError,
    NotIndexedError,
)
from tests.retrieval.engine.opensearch.server import HANG_UP, refusal, serving, slowly
from tests.retrieval.engine.test_engine import CATS, found

NAME = "distillery-7-abcd"


@pytest.fixture
def server():
    with serving() as stub:
        yield stub


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(cluster, "PAUSE", 0.01)


@pytest.fixture
def engine(server):
    return engine_at(server)


def engine_at(server, **options):
    return OpenSearchEngine(Cluster(server.url), NAME, "en", what="the index of 'books'", **options)


def test_a_generation_has_our_words_and_a_search_is_a_disjunction_of_weighted_terms(server, engine):
    engine.index([(5, "Two cats, and the CAFÉ.")])
    [asked] = server.asked("PUT /distillery-7-abcd-g1")
    assert json.loads(asked.body) == {
        "settings": {
            "index": {
                "number_of_shards": 1,
                "auto_expand_replicas": "0-1",
                "similarity": {"default": {"type": "BM25", "k1": 1.2, "b": 0.75}},
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_source": {"enabled": False},
            "_meta": {"chain": "english-1", "scale": 1.0},
            "properties": {
                "pk": {"type": "long"},
                "body": {"type": "text", "analyzer": "whitespace", "index_options": "freqs"},
            },
        },
        "aliases": {NAME: {}},
    }
    [loaded] = server.asked("POST /distillery-7-abcd-g1/_bulk")
    assert [json.loads(line) for line in loaded.body.splitlines()] == [
        {"index": {"_id": "5"}},
        {"pk": 5, "body": "two cat and the cafe"},
    ]
    engine.index(CATS)
    engine.search({"dog": 0.5, "cat": 1.0}, 100)
    [asked] = server.asked("POST .*/_search")
    assert asked.path == f"/{NAME}/_search"
    assert asked.parameters == {
        "search_type": "dfs_query_then_fetch",
        "allow_partial_search_results": "false",
        "filter_path": "hits.hits._id,hits.hits._score,hits.hits._index",
    }
    assert json.loads(asked.body) == {
        "query": {
            "bool": {
                "should": [
                    {"term": {"body": {"value": "cat", "boost": 1.0}}},
                    {"term": {"body": {"value": "dog", "boost": 0.5}}},
                ],
                "minimum_should_match": 1,
            }
        },
        "sort": [{"_score": "desc"}, {"pk": "asc"}],
        "size": 100,
        "track_total_hits": False,
        "_source": False,
    }
    weights = {f"word{number}": 0.5 for number in range(2_000)} | {"cat": 1.0}
    assert [hit.pk for hit in engine.search(weights, 5)] == [2, 5, 1]
    engine.rebuild([(4, "A newer cat.")])
    [asked] = server.asked("POST /_aliases")
    assert json.loads(asked.body) == {
        "actions": [
            {"remove": {"index": f"{NAME}-g1", "alias": NAME}},
            {"add": {"index": f"{NAME}-g2", "alias": NAME}},
        ]
    }
    assert set(server.store.indexes) == {f"{NAME}-g2", "distillery-locks"}


def test_scores_are_on_the_scale_of_tantivy_whatever_the_version():
    for version in ("2.19.1", "3.3.0"):
        with serving(version) as server:
            engine = engine_at(server)
            engine.index([(1, "cat cat dog"), (2, "dog bird fish"), (3, "fish fish fish")])
            assert engine.search({"cat": 1.0}, 1)[0].score == pytest.approx(0.9808293 * 2 * 2.2 / 3.2)


def test_the_number_of_shards_is_the_operators(server):
    engine_at(server, shards=4).index(CATS)
    assert server.store.indexes[f"{NAME}-g1"].settings["number_of_shards"] == 4


def test_a_load_goes_in_requests_of_limited_size(server, engine, monkeypatch):
    monkeypatch.setattr(opensearch, "MOST_DOCUMENTS", 4)
    monkeypatch.setattr(opensearch, "MOST_BYTES", 200)
    engine.index([*((number, "cat") for number in range(1, 10)), (10, "bird " * 30), (11, "cat")])
    sizes = [len(asked.body.splitlines()) // 2 for asked in server.asked("_bulk")]
    assert sizes == [4, 4, 1, 1, 1]
    assert engine.count() == 11


def test_passages_that_are_turned_away_for_the_moment_are_sent_again_and_no_others(
    server, engine, monkeypatch
):
    refused = {"type": "rejected_execution_exception", "reason": "queue is full"}
    items = [
        {"index": {"status": 201}},
        {"index": {"status": 429, "error": refused}},
        {"index": {"status": 201}},
    ]
    server.next("_bulk", (200, {"errors": True, "items": items}))
    assert engine.index(CATS) == 3
    first, again = server.asked("_bulk")
    assert len(first.body.splitlines()) == 6
    assert json.loads(again.body.splitlines()[0]) == {"index": {"_id": "2"}}
    assert len(again.body.splitlines()) == 2
    error = {"type": "mapper_parsing_exception", "reason": "failed to parse field [pk]"}
    server.next("_bulk", (200, {"errors": True, "items": [{"index": {"status": 400, "error": error}}]}))
    with pytest.raises(EngineError, match=r"refused 1 passages: mapper_parsing_exception, failed to parse"):
        engine.index([(4, "cat")])
    monkeypatch.setattr(cluster, "WRITING", 0.1)
    busy = {"index": {"status": 429, "error": {"type": "rejected_execution_exception"}}}
    server.next("_bulk", (200, {"errors": True, "items": [busy] * 3}), times=50)
    with pytest.raises(EngineError, match="too busy: it still turned away 1 passages"):
        engine.index([(5, "cat")])


@pytest.mark.long
@pytest.mark.parametrize("fault", [refusal(429, "circuit_breaking_exception"), (503, {}), (502, {}), HANG_UP])
def test_what_is_turned_away_as_a_whole_is_asked_again(server, engine, fault):
    for pattern in ("_bulk", "_refresh", "_search", "PUT .*-g1"):
        server.next(pattern, fault, times=2)
    assert engine.index(CATS) == 3
    assert found(engine, "cats") == [2, 1]


def test_an_answer_that_was_lost_does_no_harm(server, engine, monkeypatch):
    """The server has done it, but the answer comes too late: the same is asked once more."""
    monkeypatch.setattr(cluster, "ANSWER_WRITING", 0.2)
    engine.index(CATS[:2])

    def done_but_slow(asked):
        server.store.indexes[f"{NAME}-g1"].keep("3", {"pk": 3, "body": "rain fell in spain"})
        time.sleep(0.4)
        return 200, {"errors": False, "items": []}

    server.next("_bulk", done_but_slow)
    engine.index(CATS[2:])
    assert engine.count() == 3


def test_an_alias_that_moved_although_the_answer_was_lost_has_moved(server, engine):
    engine.index(CATS)

    def done_but_lost(asked):
        server.store.update_aliases(json.loads(asked.body)["actions"])
        return HANG_UP

    server.next("_aliases", done_but_lost)
    assert engine.rebuild(CATS[:1]) == 1
    assert (engine.generation(), engine.count()) == (2, 1)


def test_a_server_that_refuses_is_too_busy_or_too_slow_says_so(server, engine, monkeypatch):
    engine.index(CATS)
    for fault, why in (
        (refusal(403, "security_exception"), "does not let this user do that"),
        (
            refusal(500, "null_pointer_exception", "oh dear"),
            r"it says: 500 null_pointer_exception, oh dear\.",
        ),
    ):
        server.next("_mapping", fault)
        with pytest.raises(EngineError, match=why):
            engine_at(server).count()
    monkeypatch.setattr(cluster, "READING", 0.1)
    server.next("_search", refusal(429, "circuit_breaking_exception"), times=50)
    with pytest.raises(EngineError, match="is too busy, and still was after several tries"):
        found(engine, "cats")


def test_a_search_that_takes_too_long_says_so(server, engine, monkeypatch):
    engine.index(CATS)
    monkeypatch.setattr(cluster, "READING", 0.0)
    monkeypatch.setattr(cluster, "ANSWER_READING", 0.1)
    server.next("_search", slowly(0.5))
    with pytest.raises(EngineError, match="did not answer in time"):
        found(engine, "cats")


def test_a_server_that_is_not_there_says_where_it_was_looked_for_without_the_password(monkeypatch):
    monkeypatch.setattr(cluster, "READING", 0.05)
    engine = OpenSearchEngine(Cluster("http://ada:secret@127.0.0.1:1"), NAME, "en")
    with pytest.raises(EngineError) as raised:
        engine.count()
    assert str(raised.value) == (
        "OpenSearch at http://127.0.0.1:1 does not answer. "
        "Check that it runs and that OPENSEARCH_URL is right."
    )


def test_user_and_password_of_the_address_are_sent_and_wrong_ones_not_tried_again():
    with serving(user="ada:s3cret") as server:
        assert engine_at(server).index(CATS) == 3
        server.url = server.url.replace("s3cret", "guess")
        with pytest.raises(EngineError, match="does not know the user or the password in OPENSEARCH_URL"):
            engine_at(server).count()
    with pytest.raises(CorpusError, match="OPENSEARCH_URL is not set"):
        Cluster(" , ")


def test_a_full_disk_is_told_at_once_and_the_old_generation_answers(server, engine):
    engine.index(CATS)
    server.next("PUT .*-g2", lambda asked: None)
    blocked = {
        "type": "cluster_block_exception",
        "reason": "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark];",
    }
    answer = {"errors": True, "items": [{"index": {"status": 429, "error": blocked}}] * 3}
    server.next("_bulk", (200, answer))
    with pytest.raises(NoRoomError, match=r"most likely as a disk of it is full .*flood-stage"):
        engine.rebuild(CATS)
    assert found(engine, "cats") == [2, 1]
    assert set(server.store.indexes) == {f"{NAME}-g1", "distillery-locks"}


def test_an_index_under_the_name_of_the_alias_is_told_apart(server, engine):
    """Writing to a name that is not there makes OpenSearch create it."""
    server.store.create(NAME, {})
    with pytest.raises(IndexBrokenError, match=r"is no alias of one index.*Delete it there"):
        engine.count()


@pytest.mark.long
def test_a_generation_by_other_rules_for_words_wants_to_be_built_again(server, engine):
    engine.index(CATS)
    french = OpenSearchEngine(Cluster(server.url), NAME, "fr", what="the index of 'books'")
    for ask in (french.count, lambda: french.search({"cat": 1.0}, 3), lambda: french.index(CATS)):
        with pytest.raises(IndexBrokenError, match=r"words by other rules \(english-1\)"):
            ask()
    french.rebuild(CATS)
    assert french.count() == 3


def test_other_indexes_of_the_server_are_left_alone(server, engine):
    for name in ("somebody-elses", f"{NAME}0-g1", f"{NAME}-games"):
        server.store.create(name, {})
    engine.index(CATS)
    engine.rebuild(CATS)
    engine.drop()
    assert set(server.store.indexes) == {
        "somebody-elses",
        f"{NAME}0-g1",
        f"{NAME}-games",
        "distillery-locks",
    }


def waiting_passages(started, going_on):
    yield 1, "cat"
    started.set()
    going_on.wait(10)


def test_a_second_writer_on_another_machine_is_told_who_writes(server, engine, monkeypatch):
    started, going_on = threading.Event(), threading.Event()
    first = threading.Thread(target=engine.index, args=(waiting_passages(started, going_on),))
    first.start()
    started.wait(10)
    monkeypatch.setattr(files, "PATIENCE", 0.3)
    try:
        with pytest.raises(BusyError, match=r"Another process \(number \d+ on .*writes the index of 'books'"):
            engine_at(server).index([(2, "dog")])
    finally:
        going_on.set()
        first.join()
    assert engine_at(server).index([(2, "dog")]) == 1


def test_a_writer_that_died_is_followed_when_it_gave_no_sign_for_a_while(server, engine, monkeypatch):
    monkeypatch.setattr(opensearch, "LEASE", 0.3)
    engine.index(CATS)
    server.store.indexes["distillery-locks"].keep(NAME, {"owner": "number 1 on a dead machine"})
    assert engine.index([(4, "A fourth cat.")]) == 1
    assert NAME not in server.store.indexes["distillery-locks"].written


@pytest.mark.long
def test_a_writer_that_gives_signs_is_not_followed(server, engine, monkeypatch):
    monkeypatch.setattr(opensearch, "LEASE", 0.5)
    started, going_on = threading.Event(), threading.Event()
    first = threading.Thread(target=engine.index, args=(waiting_passages(started, going_on),))
    first.start()
    started.wait(10)
    monkeypatch.setattr(files, "PATIENCE", 1.2)
    try:
        with pytest.raises(BusyError):
            engine_at(server).index([(2, "dog")])
    finally:
        going_on.set()
        first.join()


def test_a_writer_that_was_followed_stops_writing(server, engine, monkeypatch):
    monkeypatch.setattr(opensearch, "LEASE", 0.1)
    engine.index(CATS)

    def passages():
        yield 4, "cat"
        server.store.indexes["distillery-locks"].keep(NAME, {"owner": "somebody else"})
        time.sleep(0.3)

    with pytest.raises(BusyError, match="Another process took over writing the index of 'books'"):
        engine.index(passages())
    assert engine.count() == 3
    assert server.store.indexes["distillery-locks"].written[NAME].source == {"owner": "somebody else"}


def test_a_lease_whose_answer_was_lost_is_still_held(server, engine, monkeypatch):
    """Taking it, then renewing it: done, but the answer does not arrive, and the second try is refused."""
    monkeypatch.setattr(opensearch, "LEASE", 0.2)
    locks = "distillery-locks"

    def done_but_lost(asked):
        server.store.indexes[locks].keep(NAME, json.loads(asked.body))
        return HANG_UP

    server.next(f"PUT /{locks}/_create", done_but_lost)
    server.next(f"PUT /{locks}/_doc", done_but_lost)

    def passages():
        yield 1, "cat"
        time.sleep(0.4)
        yield 2, "cat"

    assert engine.index(passages()) == 2
    assert len(server.asked(f"PUT /{locks}/_doc")) >= 2
    assert server.store.indexes[locks].written == {}


def test_what_a_killed_rebuild_left_and_a_foreign_index_under_the_name_are_told_apart(engine, server):
    with pytest.raises(NotIndexedError, match="index build"):
        engine.delete([1])
    server.next("PUT .*-g1", refusal(403, "cluster_block_exception", "index create blocked"))
    with pytest.raises(NoRoomError):
        engine.index(CATS)
    engine.index(CATS)
    server.store.create(f"{NAME}-g2", {})
    engine.rebuild(CATS)
    assert set(server.store.indexes) == {f"{NAME}-g3", "distillery-locks"}
