"""Invitations by link and mail, and ownership that changes hands."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from core.accounts import memberships
from core.accounts.memberships import InvitationPlan, MembershipError
from core.accounts.models import MemberInvitation
from core.jobs.models import Job
from core.notices import letters
from core.projects.models import Event, Membership, Project
from core.projects.services import create_project, set_role
from marketplace.members import role_of
from tests.site import world as site

pytestmark = pytest.mark.django_db
PASSWORD = "seven green kettles"


def person(name: str) -> User:
    return User.objects.create_user(name, password=PASSWORD)


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner() -> User:
    return person("olga")


@pytest.fixture
def project(owner) -> Project:
    return create_project(slug="reading", title="Reading", owner=owner)


def link(by: User, *, kind: str = "project", target: str = "reading", **plan) -> str:
    """The path of a new invitation."""
    made, _ = memberships.invite(
        kind=kind, target=target, plan=InvitationPlan(**({"role": "manager"} | plan)), by=by, base=""
    )
    return made


def test_the_owner_invites_by_a_link_and_sees_who_accepted(project, owner):
    at_home = browser(owner)
    answer = at_home.post(
        "/accounts/members/project/reading/invite/",
        {"role": "viewer", "email": "", "max_uses": "2", "days": "3"},
        follow=True,
    )
    path = re.search(r"http://testserver(/accounts/invitations/[\w-]+/)", answer.text)
    assert path
    assert path.group(1) not in at_home.get("/desk/projects/reading/members/").text, "shown once"
    mira = person("mira")
    guest = browser(mira)
    assert "invites you to" in guest.get(path.group(1)).text
    assert guest.post(path.group(1))["Location"] == "/desk/projects/reading/members/"
    assert Membership.objects.get(project=project, user=mira).role == "viewer"
    assert "accepted by <bdi>mira</bdi>" in at_home.get("/desk/projects/reading/members/").text


def test_somebody_without_an_account_makes_one(project, owner):
    path, visitor = link(owner), Client()
    assert "Or make an account" in visitor.get(path).text
    weak = {"username": "newcomer", "password1": "newcomer1", "password2": "newcomer1"}
    assert visitor.post(path, weak).status_code == 422
    strong = {"username": "newcomer", "password1": "three slow rivers", "password2": "three slow rivers"}
    assert visitor.post(path, strong).status_code == 302
    assert Membership.objects.get(user__username="newcomer").role == "manager"
    assert visitor.get("/desk/projects/reading/").status_code == 200


def test_a_link_for_one_lets_one_in_and_is_its_makers_no_longer_than_their_right(project, owner):
    other = person("other")
    set_role(project=project, user=other, role="owner")
    path = link(other)
    set_role(project=project, user=other, role="viewer")
    assert browser(person("mira")).post(path).status_code == 404
    path = link(owner)
    assert browser(person("first")).post(path).status_code == 302
    second = Client()
    assert second.get(path).status_code == 404
    form = {"username": "second", "password1": "three slow rivers", "password2": "three slow rivers"}
    assert second.post(path, form).status_code == 404
    assert not User.objects.filter(username="second").exists()


def test_a_link_that_is_over_or_was_revoked_opens_nothing(project, owner):
    path = link(owner, days=1)
    with time_machine.travel(timezone.now() + timedelta(days=1, minutes=1)):
        assert browser(person("late")).post(path).status_code == 404
    assert not Membership.objects.filter(user__username="late").exists()
    pk = MemberInvitation.objects.get().pk
    address = f"/accounts/members/project/reading/invitations/{pk}/revoke/"
    assert browser(person("sam")).post(address).status_code == 404
    browser(owner).post(address)
    assert browser(person("mira")).post(path).status_code == 404


def test_nobody_accepts_twice_or_loses_a_greater_role(project, owner):
    path = link(owner, role="viewer", max_uses=3)
    mira = person("mira")
    set_role(project=project, user=mira, role="manager")
    for _ in range(2):
        browser(mira).post(path)
        assert Membership.objects.get(project=project, user=mira).role == "manager"
    assert MemberInvitation.objects.get().uses == 1


def test_an_invitation_that_cannot_be_is_refused(project, owner, subtests):
    for plan in [
        {"role": "king"},
        {"days": 0},
        {"days": 1000},
        {"max_uses": 0},
        {"email": "a@example.org", "max_uses": 2},
    ]:
        with subtests.test(plan=plan), pytest.raises(MembershipError):
            link(owner, **plan)


def test_who_names_no_members_invites_nobody(project, owner):
    manager = person("manager")
    set_role(project=project, user=manager, role="manager")
    with pytest.raises(MembershipError, match="may not invite"):
        link(manager)
    assert browser(manager).post("/accounts/members/project/reading/invite/").status_code == 404
    assert browser(manager).post("/accounts/members/nothing/reading/invite/").status_code == 404


def test_an_invitation_by_mail_is_known_to_its_reader_alone(project, owner, settings):
    settings.NOTICES_BY_EMAIL = True
    path, sent = memberships.invite(
        kind="project",
        target="reading",
        plan=InvitationPlan(role="viewer", email="mira@example.org"),
        by=owner,
        base="http://testserver",
    )
    assert (path, sent) == ("", True)
    job = Job.objects.get(kind=letters.ACCOUNT_LETTER)
    assert "invitations" not in str(job.payload), "the link lies sealed"
    letters.send_letter(job.payload["letter"])
    found = re.search(r"http://testserver(/accounts/invitations/\S+)", mail.outbox[0].body)
    assert found
    assert browser(person("mira")).post(found.group(1)).status_code == 302


def test_a_requester_is_invited_to_by_its_owner(owner):
    lab = site.make_requester("Answer Lab", owner=owner)
    path = link(owner, kind="requester", target=lab.customer_id, role="payer")
    payer = person("payer")
    answer = browser(payer).post(path)
    assert answer["Location"] == f"/requester/{lab.customer_id}/members/"
    assert role_of(payer, lab) == "payer"


def test_ownership_changes_hands_when_both_say_yes(project, owner):
    heir = person("heir")
    set_role(project=project, user=heir, role="viewer")
    at_home, at_theirs = browser(owner), browser(heir)
    at_home.post("/accounts/members/project/reading/offer/", {"username": "heir"})
    assert Membership.objects.get(user=owner).role == "owner", "not before the other says yes"
    [offer] = memberships.offers_to(heir)
    assert "offers you the ownership" in at_theirs.get("/accounts/profile/").text
    assert at_home.post(f"/accounts/offers/{offer.pk}/", {"answer": "yes"}).status_code == 302
    assert Membership.objects.get(user=heir).role == "viewer", "nobody takes it for another"
    at_theirs.post(f"/accounts/offers/{offer.pk}/", {"answer": "yes"})
    assert {row.user.username: row.role for row in Membership.objects.filter(project=project)} == {
        "heir": "owner",
        "olga": "manager",
    }
    assert Event.objects.filter(project=project, action="owner.changed").count() == 1
    at_theirs.post(f"/accounts/offers/{offer.pk}/", {"answer": "yes"})
    assert Event.objects.filter(project=project, action="owner.changed").count() == 1


def test_an_offer_is_declined_or_withdrawn_and_to_members_only_and_by_owners_who_still_are(project, owner):
    heir = person("heir")
    with pytest.raises(MembershipError, match="no member"):
        memberships.offer_ownership(kind="project", target="reading", taker=heir, by=owner)
    set_role(project=project, user=heir, role="manager")
    for answerer in (heir, owner):
        offer = memberships.offer_ownership(kind="project", target="reading", taker=heir, by=owner)
        memberships.answer_offer(pk=offer.pk, user=answerer, yes=False)
        with pytest.raises(MembershipError):
            memberships.answer_offer(pk=offer.pk, user=heir, yes=True)
    with pytest.raises(MembershipError, match="Only owners can offer"):
        memberships.offer_ownership(kind="project", target="reading", taker=owner, by=heir)
    offer = memberships.offer_ownership(kind="project", target="reading", taker=heir, by=owner)
    set_role(project=project, user=person("other"), role="owner")
    set_role(project=project, user=owner, role="viewer")
    browser(heir).post(f"/accounts/offers/{offer.pk}/", {"answer": "yes"})
    assert Membership.objects.get(user=heir).role == "manager"


def test_a_requester_gets_another_owner(owner):
    lab, heir = site.make_requester("Answer Lab", owner=owner), person("heir")
    lab.members.create(user=heir, role="manager", since=timezone.now())
    offer = memberships.offer_ownership(kind="requester", target=lab.customer_id, taker=heir, by=owner)
    memberships.answer_offer(pk=offer.pk, user=heir, yes=True)
    lab.refresh_from_db()
    assert lab.owner == heir
    assert role_of(owner, lab) == "manager"
