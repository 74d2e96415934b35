"""Arrivals that no marketplace signed: they bar no one, are few, and leave nothing behind."""

import os
from datetime import timedelta

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.rates import limits
from crowd import taskpage
from crowd.adapters.mturk import MTurkAdapter
from crowd.models import Assignment, Claim, Endpoint, Hit, HitUnit, Worker
from crowd.services import responses, unproven
from crowd.services.arrivals import arrive
from examples.poll.models import Vote
from tests.scale import limit_cases
from tests.taskpage.world import Visitor, field_of, handed_over, make_hit, make_stage, text

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def stage():
    return make_stage()


@pytest.fixture
def hit(stage):
    return make_hit(stage)


def strangers(hit, number, *, saving=False):
    """So many arrivals that somebody made up, from as many addresses."""
    for n in range(number):
        visitor = Visitor(hit, worker=f"AFORGED{n}", assignment=f"3FORGED{n}")
        visitor.client.defaults["REMOTE_ADDR"] = f"192.0.2.{n % 250}"
        page = visitor.open()
        assert page.status_code == 200, text(page)
        if saving:
            assert visitor.save(field_of(page, "ticket"), {"0|choice": "x" * 1000}).status_code == 200


def test_a_signed_arrival_is_proven_and_from_then_on_others_are_refused(stage, hit):
    rosa = Visitor(hit, signed=True)
    handed_over(rosa.send(item_0="Blue", item_1="Red"))
    assert rosa.row.proven
    assert Endpoint.objects.get(pk=stage.endpoint_id).proves_arrivals
    refused = Visitor(hit, worker="AMADEUP", assignment="3MADEUP").open()
    assert (refused.status_code, "not the one that you were given" in text(refused)) == (403, True)
    assert not Worker.objects.filter(external_id="AMADEUP").exists()


def test_a_signature_is_for_this_worker_assignment_hit_and_address(hit):
    rosa = Visitor(hit, signed=True)
    rosa.open()
    elsewhere = "https://market.example.org/s/18-signature" + rosa.proof()[rosa.proof().index("~") :]
    for change in (
        {"workerId": "ATOM"}, {"assignmentId": "3OTHER"}, {"hitId": ""}, {"turkSubmitTo": elsewhere},
    ):  # fmt: skip
        assert rosa.open(**change).status_code == 403, change
        assert Assignment.objects.count() == 1


def test_who_holds_a_ticket_sends_what_they_did_before_the_marketplace_signed(hit):
    rosa = Visitor(hit)
    ticket = rosa.ticket()
    Visitor(hit, worker="ATOM", assignment="3TOM", signed=True).open()
    handed_over(rosa.send(ticket, item_0="Blue", item_1="Red"))
    assert rosa.row.state == State.STORED


def test_made_up_arrivals_are_few_and_go_for_each_other(hit):
    strangers(hit, 18)
    most = hit.places * unproven.FOR_EACH_PLACE
    assert Assignment.objects.count() == Worker.objects.count() == most
    assert Claim.objects.count() == most * 2
    rosa = Visitor(hit)
    handed_over(rosa.send(item_0="Blue", item_1="Red"))
    assert rosa.row.state == State.STORED


def test_however_many_arrive_rows_are_bounded_at_every_step_and_nobody_is_barred(stage, hit):
    """10,000 leave what 100 leave (docs/decisions/0026): each arrival beyond the bound removes the oldest."""
    other = make_hit(stage, "item:1", external_id="3OTHER")
    most = (hit.places + other.places) * unproven.FOR_EACH_PLACE
    for n in range(limit_cases(400)):
        arrive(hit=(hit, other)[n % 2], external_id=f"3F{n}", worker_id=f"AF{n}", proven=False)
        assert max(Assignment.objects.count(), Worker.objects.count()) <= most
    assert Claim.objects.count() <= 2 * most
    rosa = Visitor(hit)
    assert text(rosa.open()) == text(rosa.open()), "a reload shows the same"
    handed_over(rosa.send(item_0="Blue", item_1="Red"))
    assert rosa.row.state == State.STORED
    Assignment.objects.filter(response__isnull=True).update(
        state=State.ENDED, arrived_at=timezone.now() - unproven.KEPT - timedelta(hours=1)
    )
    unproven.sweep(stage)
    assert list(Worker.objects.values_list("external_id", flat=True)) == ["AROSA"]


def test_a_draft_outlives_any_number_of_forged_ones_from_another_network(hit):
    rosa = Visitor(hit)
    rosa.client.defaults["REMOTE_ADDR"] = "198.51.100.7"
    rosa.save(rosa.ticket(), {"0|choice": "Blue"})
    for n in range(20):
        arrive(hit=hit, external_id=f"3F{n}", worker_id=f"AF{n}", proven=False, network="one machine")
        forged = Assignment.objects.get(external_id=f"3F{n}")
        assert responses.keep_draft(forged, {"0|choice": "Red"})
    assert rosa.row.draft == {"0|choice": "Blue"}
    assert Assignment.objects.count() == hit.places * unproven.FOR_EACH_PLACE


