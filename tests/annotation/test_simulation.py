"""What a simulated owner decides where a pilot without people waits for a person."""

import pytest
from django.contrib.auth.models import User

from annotation import simulation
from annotation.models import Answer, Query
from core.projects.services import set_role
from crowd.models import Assignment, MarketOperation
from tests.annotation.distilling import PASSAGE, make_query, make_stage, settle, write
from tests.annotation.test_reviewed_work import listed
from tests.cases import apart

pytestmark = pytest.mark.django_db
FIT = {"kind": "informational", "answerable": "yes"}


@pytest.fixture
def stage():
    return make_stage(approve_at_once=False)


@pytest.fixture
def owner(stage) -> User:
    user = User.objects.create_user("owner")
    set_role(project=stage.project, user=user, role="owner")
    return user


@pytest.fixture
def answers(stage) -> list[Answer]:
    """One without flags, one that is pasted, to each of two queries."""
    written = []
    for number in (1, 2):
        query = make_query(stage)
        written += [
            write(stage, query, "Rome is the capital, as everybody knows.", worker=f"A{number}"),
            write(stage, query, PASSAGE, worker=f"B{number}"),
        ]
    settle(stage)
    listed(stage)
    return written


def states(answers: list[Answer]) -> list[str]:
    for answer in answers:
        answer.refresh_from_db()
    return [answer.state for answer in answers]


def planned(stage) -> dict[int, str]:
    """What the marketplace is asked about each piece of work."""
    rows = MarketOperation.objects.filter(stage=stage, assignment__isnull=False)
    return dict(rows.values_list("assignment", "kind"))


def test_ties_are_decided_by_what_is_true(stage, owner):
    fit = make_query(stage, "fit", status="tied", extra={"truth": FIT})
    unfit = make_query(stage, "unfit", status="tied", extra={"truth": {**FIT, "kind": "navigational"}})
    elsewhere = make_query(make_stage(), "elsewhere", status="tied", extra={"truth": FIT})
    simulation.decide_ties(project=stage.project, actor=owner)
    found = [Query.objects.get(pk=query.pk).status for query in (fit, unfit, elsewhere)]
    assert found == ["accepted", "excluded", "tied"]


def test_answers_are_approved_with_their_work_those_of_some_queries_unless_they_have_flags(
    stage, owner, answers
):
    simulation.approve_answers(stage=stage, actor=owner, most_queries=1)
    assert states(answers) == ["approved", "undecided", "undecided", "undecided"]
    simulation.approve_answers(stage=stage, actor=owner)
    assert set(states(answers)) == {"approved"}
    assert planned(stage) == {answer.assignment_id: "approve" for answer in answers}


def test_work_is_approved_unless_its_answers_wait(stage, owner, answers):
    Answer.objects.filter(pk=answers[0].pk).update(state="approved")
    simulation.approve_work(stage=stage, actor=owner)
    assert planned(stage) == {answers[0].assignment_id: "approve"}
    assert Assignment.objects.filter(stage=stage, state="submitted").count() == 4


def test_the_answer_with_the_most_flags_is_decided_about_first(stage, owner, answers, subtests):
    for action, state, kind in [
        ("reject", "undecided", "reject"),
        ("exclude", "excluded", "approve"),
        ("rewrite", "rewrite", "approve"),
    ]:
        with apart(subtests, action=action, state=state, kind=kind):
            worst = simulation.flagged_answers(stage)[0]
            assert worst in (answers[1], answers[3])
            simulation.review_worst(stage=stage, actor=owner, action=action, reason="It is pasted.")
            worst.refresh_from_db()
            assert (worst.state, planned(stage)) == (state, {worst.assignment_id: kind})


def test_nothing_is_decided_where_no_answer_has_flags(stage, owner):
    write(stage, make_query(stage), "Rome is the capital, as everybody knows.", worker="A1")
    settle(stage)
    simulation.review_worst(stage=stage, actor=owner, action="reject", reason="None.")
    assert planned(stage) == {}
