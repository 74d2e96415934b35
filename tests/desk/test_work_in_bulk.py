"""Approving many pieces of work at once, and what the rows say that they are about."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.projects.models import Event
from crowd.models import Assignment, HitUnit, MarketOperation
from crowd.services.review import MOST_AT_ONCE
from tests.desk.conftest import CONFIG, HOSTILE, at, make_hit, make_stage, make_work
from tests.saving import messages_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(stage):
    return [make_work(make_hit(stage), f"A{number}") for number in range(3)]


def approve(client, stage, chosen, query=""):
    return client.post(
        at("approve_chosen", stage) + query, {"chosen": [work.pk for work in chosen]}, follow=True
    )


def test_the_chosen_are_approved_once_each_with_its_own_event(manager, stage, waiting):
    answer = approve(manager, stage, waiting[:2])
    assert messages_of(answer) == ["2 approved: on the way to the marketplace."]
    operations = MarketOperation.objects.filter(kind="approve")
    assert sorted(row.assignment_id for row in operations) == [work.pk for work in waiting[:2]]
    events = Event.objects.filter(action="assignment.approved")
    assert sorted(event.details["worker"] for event in events) == ["A0", "A1"]
    page = manager.get(at("work", stage) + "?state=waiting")
    for shown in (answer, page):  # undecided no longer, though the marketplace does not know yet
        assert [row.pk for row in shown.context["rows"]] == [waiting[2].pk]
    answer = approve(manager, stage, waiting[:1])
    why = "Work of A0 was not approved. A decision on this work is on its way already."
    assert messages_of(answer) == [why]
    assert (MarketOperation.objects.count(), events.count()) == (2, 2)
    MarketOperation.objects.update(state="refused")
    again = manager.get(at("work", stage) + "?state=waiting")
    assert len(again.context["rows"]) == 3


def test_what_cannot_be_approved_is_said_and_stops_no_other(manager, stage, waiting):
    Assignment.objects.filter(pk=waiting[0].pk).update(state="rejected")
    answer = approve(manager, stage, waiting)
    assert messages_of(answer) == [
        "2 approved: on the way to the marketplace.",
        "Work of A0 was not approved. This work is rejected; it cannot be approved.",
    ]


def test_nonsense_too_much_or_work_of_other_stages_is_not_approved(
    manager, stage, waiting, project, endpoint
):
    for chosen in ("x", "-1", "9" * 30, "²", "1e3"):
        answer = manager.post(at("approve_chosen", stage), {"chosen": [chosen]}, follow=True)
        assert answer.status_code == 200
    assert messages_of(approve(manager, stage, [])) == ["Nothing is chosen. Tick the work to approve first."]
    chosen = list(range(1, MOST_AT_ONCE + 2))
    answer = manager.post(at("approve_chosen", stage), {"chosen": chosen}, follow=True)
    assert messages_of(answer) == ["101 are chosen; at most 100 are approved at once."]
    other = make_work(make_hit(make_stage(project, endpoint, slug="other"), external_id="3OTHER"), "A9")
    approve(manager, stage, [other])
    assert not MarketOperation.objects.exists()


@pytest.mark.long
def test_the_table_comes_back_as_it_was_filtered(manager, stage, waiting):
    answer = approve(manager, stage, waiting[:1], "?state=all&order=newest")
    assert answer.redirect_chain[-1][0] == at("work", stage) + "?state=all&order=newest"


def test_boxes_are_there_for_managers_and_for_work_that_can_be_approved(as_, manager, stage, waiting):
    Assignment.objects.filter(pk=waiting[0].pk).update(state="approved")
    page = manager.get(at("work", stage) + "?state=all").content.decode()
    assert page.count('name="chosen"') == 2
    assert "choose.js" in page
    assert 'name="chosen"' not in as_("viewer").get(at("work", stage) + "?state=all").content.decode()
    assert "Approve the chosen" not in manager.get(at("work", stage) + "?state=approved").content.decode()


@pytest.mark.long
def test_rows_say_in_words_what_the_work_is_about(manager, stage, waiting):
    HitUnit.objects.create(hit=waiting[0].hit, unit="item:1", position=2)
    page = manager.get(at("work", stage)).content.decode()
    assert page.count("<bdi>one</bdi>") == 3
    assert page.count("<bdi>two</bdi>") == 1
    assert "item:0" not in page


@pytest.mark.long
def test_rows_name_two_units_and_count_the_rest(manager, project, endpoint):
    stage = make_stage(project, endpoint, slug="many", config={**CONFIG, "items": list("abcde")})
    work = make_work(make_hit(stage))
    for number in range(1, 5):
        HitUnit.objects.create(hit=work.hit, unit=f"item:{number}", position=number + 1)
    for place in (at("work", stage), at("worker", stage, pk=work.worker_id)):
        assert "and 3 more" in manager.get(place).content.decode()
    hit = manager.get(at("hit", stage, number=0)).content.decode()
    assert [f'<bdi title="item:{n}">{word}</bdi>' in hit for n, word in enumerate("abcde")] == [True] * 5


def test_hostile_units_and_workers_are_words(manager, project, endpoint):
    stage = make_stage(project, endpoint, slug="bad", config={**CONFIG, "items": [HOSTILE, "b"]})
    work = make_work(make_hit(stage), HOSTILE[:40], state="rejected")
    for page in (
        manager.get(at("work", stage) + "?state=all"),
        manager.get(at("hit", stage, number=0)),
        approve(manager, stage, [work]),
    ):
        assert "<script>alert" not in page.content.decode()


def test_the_kind_is_asked_once_for_a_page(manager, stage, monkeypatch):
    asked = []
    from examples.poll.kind import Poll

    words = Poll.wording
    monkeypatch.setattr(Poll, "wording", lambda *given: asked.append(1) or words(*given))
    for number in range(20):
        make_work(make_hit(stage), f"W{number}")
    manager.get(at("operations", stage))  # the sidebar is counted
    with CaptureQueriesContext(connection) as queries:
        manager.get(at("work", stage))
    assert len(asked) == 1
    assert len(queries) <= 15
