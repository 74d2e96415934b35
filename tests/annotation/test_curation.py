"""Passage curation as a kind of stage: its page, its selections, and the sets that come of them."""

import random
import threading

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from pydantic import ValidationError

from annotation.curation import Curation, CurationConfig
from annotation.models import CuratedPassage, CuratedSet, PassageSelection, QueryStep
from crowd.kinds import PendingUnit, StageKind, kind_named
from crowd.models import Exclusion
from tests.annotation.world import (
    ARABIC,
    CHINESE,
    HOSTILE,
    LONG_WORD,
    make_candidates,
    make_project,
    make_query,
    make_source,
    make_stage,
    make_work,
    select,
    send,
    status,
    unit_of,
    visitor,
)
from tests.cases import apart
from tests.taskpage.world import handed_over, text

pytestmark = pytest.mark.django_db
curation = Curation()
BOILS = "At sea level water boils at 100 °C."
LOWER = "On a mountain water boils at a lower temperature."
WRONG = "Water boils at 90 °C everywhere."
PAGE = {"page": "https://example.org/water", "url": "https://example.org/water"}


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def query(project):
    query = make_query(project, status="accepted")
    make_candidates(query, BOILS, LOWER, WRONG)
    return query


@pytest.fixture
def stage(project):
    return make_stage("curation", project, redundancy=1)


@pytest.fixture
def rosa(stage, query):
    return visitor(stage, unit_of(query))


