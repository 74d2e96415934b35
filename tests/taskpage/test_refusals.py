"""Everything that can be wrong with an address, a ticket or a form: refused in words, inside the frame."""

import logging
from datetime import timedelta

import pytest
from django.core import signing
from django.utils import timezone

from crowd.models import Assignment, Claim, Exclusion, Hit, Stage, Worker
from crowd.taskpage import known_origin
from examples.poll.models import Vote
from tests.cases import apart
from tests.taskpage.world import MARKET, SUBMIT_TO, Visitor, field_of, handed_over, make_hit, make_stage, text

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def stage():
    return make_stage()


@pytest.fixture
def rosa(stage):
    return Visitor(make_hit(stage))


def refused(response, *, says, status=403):
    """A page in words that may stand in the marketplace's frame; returns its words."""
    words = text(response)
    assert response.status_code == status, words
    assert says in words
    assert MARKET in response.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in response.headers
    assert "<form" not in response.content.decode()
    return words


def test_who_did_a_unit_in_one_hit_is_refused_in_the_next_and_told_to_return_it(rosa, stage):
    rosa.send(item_0="Blue", item_1="Red")
    again = Visitor(make_hit(stage, "item:1", external_id="3NEXT"), assignment="3SECOND")
    response = again.open()
    words = refused(response, says="every answer must be from another person")
    assert "Please return this HIT" in words
    assert f'href="{MARKET}/" target="_top"' in response.content.decode()


def test_who_has_a_unit_open_in_another_hit_gets_it_no_second_time(rosa, stage):
    rosa.signed = True
    rosa.open()
    again = Visitor(make_hit(stage, "item:1", external_id="3NEXT"), assignment="3SECOND", signed=True)
    refused(again.open(), says="every answer must be from another person")


def test_an_excluded_worker_reads_why(rosa, stage):
    rosa.open()
    Assignment.objects.all().delete()
    Exclusion.objects.create(
        worker=Worker.objects.get(),
        scope=f"stage:{stage.pk}",
        reason="You took part in the pilot",
        created_at=timezone.now(),
    )
    refused(rosa.open(), says="You took part in the pilot. Please return this HIT")


def test_a_worker_who_did_the_most_hits_of_a_stage_is_thanked(stage):
    Stage.objects.update(max_hits_per_worker=1)
    stage.refresh_from_db()
    Visitor(make_hit(stage, "item:0"), signed=True).send(item_0="Blue")
    again = Visitor(make_hit(stage, "item:1", external_id="3NEXT"), assignment="3SECOND", signed=True)
    refused(again.open(), says="at most 1 of these HITs")


def test_a_hit_that_was_given_up_does_not_count_towards_the_most(stage):
    Stage.objects.update(max_hits_per_worker=1)
    stage.refresh_from_db()
    Visitor(make_hit(stage, "item:0")).open()
    Assignment.objects.update(arrived_at=timezone.now() - timedelta(hours=2))
    again = Visitor(make_hit(stage, "item:1", external_id="3NEXT"), assignment="3SECOND")
    assert again.open().status_code == 200


def test_a_place_that_was_returned_gives_its_assignment_id_to_the_next_worker(rosa):
    rosa.save(rosa.ticket(), {"0|choice": "Blue"})
    tom = Visitor(rosa.hit, worker="ATOM", assignment=rosa.assignment)
    page = tom.open()
    assert "checked>" not in page.content.decode().partition('class="all"')[2]
    handed_over(tom.send(field_of(page, "ticket"), item_0="Red", item_1="Red"))
    assert (rosa.row.state, tom.row.state) == (State.WORKING, State.STORED)
    assert rosa.row.draft == {"0|choice": "Blue"}


