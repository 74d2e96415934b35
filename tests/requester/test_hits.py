"""HITs of a requester: the table, one of them, and what can be done with it."""

import uuid
from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.lifecycle.selectors import hit_status
from marketplace.models import HIT
from marketplace.money import ledger
from tests.site import world


@pytest.fixture
def group(lab):
    return world.make_group(lab, "Name the colour", reward_cents=20)


@pytest.fixture
def hit(group):
    return world.post(group, places=3)


def rows(page):
    return [row.hit_id for row in page.context["rows"]]


def test_the_table_shows_the_newest_first_with_what_became_of_their_places(as_owner, at, group, rosa, ben):
    old = world.post(group, places=2, at=clock.now() - timedelta(days=2))
    new = world.post(group, places=3)
    world.approve(world.do(rosa, old))
    world.do(ben, old)
    page = as_owner.get(at("hits/"))
    assert rows(page) == [new.hit_id, old.hit_id]
    text = page.content.decode()
    assert "Name the colour" in text
    assert f'href="{at(f"review/hits/{old.hit_id}/")}">1</a>' in text


def test_the_table_is_filtered_by_state_type_and_words(as_owner, at, lab, group, rosa, ben):
    waiting = world.post(group, places=1)
    world.do(rosa, waiting)
    taken = world.post(group, places=1)
    world.take(ben, taken)
    done = world.post(group, places=1)
    world.approve(world.do(rosa, done))
    assignable = world.post(world.make_group(lab, "Count the birds"))
    HIT.objects.filter(pk=assignable.pk).update(annotation="batch of birds")
    HIT.objects.filter(pk=done.pk).update(reviewing=True)
    assert rows(as_owner.get(at("hits/?state=waiting"))) == [waiting.hit_id]
    assert rows(as_owner.get(at("hits/?state=unassignable"))) == [taken.hit_id]
    assert rows(as_owner.get(at("hits/?state=assignable"))) == [assignable.hit_id]
    assert rows(as_owner.get(at("hits/?state=reviewable"))) == [waiting.hit_id]
    assert rows(as_owner.get(at("hits/?state=reviewing"))) == [done.hit_id]
    assert rows(as_owner.get(at(f"hits/?type={assignable.hit_type.type_id}"))) == [assignable.hit_id]
    assert rows(as_owner.get(at("hits/?q=of+BIRDS"))) == [assignable.hit_id]
    assert rows(as_owner.get(at("hits/?q=birds"))) == [assignable.hit_id]
    assert rows(as_owner.get(at(f"hits/?q={taken.hit_id}"))) == [taken.hit_id]
    assert rows(as_owner.get(at("hits/?state=disposed"))) == []
    assert rows(as_owner.get(at("hits/?batch=1"))) == []


def test_the_table_comes_as_a_file_that_no_spreadsheet_runs(as_owner, at, lab):
    hit = world.post(world.make_group(lab, '=HYPERLINK("https://evil.example")'))
    answer = as_owner.get(at("hits/?format=csv"))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    assert lines[0].startswith("id,title,type,status,")
    assert lines[1].startswith(f"{hit.hit_id},\"'=HYPERLINK(")
    assert ",Assignable," in lines[1]


def test_the_table_costs_the_same_with_one_row_and_with_many(as_owner, at, lab, queries_of):
    world.post(world.make_group(lab))
    one = queries_of(as_owner, at("hits/"))
    for number in range(24):
        world.post(world.make_group(lab, f"group {number}"))
    assert queries_of(as_owner, at("hits/")) == one


def test_hits_of_others_do_not_exist(as_owner, at, other):
    theirs = world.post(world.make_group(other))
    for path in ("", "task/"):
        assert as_owner.get(at(f"hits/{theirs.hit_id}/{path}")).status_code == 404
    for path in ("more-time/", "more-places/", "expire/", "reviewing/", "delete/"):
        assert as_owner.post(at(f"hits/{theirs.hit_id}/{path}")).status_code == 404
    assert rows(as_owner.get(at("hits/"))) == []


def test_a_hit_shows_who_answered_and_not_who_is_at_work(as_owner, at, hit, rosa, ben):
    world.do(rosa, hit)
    world.take(ben, hit)
    page = as_owner.get(at(f"hits/{hit.hit_id}/")).content.decode()
    assert "AROSA" in page
    assert "ABEN" not in page
    assert "<strong>1</strong> of 3 answered" in page
    assert "$0.60" in page  # on hold
    framed = as_owner.get(at(f"hits/{hit.hit_id}/task/"))
    assert "ASSIGNMENT_ID_NOT_AVAILABLE" in framed.content.decode()
    assert "frame-src" in framed.headers["Content-Security-Policy"]


