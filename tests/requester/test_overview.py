"""The first page of a requester: money, what needs somebody, what came in."""

from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.models import HIT, Holding
from marketplace.money import deposits
from marketplace.qualifications import grants
from tests.site import world


@pytest.fixture
def group(lab):
    return world.make_group(lab, "Name the colour", reward_cents=20)


def words(page) -> list[tuple[str, bool]]:
    return [(need.text, need.urgent) for need in page.context["needs"]]


def test_a_new_requester_reads_how_to_begin(as_owner, owner):
    fresh = world.make_requester("Fresh Lab", dollars=0, owner=owner)
    text = as_owner.get(f"/requester/{fresh.customer_id}/").content.decode()
    assert "How to begin" in text and "and deposit" in text and "/mturk/api" in text
    assert "What needs your attention" not in text
    deposits.deposit(requester=fresh, cents=100)
    assert "and deposit" not in as_owner.get(f"/requester/{fresh.customer_id}/").content.decode()


def test_what_needs_somebody_is_said_in_sentences(as_owner, at, lab, other, group, rosa, ben):
    assert words(as_owner.get(at())) == []
    hit = world.post(group, places=3)
    soon = world.do(rosa, hit)
    world.do(ben, hit)
    world.do(rosa, world.post(world.make_group(other)))
    assert words(as_owner.get(at())) == [("2 answers wait for a decision.", False)]
    Holding.objects.filter(pk=soon.pk).update(auto_approve_at=clock.now() + timedelta(hours=5))
    HIT.objects.filter(pk=hit.pk).update(expires_at=clock.now() + timedelta(hours=5))
    grants.ask(worker=rosa, qualification_type=world.make_qualification(lab, "Reading"))
    world.write(ben, lab, hit_type=group)
    page = as_owner.get(at())
    assert words(page) == [
        ("1 answer is approved automatically within a day unless you decide.", True),
        ("2 answers wait for a decision.", False),
        ("1 worker asks for a qualification.", False),
        ("1 message of a worker is open.", False),
        ("1 HIT with open places expires within a day.", False),
    ]
    for need in page.context["needs"]:
        assert as_owner.get(need.address).status_code == 200


def test_what_came_in_is_drawn_by_day_and_state(as_owner, at, group, rosa, ben):
    hit = world.post(group, places=4, at=clock.now() - timedelta(days=5))
    with world.in_the_past(days=2):
        world.approve(world.do(rosa, hit))
        world.reject(world.do(ben, hit), "Empty.")
    world.do(world.make_worker("carl"), hit)
    page = as_owner.get(at())
    chart = page.context["chart"]
    days = [(day.counts, day.total) for day in chart.days]
    assert days[11] == ({"approved": 1, "rejected": 1}, 2)
    assert days[13] == ({"submitted": 1}, 1)
    assert (chart.highest, chart.total, len(chart.days)) == (2, 3, 14)
    assert [(piece.state, piece.y, piece.height) for piece in chart.days[11].pieces] == [
        ("approved", 60.0, 60.0),
        ("rejected", 0.0, 60.0),
    ]


def test_types_lead_to_their_hits_and_their_review(as_owner, at, group, rosa):
    world.do(rosa, world.post(group))
    text = as_owner.get(at()).content.decode()
    assert f"{at('hits/')}?type={group.type_id}" in text
    assert f"{at('review/')}?type={group.type_id}" in text


def test_the_overview_costs_the_same_with_one_answer_and_with_many(as_owner, at, lab, group, queries_of):
    hit = world.post(group, places=9)
    world.do(world.make_worker("w0"), hit)
    one = queries_of(as_owner, at())
    for number in range(1, 9):
        world.do(world.make_worker(f"w{number}"), hit)
        world.post(world.make_group(lab, f"group {number}"))
    assert queries_of(as_owner, at()) == one
