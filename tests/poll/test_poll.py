"""The poll as a kind of stage."""

import pytest
from pydantic import ValidationError

from crowd.kinds import PendingUnit, StageKind, kind_named
from crowd.models import Assignment
from examples.poll.kind import Poll, PollConfig
from examples.poll.models import Vote
from tests.taskpage.world import Visitor, make_hit, make_stage

pytestmark = pytest.mark.django_db
poll = Poll()


@pytest.fixture
def stage():
    return make_stage(redundancy=2)


def vote(hit, name, **choices):
    visitor = Visitor(hit, worker=f"A{name}", assignment=f"3{name}")
    visitor.send(**choices)
    return visitor.row


def test_the_poll_is_registered_as_a_kind():
    assert isinstance(kind_named("poll"), StageKind)
    assert kind_named("poll").config is PollConfig


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"question": "", "options": ["a", "b"]},
        {"question": "?", "options": ["a"]},
        {"question": "?", "options": ["a", "b"], "items": []},
        {"question": "?", "options": ["a", "b"], "colour": "red"},
        {"question": "?", "options": [str(n) for n in range(13)]},
    ],
)
def test_options_that_make_no_poll_are_refused(config):
    with pytest.raises(ValidationError):
        PollConfig.model_validate(config)


def test_every_option_explains_itself():
    assert all(field.description for field in PollConfig.model_fields.values())


def test_a_poll_without_items_asks_its_question_once():
    stage = make_stage(config={"question": "Which?", "options": ["a", "b"]})
    assert list(poll.pending(stage)) == [PendingUnit("item:0", 3)]
    visitor = Visitor(make_hit(stage, "item:0"))
    assert 'class="item"' not in visitor.open().content.decode()
    visitor.send(item_0="a")
    assert poll.settle(stage) == {"item:0": {"a": 1}}


def test_items_wait_for_as_many_people_as_the_stage_wants(stage):
    hit = make_hit(stage)
    assert list(poll.pending(stage)) == [PendingUnit("item:0", 2), PendingUnit("item:1", 2)]
    vote(hit, "ROSA", item_0="Blue", item_1="Red")
    assert list(poll.pending(stage)) == [PendingUnit("item:0", 1), PendingUnit("item:1", 1)]
    vote(hit, "TOM", item_0="Blue", item_1="Blue")
    assert list(poll.pending(stage)) == []


def test_rejected_votes_do_not_count(stage):
    row = vote(make_hit(stage), "ROSA", item_0="Blue", item_1="Red")
    Assignment.objects.filter(pk=row.pk).update(state=Assignment.State.REJECTED)
    assert list(poll.pending(stage)) == [PendingUnit("item:0", 2), PendingUnit("item:1", 2)]
    assert poll.settle(stage) == {}
    assert Vote.objects.count() == 2


def test_settling_counts_the_choices_of_each_item_and_no_checks(stage):
    hit = make_hit(stage, "item:0", "check:0")
    vote(hit, "ROSA", item_0="Blue", check_0="Red")
    vote(hit, "TOM", item_0="Red", check_0="Red")
    assert poll.settle(stage) == {"item:0": {"Blue": 1, "Red": 1}}
    assert poll.settle(stage) == poll.settle(stage)


def test_checks_are_items_with_a_right_answer(stage):
    assert poll.checks(stage) == ["check:0"]
    assert poll.passes(stage, "check:0", {"choice": "Red"})
    assert not poll.passes(stage, "check:0", {"choice": "Blue"})
    assert poll.page(stage, "check:0", 1).context["item"] == "Choose red here"


def test_a_page_is_the_same_every_time(stage):
    assert poll.page(stage, "item:1", 7) == poll.page(stage, "item:1", 7)


@pytest.mark.parametrize(
    "form", [{}, {"choice": ""}, {"choice": "red"}, {"choice": "Red "}, {"other": "Red"}]
)
def test_what_is_no_option_is_said_in_words(stage, form):
    assert poll.parse(stage, "item:0", form).errors == {"choice": "Choose one of the options."}


def test_an_option_is_a_response(stage):
    parsed = poll.parse(stage, "item:0", {"choice": "Red"})
    assert parsed.good
    assert parsed.response == {"choice": "Red"}