def test_curation_is_a_kind_whose_options_have_defaults_and_explain_themselves():
    assert isinstance(kind_named("curation"), StageKind)
    assert kind_named("curation").config is CurationConfig
    fields = CurationConfig.model_fields.values()
    assert all(field.description and field.description.endswith(".") for field in fields)
    assert CurationConfig().candidates == 10
    for config in (
        {"candidates": 0}, {"candidates": 51}, {"most_passages": 0}, {"merging": "any"}, {"k": 3},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            CurationConfig.model_validate(config)


def test_queries_are_pending_as_far_as_they_are_ready_and_lack_selections(project, stage, query):
    make_query(project, status="accepted")
    make_candidates(make_query(project), BOILS)
    unready = make_query(project, source=make_source(project, state="importing"), status="accepted")
    make_candidates(unready, BOILS)
    assert list(curation.pending(stage)) == [PendingUnit(unit_of(query), 1)]
    stage = make_stage("curation", project, redundancy=2)
    select(stage, query, "p1", work=make_work(stage, state="rejected"))
    assert curation.count_waiting_decisions(stage) == 0
    assert curation.settle(stage) == {}
    select(stage, query, "p1")
    assert list(curation.pending(stage)) == [PendingUnit(unit_of(query), 1)]


def test_queries_that_still_wait_for_screening_are_pending_where_the_stage_says_so(project):
    stage = make_stage("curation", project, redundancy=1, screened=False)
    waiting = make_query(project)
    make_candidates(waiting, BOILS)
    assert list(curation.pending(stage)) == [PendingUnit(unit_of(waiting), 1)]
    select(stage, waiting, "p1")
    assert curation.settle(stage) == {"curated": 1}
    assert status(waiting) == "curated"


def test_a_query_of_which_every_candidate_is_folded_away_is_not_pending(project, stage):
    query = make_query(project, status="accepted")
    one, other = make_candidates(query, BOILS, BOILS)
    other.folded_into = one
    other.save()
    assert len(list(curation.pending(stage))) == 1
    page = curation.page(stage, unit_of(query), 1)
    assert [row.passage.key for row in page.context["rows"]] == ["p1"]


def test_exact_merging_asks_one_more_editor_where_two_differ(project, query):
    stage = make_stage("curation", project, redundancy=2, merging="exact")
    select(stage, query, "p1")
    select(stage, query, "p2")
    assert curation.settle(stage) == {}
    assert list(curation.pending(stage)) == [PendingUnit(unit_of(query), 1)]
    select(stage, query, "p2")
    assert list(curation.pending(stage)) == []
    assert curation.settle(stage) == {"curated": 1}


def test_passages_stand_in_the_order_of_their_ranks_as_many_as_the_stage_shows(stage, project):
    query = make_query(project, status="accepted")
    make_candidates(query, BOILS, LOWER, title="Boiling", **PAGE)
    page = visitor(stage, unit_of(query)).open()
    words = text(page)
    assert words.index("Passage 1: Boiling " + BOILS) < words.index("Passage 2: Boiling " + LOWER)
    assert (
        '<a href="https://example.org/water" rel="noopener noreferrer" target="_blank">'
        in page.content.decode()
    )
    query = make_query(project, status="accepted")
    make_candidates(query, BOILS)
    words = text(visitor(stage, unit_of(query)).open())
    assert "contradict each other?" not in words
    assert "Choose one that answers it completely. They" in words
    assert "None of these can answer it" in words
    assert curation.parse(stage, unit_of(query), {"none": "on"}).good


def test_only_addresses_of_the_web_become_links(stage, project):
    for url in (
        "javascript:alert(1)", "data:text/html,x", "ftp://example.org/", "//example.org", "http://[", "x",
    ):  # fmt: skip
        query = make_query(project, status="accepted")
        make_candidates(query, BOILS, url=url)
        page = visitor(stage, unit_of(query)).open()
        assert url in text(page)
        assert "_blank" not in page.content.decode(), url


def test_only_overlaps_with_passages_on_the_page_are_told(stage, project):
    query = make_query(project, status="accepted")
    spans = [(0, 50), (40, 90), (45, 60), (200, 240)]
    for row, (start, end) in zip(make_candidates(query, *"abcd", page="P"), spans, strict=True):
        row.start, row.end = start, end
        row.save()
    words = text(visitor(stage, unit_of(query)).open())
    assert "overlaps with 2 and 3" in words
    assert "overlaps with 1 and 2" in words
    assert words.count("overlaps with") == 3
    stage, query = make_stage("curation", project, candidates=2), make_query(project, status="accepted")
    make_candidates(query, *"abc", page="P", start=0, end=9)
    words = text(visitor(stage, unit_of(query)).open())
    assert "overlaps with 2" in words
    assert "and 3" not in words


def test_the_stage_says_how_many_candidates_are_shown(project, query):
    stage = make_stage("curation", project, candidates=2)
    words = text(visitor(stage, unit_of(query)).open())
    assert LOWER in words
    assert WRONG not in words
    parsed = curation.parse(stage, unit_of(query), {"passage_3": "on"})
    assert "passages" in parsed.errors


def test_text_of_any_kind_is_shown_as_text_in_its_own_direction(project, subtests):
    for words in [CHINESE, ARABIC, HOSTILE, LONG_WORD, "a\u202eb"]:
        with apart(subtests, words=words):
            stage = make_stage("curation", project, highlights=True, instructions=words[:5000])
            query = make_query(project, words, status="accepted")
            make_candidates(query, words, title=words, url=f"https://example.org/{words[:1000]}")
            page = visitor(stage, unit_of(query)).open()
            body = page.content.decode()
            assert page.status_code == 200
            assert "<script>alert" not in body
            assert 'dir="auto" lang="en"' in body
            assert "style=" not in body and "onclick" not in body


def test_a_form_that_contradicts_itself_or_the_stage_says_what_to_do(rosa, query, stage, project):
    answer = send(rosa, unit_of(query))
    assert answer.status_code == 422
    words = "Choose the passages that answer the query, or say that none of these can answer it."
    assert text(answer).count(words) == 2
    assert not PassageSelection.objects.exists()
    parsed = curation.parse(stage, unit_of(query), {"passage_1": "on", "none": "on"})
    assert parsed.errors["passages"].startswith("You chose passages, and also said that none")
    one = make_stage("curation", project, most_passages=1)
    parsed = curation.parse(one, unit_of(query), {"passage_1": "on", "passage_2": "on"})
    assert parsed.errors["passages"].startswith("Choose at most 1; you chose 2.")
    answer = send(rosa, unit_of(query), passage_2="on", none="on", conflict_1_a="1", conflict_1_b="-")
    body = answer.content.decode()
    assert body.count(" checked aria") == 2
    assert 'value="1" selected' in body
    assert "Name both passages of this pair, or neither." in text(answer)
    assert '<details class="conflicts" open>' in body


def test_a_sent_form_becomes_a_selection_and_bars_from_answering_the_query(rosa, stage, query):
    handed_over(send(rosa, unit_of(query), passage_2="on", passage_1="on"))
    row = PassageSelection.objects.get()
    assert (row.query_id, row.stage_id, row.assignment_id) == (query.pk, stage.pk, rosa.row.pk)
    assert (row.answerable, row.passages, row.conflicts, row.highlights) == (True, ["p1", "p2"], [], [])
    assert Exclusion.objects.get().scope == f"query:{query.pk}:distil"


def test_none_of_these_is_a_selection_too(rosa, query):
    handed_over(send(rosa, unit_of(query), none="on"))
    row = PassageSelection.objects.get()
    assert (row.answerable, row.passages) == (False, [])


def test_pairs_that_contradict_each_other_are_kept_with_the_trusted_one(rosa, query):
    pairs = {
        "conflict_1_a": "3", "conflict_1_b": "1", "conflict_1_trusted": "b",
        "conflict_2_a": "2", "conflict_2_b": "3", "conflict_2_trusted": "-",
        "conflict_3_a": "1", "conflict_3_b": "3", "conflict_3_trusted": "-",
    }  # fmt: skip
    handed_over(send(rosa, unit_of(query), passage_1="on", **pairs))
    assert PassageSelection.objects.get().conflicts == [
        {"a": "p1", "b": "p3", "trusted": "p1"},
        {"a": "p2", "b": "p3", "trusted": None},
    ]


def test_pairs_that_make_no_sense_are_said_in_words(stage, query):
    both = (
        "You chose passages 1 and 3, and say that they contradict each other. "
        "Keep the one that you trust more."
    )
    for pair, words in (
        ({"a": "1"}, "Name both passages of this pair, or neither."),
        ({"a": "1", "b": "9"}, "Name both passages of this pair, or neither."),
        ({"a": "2", "b": "2"}, "A passage cannot conflict with itself; name two different ones."),
        ({"a": "1", "b": "3"}, both),
    ):
        form = {"passage_1": "on", "passage_3": "on"}
        form |= {f"conflict_2_{part}": value for part, value in pair.items()}
        assert curation.parse(stage, unit_of(query), form).errors == {"conflict_2": words}


@pytest.fixture
def marking(project):
    return make_stage("curation", project, redundancy=1, highlights=True)


def test_marked_words_become_spans_of_their_passage(marking, query):
    who = visitor(marking, unit_of(query))
    assert "annotation-marks" in who.open().content.decode()
    handed_over(send(who, unit_of(query), passage_1="on", highlight_1="100 °C\nsea  level\n100 °C\n"))
    spans = PassageSelection.objects.get().highlights
    assert [BOILS[span["start"] : span["end"]] for span in spans] == ["sea level", "100 °C"]
    assert {span["passage"] for span in spans} == {"p1"}


def test_words_that_do_not_stand_in_the_passage_are_an_error_beside_their_field(marking, query):
    answer = send(visitor(marking, unit_of(query)), unit_of(query), passage_1="on", highlight_1="90 °C")
    assert "“\u206890 °C\u2069” does not occur in passage 1 in this form. Copy its exact words." in text(
        answer
    )
    assert 'id="u1-highlight_1-error"' in answer.content.decode()


def test_marks_have_their_limits_and_belong_to_chosen_passages(marking, query, rosa, stage):
    for marks, words in (("w" * 2001, "more than 2,000 characters"), ("sea\n" * 21, "at most 20 places")):
        parsed = curation.parse(marking, unit_of(query), {"passage_1": "on", "highlight_1": marks})
        assert words in parsed.errors["highlight_1"]
    parsed = curation.parse(marking, unit_of(query), {"passage_1": "on", "highlight_2": "mountain"})
    assert parsed.response["highlights"] == []
    assert "Mark the words" not in text(rosa.open())
    parsed = curation.parse(stage, unit_of(query), {"passage_1": "on", "highlight_1": "nonsense"})
    assert parsed.response["highlights"] == []


def test_marks_work_in_other_scripts(project, marking):
    for words in (CHINESE, ARABIC):
        query = make_query(project, status="accepted")
        make_candidates(query, f"{words}。 {words}")
        parsed = curation.parse(marking, unit_of(query), {"passage_1": "on", "highlight_1": words})
        assert parsed.response["highlights"] == [{"passage": "p1", "start": 0, "end": len(words)}]


def test_one_selection_makes_a_curated_set_in_the_order_of_ranks_once(stage, query):
    select(stage, query, "p3", "p1")
    assert curation.count_waiting_decisions(stage) == 1
    assert curation.settle(stage) == {"curated": 1}
    assert curation.count_waiting_decisions(stage) == 0
    query.refresh_from_db()
    assert (query.status, query.status_reason) == ("curated", "Chosen by one editor")
    made = CuratedSet.objects.get()
    assert (made.query, made.rule, made.stage, made.decided_by) == (query, "single", stage, None)
    assert list(made.members.values_list("position", "candidate__key")) == [(1, "p1"), (2, "p3")]
    select(stage, query, "p2")
    assert curation.settle(stage) == {}
    assert CuratedSet.objects.count() == QueryStep.objects.count() == 1


def test_passages_that_cannot_answer_take_the_query_out(stage, query):
    select(stage, query)
    assert curation.settle(stage) == {"unanswerable": 1}
    assert status(query) == "unanswerable"
    assert not CuratedSet.objects.exists()


def test_editors_who_share_nothing_leave_the_query_to_a_researcher(project, query):
    stage = make_stage("curation", project, redundancy=2)
    select(stage, query, "p1")
    select(stage, query, "p2")
    assert curation.settle(stage) == {"disputed": 1}
    query.refresh_from_db()
    assert query.status_reason == "No passage was chosen by more than half of 2 editors"


def test_many_queries_are_settled_in_a_fixed_number_of_reads_and_two_inserts_of_sets(project, stage):
    for _ in range(6):
        query = make_query(project, status="accepted")
        make_candidates(query, BOILS, LOWER)
        select(stage, query, "p1", "p2")
    with CaptureQueriesContext(connection) as asked:
        assert curation.settle(stage) == {"curated": 6}
    statements = [each["sql"] for each in asked]
    assert sum("SELECT" in sql and "INSERT" not in sql for sql in statements) == 4
    assert sum("INSERT" in sql and "curated" in sql.split("(")[0] for sql in statements) == 2
    assert CuratedPassage.objects.count() == 12


@pytest.mark.django_db(transaction=True)
def test_two_processes_that_settle_at_once_make_each_set_once():
    project = make_project()
    stage = make_stage("curation", project, redundancy=1)
    for _ in range(12):
        query = make_query(project, status="accepted")
        make_candidates(query, BOILS)
        select(stage, query, "p1")
    made, start = [], threading.Barrier(4)

    def settle():
        try:
            start.wait()
            made.append(curation.settle(stage).get("curated", 0))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=settle) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(made) == 12
    assert CuratedSet.objects.count() == CuratedPassage.objects.count() == QueryStep.objects.count() == 12


def test_simulated_editors_follow_the_truth_that_the_query_names_or_the_seed_makes(project, marking, stage):
    query = make_query(project, status="accepted", extra={"truth": {"passages": ["p2"]}})
    make_candidates(query, BOILS, LOWER)
    said = curation.simulate(marking, unit_of(query), None, random.Random(1))
    parsed = curation.parse(marking, unit_of(query), said)
    assert parsed.response["passages"] == ["p2"]
    assert parsed.response["highlights"] == [{"passage": "p2", "start": 0, "end": 36}]
    query = make_query(project, status="accepted", extra={"truth": {"passages": []}})
    make_candidates(query, BOILS)
    said = curation.simulate(stage, unit_of(query), None, random.Random(1))
    assert curation.parse(stage, unit_of(query), said).response["answerable"] is False
    query = make_query(project, status="accepted", extra={"truth": "odd"})
    make_candidates(query, BOILS, LOWER)
    said = curation.simulate(stage, unit_of(query), None, random.Random(1))
    assert said == curation.simulate(stage, unit_of(query), None, random.Random(2))
    assert curation.parse(stage, unit_of(query), said).good