def test_who_returns_a_hit_and_accepts_it_again_goes_on_with_their_draft(rosa):
    rosa.save(rosa.ticket(), {"0|choice": "Blue"})
    again = Visitor(rosa.hit, assignment="3SECOND")
    page = again.open()
    assert 'value="Blue" checked' in page.content.decode()
    handed_over(again.send(field_of(page, "ticket"), item_0="Blue", item_1="Red"))
    assert (rosa.row.state, again.row.state) == (State.ENDED, State.STORED)
    assert set(Claim.objects.values_list("assignment__external_id", flat=True)) == {"3SECOND"}


def test_work_that_we_gave_up_too_early_is_still_taken(rosa):
    ticket = rosa.ticket()
    Claim.objects.all().delete()
    Assignment.objects.update(state=State.ENDED)
    Stage.objects.update(status=Stage.Status.CLOSED)
    handed_over(rosa.send(ticket, item_0="Blue", item_1="Red"))
    assert rosa.row.state == State.STORED


def test_work_that_was_given_up_and_done_elsewhere_since_is_refused(rosa):
    ticket = rosa.ticket()
    again = Visitor(rosa.hit, assignment="3SECOND")
    again.send(item_0="Blue", item_1="Red")
    refused(rosa.send(ticket, item_0="Red", item_1="Red"), says="already worked on this", status=409)
    assert Vote.objects.count() == 2


def test_an_assignment_in_quarantine_is_with_its_requester(rosa):
    ticket = rosa.ticket()
    Assignment.objects.update(state=State.QUARANTINED)
    refused(rosa.open(), says="its requester is looking at it")
    refused(rosa.send(ticket, item_0="Red", item_1="Red"), says="its requester is looking at it", status=409)
    assert rosa.row.response is None


def test_what_is_over_is_said_to_be_over(subtests):
    for stage_values, hit_values in [
        ({"status": Stage.Status.CLOSED}, {}),
        ({}, {"state": Hit.State.CLOSED}),
        ({}, {"state": Hit.State.REFUSED}),
        ({}, {"expires_at": timezone.now() - timedelta(days=2)}),
    ]:
        with apart(subtests, stage=stage_values, hit=hit_values):
            visitor = Visitor(make_hit(make_stage(**stage_values), **hit_values))
            words = refused(visitor.open(), says="This HIT is over")
            assert "Please return this HIT" in words
            assert not Worker.objects.exists()


def test_who_accepted_in_the_last_minute_can_begin(stage):
    hit = make_hit(stage, expires_at=timezone.now() - timedelta(minutes=1))
    assert Visitor(hit).open().status_code == 200


def test_a_hit_whose_publication_is_not_confirmed_yet_is_served(stage):
    hit = make_hit(stage, external_id="", state=Hit.State.PLANNED)
    assert Visitor(hit).open(hitId="3UNKNOWNTOUS").status_code == 200


def test_what_began_or_is_on_offer_still_is_served(rosa, stage):
    Stage.objects.update(status=Stage.Status.PAUSED)
    assert rosa.open().status_code == 200
    ticket = rosa.ticket()
    Stage.objects.update(status=Stage.Status.CLOSED)
    Hit.objects.update(expires_at=timezone.now() - timedelta(days=2), state=Hit.State.CLOSED)
    assert rosa.open().status_code == 200
    handed_over(rosa.send(ticket, item_0="Blue", item_1="Red"))


def test_a_task_that_does_not_exist_is_no_blank_frame(rosa):
    response = rosa.client.get("/task/00000000-0000-4000-8000-000000000000/")
    refused(response, says="There is no such task", status=404)


def test_an_address_that_no_marketplace_gives_out_is_not_believed(rosa):
    for parameter in ("workerId", "assignmentId"):
        for name in ("A" * 65, "A ROSA", "A<b>", "A\0", "A\n", "Ä", "../A", "A'--", "٣"):
            refused(rosa.open(**{parameter: name}), says="not complete")
    refused(rosa.open(workerId=""), says="not complete")
    refused(rosa.open(hitId="3ANOTHER"), says="mixes two HITs")
    assert not Worker.objects.exists()