def test_a_hit_can_stay_longer_and_pressing_twice_asks_for_the_same(as_owner, at, hit):
    form = as_owner.get(at(f"hits/{hit.hit_id}/")).context["time_form"]
    sent = {"hours": "24", "since": form["since"].value()}
    for _ in range(2):
        answer = as_owner.post(at(f"hits/{hit.hit_id}/more-time/"), sent, follow=True)
        assert "It stays on offer until" in answer.content.decode()
    before = hit.expires_at
    hit.refresh_from_db()
    assert hit.expires_at - before == timedelta(hours=24)


def test_a_time_that_cannot_be_is_refused_in_words(as_owner, at, hit, subtests):
    for sent, said in [
        ({"hours": "0", "since": "1"}, "Hours more"),
        ({"hours": "24", "since": "1"}, "That is over already"),
        ({"hours": "8760", "since": "7000000000"}, "at most a year"),
        ({"hours": "2"}, "This field is required"),
    ]:
        with subtests.test(sent=sent, said=said):
            answer = as_owner.post(at(f"hits/{hit.hit_id}/more-time/"), sent, follow=True)
            assert said in answer.content.decode()
            before = hit.expires_at
            hit.refresh_from_db()
            assert hit.expires_at == before


def test_places_are_added_once_and_over_the_border_between_nine_and_ten_not_at_all(as_owner, at, lab, hit):
    assert "At most 6 more" in as_owner.get(at(f"hits/{hit.hit_id}/")).content.decode()
    sent = {"places": "7", "once": str(uuid.uuid4())}
    answer = as_owner.post(at(f"hits/{hit.hit_id}/more-places/"), sent, follow=True).content.decode()
    assert "cannot be extended to that many" in answer
    hit.refresh_from_db()
    assert hit.max_assignments == 3
    sent["places"] = "6"
    first = as_owner.post(at(f"hits/{hit.hit_id}/more-places/"), sent, follow=True)
    assert "6 places more." in first.content.decode()
    again = as_owner.post(at(f"hits/{hit.hit_id}/more-places/"), sent, follow=True)
    assert "This was done already" in again.content.decode()
    hit.refresh_from_db()
    lab.refresh_from_db()
    assert hit.max_assignments == 9
    assert lab.held_cents == 9 * 20
    assert ledger.audit() == []


def test_without_money_no_place_is_added(as_owner, at, owner):
    poor = world.make_requester("Poor Lab", dollars=1, owner=owner)
    hit = world.post(world.make_group(poor, reward_cents=60))
    sent = {"places": "1", "once": str(uuid.uuid4())}
    answer = as_owner.post(f"/requester/{poor.customer_id}/hits/{hit.hit_id}/more-places/", sent, follow=True)
    assert "insufficient funds" in answer.content.decode()
    hit.refresh_from_db()
    assert hit.max_assignments == 1


def test_a_hit_expires_and_its_money_comes_back(as_owner, at, lab, hit, rosa):
    world.take(rosa, hit)
    for _ in range(2):
        answer = as_owner.post(at(f"hits/{hit.hit_id}/expire/"), follow=True)
        assert "It has expired" in answer.content.decode()
    hit.refresh_from_db()
    lab.refresh_from_db()
    assert hit_status(hit, clock.now() + timedelta(seconds=1)) == "Unassignable"
    assert lab.held_cents == 20
    assert ledger.audit() == []


def test_a_hit_is_marked_and_unmarked(as_owner, at, group, rosa):
    hit = world.post(group)
    world.do(rosa, hit)
    as_owner.post(at(f"hits/{hit.hit_id}/reviewing/"))
    hit.refresh_from_db()
    assert hit.reviewing
    as_owner.post(at(f"hits/{hit.hit_id}/reviewing/"), {"revert": "1"})
    hit.refresh_from_db()
    assert not hit.reviewing


def test_a_hit_is_deleted_when_everything_is_decided_and_not_before(as_owner, at, group, rosa):
    hit = world.post(group)
    work = world.do(rosa, hit)
    page = as_owner.get(at(f"hits/{hit.hit_id}/")).content.decode()
    assert "Delete it" not in page
    refused = as_owner.post(at(f"hits/{hit.hit_id}/delete/"), follow=True).content.decode()
    assert "This HIT is currently in the state" in refused
    world.approve(work)
    assert "Delete it" in as_owner.get(at(f"hits/{hit.hit_id}/")).content.decode()
    for said in ("Deleted. Its work", "It was deleted already."):
        assert said in as_owner.post(at(f"hits/{hit.hit_id}/delete/"), follow=True).content.decode()
    assert rows(as_owner.get(at("hits/"))) == []
    assert rows(as_owner.get(at("hits/?state=disposed"))) == [hit.hit_id]
    assert as_owner.get(at(f"hits/{hit.hit_id}/")).status_code == 200


def test_what_time_has_done_is_done_before_a_hit_is_shown(as_owner, at, group, rosa):
    hit = world.post(group, places=1)
    with world.in_the_past(days=4):
        world.do(rosa, hit)
    page = as_owner.get(at(f"hits/{hit.hit_id}/")).content.decode()
    assert '<span class="by">automatically</span>' in page
