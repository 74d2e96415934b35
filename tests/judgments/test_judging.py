"""Judging through the task page: what judges see and send, what is kept, and what is asked again."""

import re

import pytest
from pydantic import ValidationError

from annotation.models import Query
from crowd.kinds import kind_of
from crowd.models import Exclusion
from crowd.services.stages import open_stage
from judgments.judging_config import JudgingConfig
from judgments.models import Judgment
from judgments.units import of_candidate
from tests.annotation.distilling import make_stage as make_distillation
from tests.annotation.distilling import write
from tests.cases import apart
from tests.judgments.judging_world import (
    CORRECT,
    GAS,
    PASSAGE,
    PREDICTED,
    judge,
    make_candidate,
    make_project,
    make_query,
    make_stage,
    make_topics,
    pending,
    reject,
    remove,
    send,
    visitor,
)
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert('x')</script>\u202e\"'&{{7*7}}"


def test_a_judge_reads_passage_question_predicted_and_correct_answer_in_the_order_of_kpqa():
    stage = make_stage()
    candidate = make_candidate(make_query(stage.project), "secret-system")
    answer = visitor(stage, candidate).open()
    page = words(answer)
    places = [
        page.index(part)
        for part in (
            f"Passage {PASSAGE}", f"Question {GAS}", f"Predicted answer {PREDICTED}",
            f"Correct answer {CORRECT}", "How correct is the predicted answer?", "1 completely wrong",
            "2 vital error", "3 ambiguous", "4 minor error", "5 completely correct",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    html = answer.content.decode()
    assert html.count('type="radio"') == 5
    assert not re.search(r"<input[^>]* checked[^>]*type=\"radio\"|type=\"radio\"[^>]* checked", html)
    assert "secret-system" not in html
    assert len(html) < 8_000
    unit = of_candidate(candidate.pk)
    wording = kind_of(stage).wording(stage, [unit])[unit]  # for researchers
    assert GAS in wording
    assert PREDICTED in wording


def test_a_score_of_the_scale_alone_is_kept_with_its_worker_and_its_assignment(subtests):
    stage = make_stage()
    candidate = make_candidate(make_query(stage.project))
    for score in ["", "0", "6", "4.0", "four", "٤", "-1"]:
        with apart(subtests, score=score):
            response = send(visitor(stage, candidate), candidate, score=score)
            assert response.status_code == 422
            assert "Choose a score from 1, completely wrong, to 5, completely correct." in words(response)
            assert not Judgment.objects.exists()
    judgment = judge(stage, candidate, 4, worker="A1")
    assert (judgment.score, judgment.aspects, judgment.comment) == (4, {}, "")
    assert judgment.assignment.response == {of_candidate(candidate.pk): {"score": 4, "aspects": {}}}


def test_aspects_follow_the_overall_question_and_are_kept_by_name():
    aspect = {
        "name": "topicality",
        "question": "Is it about the question?",
        "labels": ["no", "partly", "yes"],
    }
    stage = make_stage(config={"aspects": [aspect], "comment": True})
    candidate = make_candidate(make_query(stage.project))
    rosa = visitor(stage, candidate)
    page = words(rosa.open())
    assert page.index("How correct is") < page.index("Is it about the question?") < page.index("Comment, if")
    refused = send(rosa, candidate, score="2", topicality="4")
    assert "Choose a score for “Is it about the question?”" in words(refused)
    send(rosa, candidate, score="2", topicality="3", comment=" Half of it. ")
    judgment = Judgment.objects.get()
    assert (judgment.score, judgment.aspects, judgment.comment) == (2, {"topicality": 3}, "Half of it.")


def test_passages_turns_and_references_are_shown_as_the_options_say():
    stage = make_stage(config={"passages": False, "context": False, "reference": "none"})
    query = make_query(stage.project, context=[{"text": "tell me about fuels", "answer": "They burn."}])
    page = words(visitor(stage, make_candidate(query)).open())
    assert PASSAGE not in page
    assert "tell me about fuels" not in page
    assert CORRECT not in page
    assert "Correct answer" not in page.replace("the correct answer", "")
    told = make_stage(project=stage.project)
    page = words(visitor(told, make_candidate(query, "other")).open())
    assert "Before this question tell me about fuels Reply: They burn." in page


def test_one_reference_is_drawn_by_the_seed_and_everybody_sees_the_same():
    references = tuple(f"It comes from place number {number}." for number in range(8))
    seen = set()
    stage = make_stage()
    query = make_query(stage.project, references=references)
    for seed in range(5):
        made = make_stage(project=stage.project, seed=seed, config={"reference": "one"})
        candidate = query.candidates_to_judge.first() or make_candidate(query)
        pages = [words(visitor(made, candidate, worker=worker).open()) for worker in ("A1", "A2")]
        shown = [[text for text in references if text in page] for page in pages]
        assert shown[0] == shown[1]
        assert len(shown[0]) == 1
        seen.add(shown[0][0])
    assert len(seen) > 1


def test_all_references_are_shown_where_that_is_asked_for():
    stage = make_stage(config={"reference": "all"})
    query = make_query(stage.project, references=("From methane.", "Out of the ground.", "From methane."))
    page = words(visitor(stage, make_candidate(query)).open())
    assert page.count("From methane.") == 1
    assert "Out of the ground." in page


def test_hostile_text_stays_text():
    stage = make_stage(config={"question": HOSTILE, "labels": [HOSTILE, "good"]})
    query = make_query(stage.project, f"what is {HOSTILE}", (HOSTILE + "r",), passages=(HOSTILE + "p",))
    response = visitor(stage, make_candidate(query, text=HOSTILE + "c")).open()
    assert "<script>alert" not in response.content.decode()
    assert words(response).count("<script>alert('x')</script>") == 6
    assert "49" not in words(response)


def test_every_answer_waits_for_as_many_judges_as_the_stage_wants_and_for_those_whose_work_went():
    stage = make_stage()
    query = make_query(stage.project)
    one = make_candidate(query, "a")
    first, second = of_candidate(one.pk), of_candidate(make_candidate(query, "b").pk)
    judgments = [judge(stage, one, 3, worker="A0")]
    assert pending(stage) == {first: 2, second: 3}
    judgments += [judge(stage, one, 3, worker=f"A{number}") for number in (1, 2)]
    assert pending(stage) == {second: 3}
    reject(judgments[0])
    run = remove(judgments[1])
    assert pending(stage) == {first: 2, second: 3}
    run.state = "undone"
    run.save()
    assert pending(stage) == {first: 1, second: 3}


def test_what_is_set_aside_taken_out_or_of_another_system_is_not_judged():
    stage = make_stage(config={"systems": ["unilm"]})
    query = make_query(stage.project)
    make_candidate(query, "unilm", CORRECT, aside="exact")
    make_candidate(query, "mhpgm")
    for number, status in enumerate((Query.Status.WITHDRAWN, Query.Status.EXCLUDED)):
        gone = make_query(stage.project, f"taken out {number}")
        make_candidate(gone)
        Query.objects.filter(pk=gone.pk).update(status=status)
    assert pending(stage) == {}


def test_copies_of_references_written_since_the_import_are_not_judged():
    project = make_project()
    query = make_topics(project, "unilm")[0]
    project.budget_cents = 200_000
    project.save()
    stage = make_stage(project, status="draft")
    before = len(pending(stage))
    Query.objects.filter(pk=query.pk).update(references=[query.candidates_to_judge.get().text])
    open_stage(stage=stage, typed_cents=stage.budget_cents)
    assert len(pending(stage)) == before - 1


def test_whoever_wrote_an_answer_to_the_query_judges_none_of_them():
    distillation = make_distillation()
    query = make_query(distillation.project)
    write(distillation, query, "It comes from the ground.", worker="AWRITER")
    stage = make_stage(distillation.project, endpoint=distillation.endpoint)
    candidate = make_candidate(query)
    assert "You cannot do this HIT" in words(visitor(stage, candidate, worker="AWRITER").open())
    assert visitor(stage, candidate, worker="AOTHER").open().status_code == 200


def test_whoever_judged_has_read_correct_answers_and_writes_none_to_that_query():
    distillation = make_distillation()
    query = make_query(distillation.project)
    judge(make_stage(project=distillation.project), make_candidate(query), 5, worker="AJUDGE")
    assert list(Exclusion.objects.values_list("scope", flat=True)) == [f"query:{query.pk}:distil"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"labels": ["one"]}, "at least 2 items"),
        ({"labels": list("abcdefgh")}, "at most 7 items"),
        ({"aspects": [{"name": "score", "question": "Why?"}]}, "names of their own"),
        ({"gold": [{"query": "q", "text": "t", "accepted": [6]}]}, "not on the scale"),
        ({"least_judgments": 9, "most_judgments": 3}, "most_judgments is below least_judgments"),
        ({"instruction": "Please choose."}, "does not say where {score} goes"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_words(config, said):
    with pytest.raises(ValidationError, match=re.escape(said)):
        JudgingConfig.model_validate(config)