def test_an_assignment_of_another_hit_is_refused(rosa, stage):
    rosa.open()
    other = Visitor(make_hit(stage, "check:0", external_id="3NEXT"))
    refused(other.open(), says="belongs to another HIT")


def test_work_goes_to_no_place_but_the_marketplaces_own(rosa):
    for submit_to in [
        "",
        "https://evil.example",
        "http://market.example.org",
        "https://market.example.org.evil.example",
        "https://market.example.org@evil.example",
        "https://market.example.org:443@evil.example",
        "https://market.example.org\\@evil.example",
        "https://evil.example\\.market.example.org",
        "https:\\\\market.example.org",
        "https://market.example.org:8443",
        "https://market.example.org?x=",
        "https://market.example.org#x",
        "https://market.example.org/s/../../x",
        "https://market.example.org/\nx",
        "https://market.example.org /s",
        "//market.example.org",
        "javascript:alert(1)",
        "https://xn--market.example.org",
        "https://market.example.org\0",
        "https://MARKET.example.org@evil",
    ]:
        response = rosa.open(turkSubmitTo=submit_to)
        refused(response, says="a place we do not know", status=400)
        assert "evil" not in response.content.decode(), submit_to
        assert f'href="{MARKET}/"' in response.content.decode()
    assert not Assignment.objects.exists()


def test_an_origin_is_compared_to_the_letter():
    allowed = ["https://market.example.org", "http://[::1]:8000", "http://127.0.0.1:8000/"]
    assert known_origin("https://Market.Example.org/s/1-x", allowed) == "https://market.example.org"
    assert known_origin("http://[::1]:8000/s/1-x", allowed) == "http://[::1]:8000"
    assert known_origin("http://127.0.0.1:8000", allowed) == "http://127.0.0.1:8000"
    assert known_origin("http://127.0.0.1:80000", allowed) is None
    assert known_origin("http://localhost:8000", allowed) is None


def test_a_ticket_that_is_not_ours_opens_nothing(rosa):
    good = rosa.ticket()
    for change in [
        lambda ticket: "",
        lambda ticket: ticket[:-1],
        lambda ticket: "x" + ticket,
        lambda ticket: ticket.replace(":", ";"),
        lambda ticket: "ä" * 50,
        lambda ticket: signing.dumps([1, SUBMIT_TO], salt="another"),
        lambda ticket: "x" * 100_000,
    ]:
        sent = rosa.send(change(good), item_0="Blue", item_1="Red")
        refused(sent, says="open for too long, or its form was changed")
        assert rosa.row.response is None


def test_tickets_and_assignments_of_another_hit_open_nothing_here(rosa, stage):
    other = Visitor(make_hit(stage, "check:0", external_id="3NEXT"), worker="ATOM", assignment="3OTHER")
    refused(rosa.send(other.ticket(), item_0="Blue", item_1="Red"), says="form was changed")
    assert rosa.save(other.ticket(), {"0|choice": "Red"}).status_code == 403
    assert other.row.draft == {}
    page = rosa.open()
    moved = Visitor(rosa.hit, submit_to="https://evil.example")
    assert moved.open().status_code == 400
    url, _ = handed_over(rosa.send(field_of(page, "ticket"), item_0="Blue", item_1="Red"))
    assert url.startswith(f"{MARKET}/")


def test_a_ticket_ends_a_day_after_the_time_allowed(rosa, time_machine):
    ticket = rosa.ticket()
    time_machine.move_to(timezone.now() + timedelta(hours=25, minutes=1))
    refused(rosa.send(ticket, item_0="Blue", item_1="Red"), says="open for too long")


def test_a_mistake_of_ours_is_said_in_words_and_logged(rosa, stage, caplog):
    Stage.objects.update(config={"question": "?", "options": ["a", "b"], "items": []})
    with caplog.at_level(logging.CRITICAL + 1):
        response = rosa.open()
    refused(response, says="It is our mistake", status=500)
