"""Query screening as a kind of stage: its page, its votes, and what becomes of queries."""

import random
import threading

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from pydantic import ValidationError

from annotation.models import Query, QueryStep, ScreeningVote
from annotation.screening import Screening, ScreeningConfig
from annotation.services.steps import move
from crowd.kinds import PendingUnit, StageKind, kind_named
from crowd.models import Assignment, Exclusion
from tests.annotation.world import (
    ARABIC,
    CHINESE,
    FIT,
    HOSTILE,
    LONG_WORD,
    make_project,
    make_query,
    make_source,
    make_stage,
    make_work,
    send,
    status,
    unit_of,
    visitor,
    vote,
)
from tests.cases import apart
from tests.taskpage.world import handed_over, text

pytestmark = pytest.mark.django_db
screening = Screening()


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def query(project):
    return make_query(project)


@pytest.fixture
def stage(project):
    return make_stage("screening", project)


def test_screening_is_a_kind_whose_options_have_defaults_and_explain_themselves():
    assert isinstance(kind_named("screening"), StageKind)
    assert kind_named("screening").config is ScreeningConfig
    fields = ScreeningConfig.model_fields.values()
    assert all(field.description and field.description.endswith(".") for field in fields)
    assert ScreeningConfig() == ScreeningConfig.model_validate({})


def test_options_out_of_bounds_are_refused():
    for config in (
        {"tolerated_sensitive": -1},
        {"tolerated_adult": 101},
        {"checks": {"facebook": "a site"}},
        {"colour": "red"},
        {"instructions": "x" * 5001},
    ):
        with pytest.raises(ValidationError):
            ScreeningConfig.model_validate(config)


def test_waiting_queries_of_ready_sources_are_pending_until_they_have_their_votes(project, stage, query):
    make_query(project, status="accepted")
    make_query(project, source=make_source(project, state="importing"))
    make_query(make_project())
    assert list(screening.pending(stage)) == [PendingUnit(unit_of(query), 3)]
    vote(stage, query)
    vote(stage, query, work=make_work(stage, state="rejected"))
    vote(make_stage("screening", project), query)
    assert list(screening.pending(stage)) == [PendingUnit(unit_of(query), 2)]
    vote(stage, query)
    vote(stage, query)
    assert list(screening.pending(stage)) == []


def test_the_words_for_units_are_the_queries_texts_in_one_question(project):
    stage = make_stage("screening", project, checks={"facebook": "navigational"})
    queries = [make_query(project, CHINESE), make_query(project, ARABIC)]
    units = [*map(unit_of, queries), "check:0", "query:0"]
    with CaptureQueriesContext(connection) as asked:
        words = screening.wording(stage, units)
    assert list(words.values()) == [CHINESE, ARABIC, "facebook", "query:0"]
    assert len(asked) == 1


def test_the_page_asks_five_questions_about_the_query_and_says_what_is_left_out(stage, query):
    who = visitor(stage, unit_of(query))
    page = who.open()
    words = text(page)
    assert "boiling point of water" in words
    assert "What kind of query is it?" in words
    assert "such as “holiday classroom activities”" in words
    assert page.content.decode().count('<fieldset class="choices') == 5
    assert " checked" not in page.content.decode().replace('type="checkbox" checked', "")
    answer = send(who, unit_of(query))
    assert answer.status_code == 422
    words = text(answer)
    for missing in (
        "Say what kind of query it is.",
        "Say whether it is clear what this person wants to know.",
        "Say whether one short passage could settle it.",
        "Say whether it contains sensitive information.",
        "Say whether it is about adult content.",
    ):
        assert words.count(missing) == 2
    assert not ScreeningVote.objects.exists()


def test_earlier_turns_and_instructions_stand_beside_the_query(project, stage, query):
    turns = [{"text": "what is lung cancer", "answer": "A disease."}, {"text": "is it <b>treatable</b>"}]
    query = make_query(project, "what about breast", context=turns)
    words = text(visitor(stage, unit_of(query)).open())
    assert (
        "Earlier in this conversation what is lung cancer Reply: A disease. is it <b>treatable</b>" in words
    )
    assert words.index("A disease.") < words.index("what about breast")
    stage = make_stage("screening", project, instructions="Queries are from 2016.")
    assert "Queries are from 2016." in text(visitor(stage, unit_of(query)).open())


def test_text_of_any_kind_is_shown_as_text_in_its_own_direction(project, subtests):
    for words in [CHINESE, ARABIC, HOSTILE, LONG_WORD, "a\u202eb"]:
        with apart(subtests, words=words):
            stage = make_stage("screening", project, instructions=words[:5000])
            query = make_query(project, words, context=[{"text": words, "answer": words}])
            page = visitor(stage, unit_of(query)).open()
            body = page.content.decode()
            assert page.status_code == 200
            assert words in text(page) or words == HOSTILE
            assert "<script>alert" not in body
            assert '<p class="item query" dir="auto">' in body
            assert "style=" not in body and "onclick" not in body


def test_what_is_no_answer_of_the_form_is_an_error_of_that_field(stage, query):
    for name in FIT:
        parsed = screening.parse(stage, unit_of(query), FIT | {name: "perhaps"})
        assert list(parsed.errors) == [name]
    answer = send(visitor(stage, unit_of(query)), unit_of(query), kind="list", adult="no")
    body = " ".join(answer.content.decode().split())
    assert 'value="list" checked' in body
    assert 'adult" value="no" checked' in body


