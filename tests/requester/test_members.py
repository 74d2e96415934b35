"""Several people for one requester: who may do what, and how members come and go."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from marketplace import members
from marketplace.errors import Refusal
from marketplace.members import Action, may
from marketplace.models import Activity, RequesterMember
from marketplace.money.deposits import may_book
from tests.site.conftest import signed_in

#: What each role may do, in words of the pages.
EXPECTED = {
    "owner": {"view", "review", "manage", "pay", "keys", "members"},
    "manager": {"view", "review", "manage", "keys"},
    "reviewer": {"view", "review"},
    "payer": {"view", "pay"},
    "viewer": {"view"},
}


@pytest.fixture
def people(lab) -> dict[str, User]:
    found = {role: User.objects.create_user(f"{role}-ada", password="still warm copper") for role in EXPECTED}
    for role, user in found.items():
        members.set_role(requester=lab, user=user, role=role)
    return found


def test_each_role_may_do_what_it_is_for(lab, other, people, owner, staff):
    for role, user in people.items():
        assert {action.value for action in Action if may(user, lab, action)} == EXPECTED[role], role
        assert not any(may(user, other, action) for action in Action), role
    assert all(may(owner, lab, action) for action in Action)
    assert all(may(staff, other, action) for action in Action)
    people["manager"].is_active = False
    people["manager"].save()
    assert not may(people["manager"], lab, Action.VIEW), "the account is closed"


def test_pages_and_buttons_are_there_for_those_who_may(lab, at, people):
    wanted = {"": "view", "keys/": "keys", "money/deposit": "pay", "message/": "manage", "members/": "view"}
    for role, user in people.items():
        browser = signed_in(user)
        for path, action in wanted.items():
            expected = 200 if action in EXPECTED[role] else 404
            assert browser.get(at(path)).status_code == expected, f"{role} at {path or 'the overview'}"
        posted = browser.post(at("members/set"), {"username": "viewer-ada", "role": "viewer"}).status_code
        assert posted == (302 if role == "owner" else 404), role
        assert (at("keys/") in browser.get(at()).text) == ("keys" in EXPECTED[role]), role


def test_a_payer_books_play_money_and_nobody_but_staff_real_money(lab, people, staff):
    assert may_book(lab, people["payer"])
    assert not may_book(lab, people["manager"])
    lab.real_money = True
    assert not may_book(lab, people["payer"])
    assert may_book(lab, staff)


def test_members_find_the_requester_at_their_desk(lab, people):
    assert lab.name in signed_in(people["viewer"]).get("/desk/").text


def test_the_owner_names_and_removes_members_and_it_is_written_down(lab, at, owner, as_owner):
    User.objects.create_user("ada", password="still warm copper")
    as_owner.post(at("members/set"), {"username": "ada", "role": "reviewer"})
    member = RequesterMember.objects.get(requester=lab)
    assert (member.user.username, member.role) == ("ada", "reviewer")
    as_owner.post(at(f"members/{member.user_id}/remove"))
    assert not lab.members.exists()
    noted = Activity.objects.filter(requester=lab, action__startswith="member.").order_by("pk")
    assert [(row.action, row.subject, row.actor) for row in noted] == [
        ("member.set", "ada", "olga"),
        ("member.removed", "ada", "olga"),
    ]


def test_what_makes_no_member_is_refused_in_words(lab, at, as_owner, stranger, subtests):
    for form, why in [
        ({"username": "nobody-here", "role": "viewer"}, "There is no user"),
        ({"username": "olga", "role": "viewer"}, "owns this requester"),
        ({"username": "sam", "role": "king"}, "Role"),
    ]:
        with subtests.test(form=form, why=why):
            answer = as_owner.post(at("members/set"), form, follow=True)
            assert why in answer.text
            assert not lab.members.exists()


def test_members_leave_by_themselves_and_take_nobody_with_them(lab, at, people):
    browser = signed_in(people["viewer"])
    browser.post(at(f"members/{people['payer'].pk}/remove"))
    assert lab.members.filter(user=people["payer"]).exists()
    assert browser.post(at(f"members/{people['viewer'].pk}/remove")).url == "/desk/"
    assert not lab.members.filter(user=people["viewer"]).exists()
    assert browser.get(at()).status_code == 404


def test_a_service_asks_again_who_changes_members(lab, people):
    with pytest.raises(Refusal, match="Owners name"):
        members.set_role(requester=lab, user=people["viewer"], role="owner", by=people["manager"])


def test_the_owner_is_changed_once_and_stays_as_manager(lab, owner, people):
    members.hand_over(requester=lab, before=owner, after=people["manager"])
    lab.refresh_from_db()
    assert lab.owner == people["manager"]
    assert members.role_of(owner, lab) == "manager"
    with pytest.raises(Refusal, match="another owner"):
        members.hand_over(requester=lab, before=owner, after=people["viewer"])


def test_a_member_costs_a_page_no_further_query(lab, at, as_owner, people):
    def asked(browser: Client) -> int:
        browser.get(at("members/"))
        with CaptureQueriesContext(connection) as queries:
            browser.get(at("members/"))
        return len(queries)

    assert asked(signed_in(people["viewer"])) <= asked(as_owner)
