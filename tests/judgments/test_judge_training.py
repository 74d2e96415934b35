"""Training for judges: feedback until it is right, first choices count, and who passes may judge."""

import pytest

from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Assignment, Group, MarketOperation
from crowd.services.stages import open_stage
from judgments.models import QuestionnaireUnit, UnitResponse
from judgments.questionnaire.units import ensure_units, name_of
from judgments.selectors.judging import trained
from tests.judgments.judging_world import (
    make_candidate,
    make_project,
    make_query,
    make_stage,
    send_all,
    visitor,
)
from tests.taskpage.world import text as words

pytestmark = pytest.mark.django_db
LESSONS = [
    {
        "question": f"question {number}",
        "answer": f"answer {number}",
        "correct": "Rome",
        "accepted": accepted,
        "reason": f"Reason number {number}.",
    }
    for number, accepted in enumerate([[1, 2], [5], [3], [4, 5]])
]
UNITS = [f"lesson:{number}" for number in range(4)]
RIGHT = ["1", "5", "3", "4"]


def training(**fields):
    return make_stage(
        slug="training", kind="judge-training", config={"lessons": LESSONS, **fields}, units_per_hit=4
    )


def say(who, scores):
    return send_all(who, {unit: {"score": score} for unit, score in zip(UNITS, scores, strict=True)})


def test_a_wrong_choice_says_why_and_asks_again_and_first_choices_count():
    stage = training()
    rosa = visitor(stage, *UNITS)
    page = say(rosa, ["4", "5", "1", "4"])
    assert page.status_code == 422
    assert "Not quite. Reason number 0. Please choose again; you are paid for this either way." in words(page)
    assert "This one is right. Reason number 1." in words(page)
    say(rosa, ["2", "5", "2", "4"])
    assert say(rosa, RIGHT).status_code == 200
    response = Assignment.objects.get().response
    assert response["lesson:0"] == {"first": 4, "right_at_first": False, "score": 1}
    assert response["lesson:1"] == {"first": 5, "right_at_first": True, "score": 5}
    assert [each.right_at_first for each in trained(stage)] == [2]


def test_nobody_can_send_a_first_choice_of_their_own():
    stage = training()
    rosa = visitor(stage, *UNITS)
    say(rosa, ["4", "5", "3", "4"])
    ticket = rosa.ticket()
    rosa.save(ticket, {"0|+first": "1"})
    fields = {f"{unit}|score": score for unit, score in zip(UNITS, RIGHT, strict=True)}
    rosa.client.post(rosa.path, {"ticket": ticket, **fields, "0|+first": "1"})
    assert Assignment.objects.get().response["lesson:0"]["first"] == 4


def test_who_passes_gets_into_the_group_once_and_who_fails_does_not():
    stage = training(pass_share=0.75)
    good, poor = visitor(stage, *UNITS, worker="AGOOD"), visitor(stage, *UNITS, worker="APOOR")
    say(good, ["5", *RIGHT[1:]])
    say(good, RIGHT)
    say(poor, ["5", "1", *RIGHT[2:]])
    say(poor, RIGHT)
    assert kind_of(stage).settle(stage) == {"done": 2, "passed": 1, "new": 1}
    assert kind_of(stage).settle(stage) == {"done": 2, "passed": 1, "new": 0}
    grants = MarketOperation.objects.filter(kind="grant").values_list("payload__worker", flat=True)
    assert list(grants) == ["AGOOD"]


def test_who_did_only_some_examples_has_not_passed():
    stage = training(pass_share=0)
    send_all(visitor(stage, "lesson:0"), {"lesson:0": {"score": "1"}})
    assert [(each.done, each.right_at_first) for each in trained(stage)] == [(1, 1)]
    assert kind_of(stage).settle(stage)["passed"] == 0


def test_a_judging_stage_asks_for_the_group_at_the_marketplace():
    project = make_project()
    test = make_stage(project, slug="training", kind="judge-training", config={"lessons": LESSONS})
    make_candidate(make_query(project))
    rule = {"kind": "passed", "op": "Exists", "values": ["training"], "hide": "discover"}
    stage = make_stage(project, endpoint=test.endpoint, status="draft", eligibility=[rule])
    project.budget_cents = 100_000
    project.save()
    open_stage(stage=stage, typed_cents=stage.budget_cents)
    group = Group.objects.get(stage=test)
    (published,) = MarketOperation.objects.filter(kind="publish", stage=stage)
    assert published.payload["eligibility"] == [
        {"kind": "group", "op": "Exists", "values": [f"@{group.pk}"], "hide": "discover"}
    ]


def test_a_test_that_is_not_there_is_named_before_anything_is_published():
    rule = {"kind": "passed", "op": "Exists", "values": ["nowhere"], "hide": "discover"}
    with pytest.raises(CrowdError, match="must have passed the stage 'nowhere'"):
        open_stage(stage=make_stage(status="draft", eligibility=[rule]))


def test_a_questionnaire_teaches_by_field_and_lets_those_pass_who_were_right_at_first():
    project = make_project()
    make_candidate(make_query(project, key="q1"), "alpha", "It is so [1]. It is not [1].")
    make_candidate(make_query(project, key="q2"), "alpha", "This one teaches nothing [1].")
    key = "q1/alpha"
    gold = [
        {"unit": key, "field": "support.1.1", "accepted": ["full"], "reason": "The passage says it."},
        {
            "unit": key,
            "field": "support.2.1",
            "accepted": ["none", "partial"],
            "reason": "It says otherwise.",
        },
    ]
    config = {"preset": "support", "gold": gold, "pass_share": 1}
    stage = make_stage(project, slug="training", kind="questionnaire", config=config)
    ensure_units(stage)
    unit = name_of(QuestionnaireUnit.objects.get(stage=stage).pk)
    assert [each.unit for each in kind_of(stage).pending(stage)] == [unit]
    assert kind_of(stage).checks(stage) == []

    def choose(who, first, second):
        return send_all(who, {unit: {"support.1.1": first, "support.2.1": second}})

    rosa, hugo = visitor(stage, unit, worker="AROSA"), visitor(stage, unit, worker="AHUGO")
    page = choose(rosa, "full", "full")
    assert page.status_code == 422
    assert "Not quite. It says otherwise. Please choose again" in words(page)
    assert "The passage says it." not in words(page)
    assert choose(rosa, "full", "none").status_code == 200
    assert choose(hugo, "full", "partial").status_code == 200
    learned = Assignment.objects.get(worker__external_id="AROSA").response[unit]
    values = {"support": {"1.1": "full", "2.1": "none"}}
    assert learned == {"values": values, "wrong_at_first": ["support.2.1"], "right_at_first": False}
    assert not UnitResponse.objects.exists()
    assert kind_of(stage).settle(stage) == {"done": 2, "passed": 1, "new": 1}
    grants = MarketOperation.objects.filter(kind="grant").values_list("payload__worker", flat=True)
    assert list(grants) == ["AHUGO"]