def test_a_sent_form_becomes_a_vote_and_bars_from_answering_the_query(stage, query):
    who = visitor(stage, unit_of(query))
    handed_over(send(who, unit_of(query), **FIT | {"kind": "topic", "answerable": "no"}))
    row = ScreeningVote.objects.get()
    assert (row.query_id, row.stage_id, row.assignment_id) == (query.pk, stage.pk, who.row.pk)
    assert (row.intent, row.excluded_kind, row.answerable, row.unambiguous) == (
        "informational",
        "topic",
        False,
        True,
    )
    assert Exclusion.objects.get().scope == f"query:{query.pk}:distil"


@pytest.fixture
def checked(project):
    return make_stage("screening", project, checks={"facebook": "navigational"})


def test_a_check_looks_like_any_query_and_is_passed_with_the_right_class(checked, query):
    who = visitor(checked, unit_of(query), "check:0")
    assert text(who.open()).count("The query") == 2
    form = {f"0|{name}": value for name, value in FIT.items()}
    form |= {f"1|{name}": value for name, value in (FIT | {"kind": "transactional"}).items()}
    handed_over(who.client.post(who.path, {"ticket": who.ticket(), **form}))
    assert ScreeningVote.objects.get().query_id == query.pk
    assert who.row.failed_checks == 1
    assert [row.scope for row in Exclusion.objects.all()] == [f"query:{query.pk}:distil"]
    assert screening.checks(checked) == ["check:0"]
    assert screening.passes(checked, "check:0", {"intent": "navigational"})
    assert not screening.passes(checked, "check:0", {"intent": "informational"})
    assert screening.marks(checked, "check:0") == []
    said = screening.simulate(checked, "check:0", None, random.Random(1))
    assert said["kind"] == "navigational"


def test_enough_votes_move_a_query_once_with_a_reason_and_a_step(project, stage, query):
    other = make_query(project)
    for changes in ({}, {}, {"intent": "navigational"}):
        vote(stage, query, **changes)
        vote(stage, other, sensitive=True)
    assert screening.count_waiting_decisions(stage) == 2
    assert screening.settle(stage) == {"accepted": 1, "excluded": 1}
    assert screening.count_waiting_decisions(stage) == 0
    query.refresh_from_db()
    assert (query.status, query.status_reason) == ("accepted", "2 of 3: fit to be answered")
    assert status(other) == "excluded"
    assert screening.settle(stage) == {}
    step = QueryStep.objects.get(query=query)
    assert (step.before, step.after, step.stage, step.actor) == ("waiting", "accepted", stage, None)


def test_too_few_and_rejected_votes_move_nothing(stage, query):
    vote(stage, query)
    vote(stage, query)
    vote(stage, query, work=make_work(stage, state=Assignment.State.REJECTED))
    assert screening.count_waiting_decisions(stage) == 0
    assert screening.settle(stage) == {}
    assert status(query) == "waiting"


def test_ties_and_flags_are_decided_as_the_stage_says(project):
    waits = make_stage("screening", project, redundancy=2)
    decides = make_stage("screening", project, redundancy=2, ties_wait=False)
    for stage, expected in ((waits, "tied"), (decides, "excluded")):
        query = make_query(project)
        vote(stage, query)
        vote(stage, query, unambiguous=False)
        screening.settle(stage)
        assert status(query) == expected
    stage, query = make_stage("screening", project, tolerated_sensitive=1), make_query(project)
    for changes in ({}, {}, {"sensitive": True}):
        vote(stage, query, **changes)
    screening.settle(stage)
    assert status(query) == "accepted"


def test_a_query_that_was_moved_meanwhile_stays_where_it_is(stage, query, monkeypatch):
    for _ in range(3):
        vote(stage, query)
    from annotation import screening as service

    seen = service.with_enough_votes(stage)
    move(query=query, to=Query.Status.WITHDRAWN, reason="Taken out")
    monkeypatch.setattr(service, "with_enough_votes", lambda stage: seen)
    assert screening.settle(stage) == {}
    assert status(query) == "withdrawn"


def test_the_votes_of_many_queries_are_read_in_as_many_questions_as_those_of_few(project, stage):
    reads = []
    for count in (2, 6):
        for _ in range(count):
            query = make_query(project)
            for _ in range(3):
                vote(stage, query)
        with CaptureQueriesContext(connection) as asked:
            assert screening.settle(stage) == {"accepted": count}
        reads.append(sum("SELECT" in each["sql"] for each in asked))
    assert reads == [4, 4]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_two_processes_that_settle_at_once_move_each_query_once():
    project = make_project()
    stage = make_stage("screening", project)
    for _ in range(12):
        query = make_query(project)
        for _ in range(3):
            vote(stage, query)
    moved, start = [], threading.Barrier(4)

    def settle():
        try:
            start.wait()
            moved.append(screening.settle(stage).get("accepted", 0))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=settle) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(moved) == 12
    assert QueryStep.objects.count() == 12


def test_simulated_editors_follow_the_truth_that_the_query_names_or_the_seed_makes(project, stage):
    query = make_query(project, extra={"truth": {"kind": "navigational", "adult": "yes"}})
    said = screening.simulate(stage, unit_of(query), None, random.Random(1))
    assert (said["kind"], said["answerable"], said["adult"]) == ("navigational", "no", "yes")
    assert screening.parse(stage, unit_of(query), said).good
    units = [unit_of(make_query(project)) for _ in range(40)]
    said = [screening.simulate(stage, unit, None, random.Random(1)) for unit in units]
    again = [screening.simulate(stage, unit, None, random.Random(2)) for unit in units]
    assert said == again
    assert {"informational"} < {each["kind"] for each in said}
    assert all(screening.parse(stage, unit, each).good for unit, each in zip(units, said, strict=True))
