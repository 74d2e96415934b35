"""Requesters that staff make in the browser."""

from marketplace.accounts import accesskeys
from marketplace.models import Requester

NEW = "/requester/new/"
FORM = {"name": "Reading lab", "owner": "olga", "fee_profile": "mturk-2026", "real_money": "no"}


def test_staff_make_a_requester_and_see_its_secret_once(owner, as_staff):
    made = as_staff.post(NEW, FORM)
    lab = Requester.objects.get(name="Reading lab")
    assert (lab.owner, lab.fee_profile, lab.real_money) == (owner, "mturk-2026", False)
    assert made.headers["Location"] == f"/requester/{lab.customer_id}/keys/"
    secret = accesskeys.secret_of(lab.keys.get())
    assert secret in as_staff.get(made.headers["Location"]).content.decode()
    assert secret not in as_staff.get(made.headers["Location"]).content.decode()


def test_real_money_is_chosen_when_it_is_made(owner, as_staff):
    as_staff.post(NEW, FORM | {"real_money": "yes", "owner": ""})
    lab = Requester.objects.get(name="Reading lab")
    assert lab.real_money and lab.owner is None


def test_what_cannot_be_is_said_at_its_field(lab, owner, as_staff):
    for wrong, sentence in (
        ({"name": lab.name}, "already a requester named"),
        ({"owner": "nobody"}, "There is no user with this name."),
        ({"fee_profile": "free"}, "not one of the available choices"),
        ({"name": " "}, "This field is required"),
    ):
        answer = as_staff.post(NEW, FORM | wrong)
        assert answer.status_code == 422
        assert sentence in answer.content.decode()
    assert Requester.objects.count() == 1


def test_owners_and_strangers_make_none(lab, as_owner, stranger, client):
    assert as_owner.post(NEW, FORM).status_code == 404
    assert stranger.get(NEW).status_code == 404
    assert client.get(NEW).status_code == 302
    assert Requester.objects.count() == 1


def test_the_desk_leads_there_for_staff(lab, as_staff, as_owner):
    assert NEW in as_staff.get("/desk/").content.decode()
    assert NEW not in as_owner.get("/desk/").content.decode()