def test_of_drafts_from_as_many_networks_the_one_that_rested_longest_goes(hit):
    rosa = Visitor(hit)
    ticket = rosa.ticket()
    for n in range(20):
        arrive(hit=hit, external_id=f"3F{n}", worker_id=f"AF{n}", proven=False, network=f"machine {n}")
        responses.keep_draft(Assignment.objects.get(external_id=f"3F{n}"), {"0|choice": "Red"})
        if n % 5 == 0:
            assert rosa.save(ticket, {"0|choice": f"Blue {n}"}).status_code == 200
    assert rosa.row.draft == {"0|choice": "Blue 15"}


def test_a_page_whose_draft_made_way_sends_all_of_it_again(hit):
    rosa = Visitor(hit)
    ticket = rosa.ticket()
    assert rosa.save(ticket, {"0|choice": "Blue"}).json() == {"kept": True}
    Assignment.objects.all().delete()
    assert rosa.save(ticket, {"1|choice": "Red"}).json() == {"kept": True, "send_all": True}
    assert rosa.save(ticket, {"0|choice": "Blue", "1|choice": "Red"}).json() == {"kept": True}
    assert rosa.row.draft == {"0|choice": "Blue", "1|choice": "Red"}


def test_all_addresses_that_one_person_has_of_ipv6_are_one(hit):
    request = RequestFactory()
    places = ("2001:db8::1", "2001:db8::ffff", "2001:db8:0:1::1", "198.51.100.7")
    requests = [request.get("/", REMOTE_ADDR=place) for place in places]
    assert len({taskpage.network_of(each, hit) for each in requests}) == 3
    for n in range(taskpage.MOST_ARRIVALS_AT_ONE_HIT):
        assert taskpage.may_arrive(request.get("/", REMOTE_ADDR=f"2001:db8::{n:x}"), hit)
    assert not taskpage.may_arrive(request.get("/", REMOTE_ADDR="2001:db8::abcd"), hit)


def test_an_answer_is_stored_though_strangers_took_the_place_of_its_arrival(hit):
    rosa = Visitor(hit)
    ticket = rosa.ticket()
    strangers(hit, 16, saving=True)
    assert not Assignment.objects.filter(worker__external_id="AROSA").exists()
    assert Assignment.objects.exclude(draft={}).count() == hit.places * unproven.FOR_EACH_PLACE
    handed_over(rosa.send(ticket, item_0="Blue", item_1="Red"))
    assert rosa.row.response is not None
    strangers(hit, 16, saving=True)
    assert rosa.row.state == State.STORED


def test_one_address_opens_and_saves_so_much_and_no_more(hit, monkeypatch):
    monkeypatch.setattr(taskpage, "MOST_ARRIVALS_AT_ONE_HIT", 5)
    visitor = Visitor(hit)
    opened = [visitor.open(assignmentId=f"3A{n}").status_code for n in range(6)]
    assert opened == [200] * 5 + [429]
    limits().forget_all()
    ticket = visitor.ticket()
    limits().count("drafts:127.0.0.1", taskpage.MOST_SAVED, within_s=60)
    assert visitor.save(ticket, {"0|choice": "Blue"}).status_code == 429


def test_work_opened_in_a_workers_name_bars_them_from_nothing(stage, hit):
    Visitor(make_hit(stage, "item:1", external_id="3NEXT"), assignment="3FORGED").open()
    rosa = Visitor(hit)
    handed_over(rosa.send(item_0="Blue", item_1="Red"))
    assert rosa.row.state == State.STORED


def answered_by_another(hit, minutes):
    """Somebody answered in Rosa's name, so long ago; nothing of it is at the marketplace."""
    forged = Visitor(hit, assignment="3FORGED")
    handed_over(forged.send(item_0="Red", item_1="Red"))
    Assignment.objects.update(stored_at=timezone.now() - timedelta(minutes=minutes))
    return forged


@pytest.fixture
def listed(monkeypatch):
    """What the marketplace lists, by its ids; it is not asked over a network here."""
    found = {}
    monkeypatch.setattr(MTurkAdapter, "get_submission", lambda self, ref: found.get(ref))
    return found


def test_an_answer_in_a_workers_name_makes_way_for_the_worker(hit, listed):
    forged = answered_by_another(hit, minutes=3)
    rosa = Visitor(hit)
    handed_over(rosa.send(item_0="Blue", item_1="Red"))
    assert (forged.row.state, forged.row.held) == (State.QUARANTINED, True)
    assert forged.row.response is not None, "nothing is lost"
    assert rosa.row.state == State.STORED
    assert Vote.objects.filter(assignment=rosa.row).count() == 2


