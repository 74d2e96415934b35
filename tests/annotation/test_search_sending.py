"""A question of the search page becomes a query with its candidates, once, and says where they come from."""

import pytest
from django.contrib.auth.models import User

from annotation.importing.records import plain_digest, query_digest
from annotation.models import CandidatePassage, Query, QuerySource, QueryStep
from annotation.services.candidates import AlreadySentError, send_to_curation
from core.projects.models import Event
from crowd.errors import CrowdError
from retrieval.models import Passage
from retrieval.search import FoundAnswer, FoundPassage
from tests.annotation.world import make_candidates, make_query
from tests.cases import apart
from tests.retrieval.world import make_corpus, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def corpus(tmp_path):
    texts = ("A cat sat on a mat.", "a cat sat on a mat", "Another cat slept.", "A dog barked.")
    return make_corpus(tmp_path, *texts, slug="pets", index=False)


@pytest.fixture
def actor():
    return User.objects.create_user("irena")


def found_in(corpus, *keys):
    passages = {passage.key: passage for passage in Passage.objects.filter(corpus=corpus)}
    return FoundAnswer(
        ranker="balanced",
        parameters={"alpha": 0.75},
        generations={corpus.slug: {"index": 3, "network": 2}},
        terms={"cat": 1.0},
        results=[
            FoundPassage(rank, 1 / rank, {"bm25": 0.5}, corpus.slug, passages[key])
            for rank, key in enumerate(keys, 1)
        ],
    )


def send(corpus, actor, *turns, keys=("p1", "p2", "p3", "p4"), keep=2):
    return send_to_curation(
        project=corpus.project, turns=turns, answer=found_in(corpus, *keys), keep=keep, actor=actor
    )


def test_a_new_question_becomes_an_accepted_query_with_the_turns_before_it(corpus, actor):
    sent = send(corpus, actor, "Where did the cat sit?", "And the other?")
    query = Query.objects.get()
    assert sent.new
    assert (query.text, query.context) == ("And the other?", [{"text": "Where did the cat sit?"}])
    assert (query.status, query.turn) == ("accepted", 2)
    step = QueryStep.objects.get()
    assert (step.after, step.actor, step.reason) == ("accepted", actor, "asked on the search page")
    event = Event.objects.get(action="query.sent_to_curation")
    assert (event.actor, event.subject) == (actor, Query.objects.get().key)
    assert event.details == {"ranker": "balanced", "candidates": 2, "new": True, "turns": 2}


def test_candidates_keep_what_found_them_and_repetitions_are_folded(corpus, actor):
    assert send(corpus, actor, "Where did the cat sit?").shown_count == 2
    rows = CandidatePassage.objects.order_by("rank")
    assert [(row.rank, row.key, row.folded_into and row.folded_into.key) for row in rows] == [
        (1, "p1", None), (2, "p2", "p1"), (3, "p3", None),
    ]  # fmt: skip
    assert rows[0].origin == "index:pets"
    kept = rows[0].retrieval
    assert (kept["ranker"], kept["parameters"]) == ("balanced", {"alpha": 0.75})
    assert kept["generation"] == {"index": 3, "network": 2}
    assert (kept["rank"], kept["parts"]) == (1, {"bm25": 0.5})


def test_sending_again_changes_nothing(corpus, actor):
    send(corpus, actor, "Where did the cat sit?")
    with pytest.raises(AlreadySentError, match="has its candidates") as refused:
        send(corpus, actor, "where did the  CAT sit?", keys=("p4",))
    assert refused.value.query == Query.objects.get()
    assert CandidatePassage.objects.count() == 3
    assert Event.objects.filter(action="query.sent_to_curation").count() == 1


def test_an_accepted_query_of_the_project_gets_the_candidates(corpus, actor):
    question = "Where did the cat sit?"
    query = make_query(corpus.project, question, digest=query_digest(question), status="accepted")
    sent = send(corpus, actor, question)
    assert (sent.query, sent.new, sent.shown_count) == (query, False, 2)
    assert Query.objects.count() == 1
    assert not QuerySource.objects.filter(format="search").exists()


def test_a_query_that_is_not_accepted_or_has_candidates_of_an_import_gets_none(corpus, actor, subtests):
    question = "Where did the cat sit?"
    for status in ("waiting", "excluded", "curated", "withdrawn"):
        with apart(subtests, status=status):
            make_query(corpus.project, question, digest=query_digest(question), status=status)
            with pytest.raises(AlreadySentError, match="Only accepted queries take candidates"):
                send(corpus, actor, question)
            assert not CandidatePassage.objects.exists()
    query = make_query(corpus.project, question, digest=query_digest(question), status="accepted")
    make_candidates(query, "Theirs.")
    with pytest.raises(AlreadySentError):
        send(corpus, actor, question)
    assert CandidatePassage.objects.get().text == "Theirs."


def test_nothing_is_made_without_passages_or_in_a_read_only_project(corpus, actor):
    with pytest.raises(CrowdError, match="Nothing was found"):
        send(corpus, actor, "Where did the cat sit?", keys=())
    corpus.project.read_only = True
    corpus.project.save()
    with pytest.raises(CrowdError, match="read-only"):
        send(corpus, actor, "cat?", keys=("p1",))
    assert not Query.objects.exists()


def test_turns_of_one_conversation_share_its_name_and_their_source(corpus, actor):
    send(corpus, actor, "Where did the cat sit?")
    send(corpus, actor, "Where did the cat sit?", "And then?", "Why?")
    first, second = Query.objects.order_by("pk")
    assert first.conversation == second.conversation
    assert first.conversation.startswith("search-")
    assert (first.turn, second.turn) == (1, 3)
    source = QuerySource.objects.get()
    assert (source.name, source.report["stored"], source.created_by) == ("Search page", 2, actor)


def test_a_turn_joins_the_conversation_of_an_imported_query(corpus, actor):
    question = "Where did the cat sit?"
    make_query(corpus.project, question, digest=query_digest(question), conversation="cast-1", turn=1)
    sent = send(corpus, actor, question, "And then?")
    assert sent.query.conversation == "cast-1"


def test_a_question_is_the_query_that_an_import_spelled_otherwise(corpus, actor):
    curly, plain = "Where\u2019s the cat?", "where's the cat?"
    digests = {"digest": query_digest(curly), "plain_digest": plain_digest(curly)}
    query = make_query(corpus.project, curly, **digests, status="accepted", conversation="cast-1", turn=1)
    sent = send(corpus, actor, plain)
    assert (sent.query, sent.new) == (query, False)
    following = send(corpus, actor, plain, "It\u2019s where?").query
    assert following.conversation == "cast-1"
    with pytest.raises(AlreadySentError):
        send(corpus, actor, curly, "it's where?")


def test_passages_of_one_id_in_two_corpora_keep_apart(tmp_path, actor):
    project = make_project()
    one, other = (
        make_corpus(tmp_path, text, slug=slug, project=project, index=False)
        for slug, text in (("one", "A cat sat."), ("other", "A dog lay."))
    )
    found = found_in(one, "p1")
    second = FoundPassage(2, 0.5, {}, "other", Passage.objects.get(corpus=other))
    both = FoundAnswer("bm25", {}, {"one": {"index": 1}, "other": {"index": 9}}, {}, [*found.results, second])
    send_to_curation(project=project, turns=["pets?"], answer=both, keep=5, actor=actor)
    rows = CandidatePassage.objects.order_by("rank")
    assert [row.key for row in rows] == ["one/p1", "other/p1"]
    assert [row.retrieval["generation"] for row in rows] == [{"index": 1}, {"index": 9}]
