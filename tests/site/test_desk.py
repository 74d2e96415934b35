"""The desk of staff and requesters."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from marketplace.models import CallLog
from tests.site import world
from tests.site.conftest import signed_in


@pytest.fixture
def owner(db) -> User:
    return User.objects.create_user("olga", password="still warm copper")


def log(requester, operation="GetHIT", result="ok"):
    return CallLog.objects.create(
        at=timezone.now(),
        request_id=uuid.uuid4(),
        requester=requester,
        operation=operation,
        result=result,
        milliseconds=3.25,
        executed=result == "ok",
    )


def test_strangers_find_no_desk(as_rosa, visitor):
    assert as_rosa.get("/desk/").status_code == 404
    assert visitor.get("/desk/").headers["Location"] == "/accounts/login/?next=/desk/"


def test_the_desk_shows_how_to_point_a_script_here(lab, as_staff, settings):
    key = lab.keys.get()
    page = as_staff.get("/desk/").content.decode()
    assert 'endpoint_url="http://testserver/mturk/api"' in page
    assert f'aws_access_key_id="{key.access_key}"' in page
    assert key.secret_sealed not in page
    settings.PUBLIC_URL = "https://crowd.example.org"
    assert 'endpoint_url="https://crowd.example.org/mturk/api"' in as_staff.get("/desk/").content.decode()


def test_the_desk_shows_money_and_progress(lab, rosa, ben, as_staff):
    group = world.make_group(lab, "Judge an answer", reward_cents=100)
    hit = world.post(group, places=6)
    world.approve(world.do(rosa, hit))
    world.do(ben, hit)
    world.take(world.make_worker("carl"), hit)
    world.reject(world.do(world.make_worker("dana"), hit), "Empty.")
    page = as_staff.get("/desk/")
    row = page.context["progress"][0]
    assert (row.total, row.approved, row.submitted, row.pending, row.rejected, row.open) == (6, 1, 1, 1, 1, 2)
    assert row.done == 3
    assert sum(part.width for part in row.parts) == pytest.approx(1000, abs=1)
    text = page.content.decode()
    assert "<strong>3</strong> of 6 answered" in text
    assert "Judge an answer" in text
    assert "$4.00" in text


def test_owners_see_their_own_requester_and_no_other(lab, owner):
    mine = world.make_requester("Mine", owner=owner)
    world.post(world.make_group(mine, "my group"))
    world.post(world.make_group(lab, "their group"))
    log(mine, "ListHITs")
    log(lab, "SendBonus")
    page = signed_in(owner).get("/desk/").content.decode()
    assert "my group" in page and "ListHITs" in page
    assert "their group" not in page
    assert "Answer Lab" not in page
    assert "SendBonus" not in page


def test_calls_are_paged_from_the_latest_on(lab, as_staff):
    calls = [log(lab, f"Call{number:02}") for number in range(45)]
    first = as_staff.get("/desk/")
    assert [call.operation for call in first.context["calls"]] == [f"Call{n:02}" for n in range(44, 24, -1)]
    second = as_staff.get(f"/desk/?before={first.context['older_calls']}")
    assert [call.operation for call in second.context["calls"]] == [f"Call{n:02}" for n in range(24, 4, -1)]
    last = as_staff.get(f"/desk/?before={calls[5].pk}")
    assert [call.operation for call in last.context["calls"]] == [f"Call{n:02}" for n in range(4, -1, -1)]
    assert last.context["older_calls"] is None
    assert as_staff.get("/desk/?before=nonsense").status_code == 200
    assert as_staff.get(f"/desk/?before={10**40}").status_code == 200


def test_refused_calls_show_their_error(lab, as_staff):
    log(lab, "CreateHIT", "AWS.MechanicalTurk.InsufficientFunds")
    log(None, "<script>", "InvalidSignature")
    page = as_staff.get("/desk/").content.decode()
    assert "AWS.MechanicalTurk.InsufficientFunds" in page
    assert "&lt;script&gt;" in page


def test_the_desk_costs_the_same_with_one_row_and_with_thirty(lab, as_staff, queries_of):
    world.post(world.make_group(lab))
    log(lab)
    one = queries_of(as_staff, "/desk/")
    for number in range(29):
        requester = world.make_requester(f"Lab {number}")
        world.post(world.make_group(requester, f"group {number}"))
        log(requester)
    assert queries_of(as_staff, "/desk/") == one