def test_an_answer_that_may_still_be_on_its_way_to_the_marketplace_stands(hit, listed):
    first = answered_by_another(hit, minutes=1)
    assert Visitor(hit).open().status_code == 403
    assert first.row.state == State.STORED


def test_an_answer_that_the_marketplace_lists_stands(hit, listed):
    first = answered_by_another(hit, minutes=3)
    listed["3FORGED"] = "a submission"
    assert Visitor(hit).open().status_code == 403
    assert first.row.state == State.STORED


#: HITs full of forged rows, 15 each: FORGED_HITS=700 for the 10,500 of docs/decisions/0026.
FORGED_HITS = int(os.environ.get("FORGED_HITS", "20"))


def test_forged_openings_cost_a_worker_no_further_statement_and_are_pruned(stage, hit, monkeypatch):
    """However many openings there were, they leave at most five rows for each place: put there at once."""
    monkeypatch.setattr(unproven, "MOST_REMOVED", 5 * FORGED_HITS)
    with CaptureQueriesContext(connection) as alone:
        handed_over(Visitor(hit, worker="AONE", assignment="3ONE").send(item_0="Blue", item_1="Red"))
    fill_with_forged(stage, hits=FORGED_HITS)
    before = Assignment.objects.count()
    assert before == 15 * FORGED_HITS + 1
    for n in range(5):  # more of them, at HITs that are full
        other = stage.hits.get(ordinal=n + 1)
        arrive(hit=other, external_id=f"3G{n}", worker_id=f"AG{n}", proven=False, network="z")
    assert Assignment.objects.count() == before
    with CaptureQueriesContext(connection) as among_forged:
        handed_over(Visitor(hit, worker="ATWO", assignment="3TWO").send(item_0="Blue", item_1="Red"))
    assert len(among_forged) <= len(alone)
    full = stage.hits.get(ordinal=1)
    rosa = Visitor(full)
    ticket = rosa.ticket()
    assert rosa.save(ticket, {"0|choice": "Blue"}).status_code == 200
    handed_over(rosa.send(ticket, item_1="Blue"))

    Assignment.objects.filter(response__isnull=True).update(
        state=State.ENDED, arrived_at=timezone.now() - unproven.KEPT - timedelta(hours=1)
    )
    with CaptureQueriesContext(connection) as sweep:
        unproven.sweep(stage)
    assert len(sweep) < max(100, unproven.MOST_REMOVED // 10), "in batches, not row by row"
    assert Assignment.objects.count() == before + 1 - unproven.MOST_REMOVED
    for _ in range(3):
        unproven.sweep(stage)
    assert set(Worker.objects.values_list("external_id", flat=True)) == {"AONE", "ATWO", "AROSA"}
    assert Assignment.objects.count() == 3


def fill_with_forged(stage, *, hits):
    """As many HITs of one unit, all full of forged arrivals."""
    first = Hit.objects.filter(stage=stage).count()
    made = Hit.objects.bulk_create(
        Hit(
            stage=stage, ordinal=first + n, places=3, reward_cents=10, fee_cents=2, external_id=f"3HIT{n}",
            state=Hit.State.OPEN,
        )
        for n in range(hits)
    )  # fmt: skip
    HitUnit.objects.bulk_create(
        HitUnit(hit=hit, unit="item:1", role=HitUnit.Role.UNIT, position=0) for hit in made
    )
    now = timezone.now()
    places = [(hit, n) for hit in made for n in range(hit.places * unproven.FOR_EACH_PLACE)]
    workers = Worker.objects.bulk_create(
        Worker(endpoint=stage.endpoint, external_id=f"AX{at}", first_seen_at=now) for at in range(len(places))
    )
    work = Assignment.objects.bulk_create(
        Assignment(
            stage=stage, hit=hit, worker=worker, external_id=f"3X{worker.external_id}", arrived_at=now,
            arrived_from=f"machine {n}", draft={"0|choice": "Red"}, saved_at=now,
        )
        for (hit, n), worker in zip(places, workers, strict=True)
    )  # fmt: skip
    Claim.objects.bulk_create(
        Claim(stage=stage, unit="item:1", worker=each.worker, assignment=each) for each in work
    )


def test_what_was_given_up_without_an_answer_is_swept_with_its_worker(stage, hit):
    strangers(hit, 3)
    rosa = Visitor(hit)
    rosa.send(item_0="Blue", item_1="Red")
    Assignment.objects.filter(response__isnull=True).update(
        state=State.ENDED, arrived_at=timezone.now() - unproven.KEPT - timedelta(hours=1)
    )
    unproven.sweep(stage)
    assert list(Worker.objects.values_list("external_id", flat=True)) == ["AROSA"]
    assert rosa.row.response is not None
