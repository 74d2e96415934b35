"""MTurk ids that several workers state: who sees it, and staff who decide."""

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.urls import reverse
from django.utils import timezone

from core.notices.conditions import look
from core.notices.letters import post_office
from core.notices.models import Notice
from marketplace.heritage import formerids
from marketplace.heritage.models import FormerIdClaim, FormerIdRecord
from marketplace.models import Activity
from tests.site import world
from tests.site.conftest import signed_in

FORMER = "A1OLDID00000"


@pytest.fixture
def contested(lab, rosa, ben):
    """Rosa stated it first; the lab keeps a block on it."""
    formerids.keep_block(requester=lab, former_id=FORMER, reason="copied")
    formerids.state_former_id(worker=rosa, former_id=FORMER)
    return formerids.state_former_id(worker=ben, former_id=FORMER)


def test_a_conflict_is_noted_and_shown_to_the_requester(lab, contested, as_owner):
    assert Activity.objects.filter(action="former_id.contested", requester=lab, subject=FORMER).count() == 1
    page = as_owner.get(reverse("requester:former_ids", args=[lab.customer_id])).content.decode()
    assert "1 id of your tables is stated by" in page
    page = as_owner.get(reverse("requester:former_id_conflicts", args=[lab.customer_id])).content.decode()
    assert FORMER in page
    assert "Waits for a decision by staff" in page
    assert "It is theirs" not in page


def test_staff_settle_it_on_the_page_and_it_is_noted(lab, contested, ben):
    staff = signed_in(User.objects.create_user("ops", password="x", is_staff=True))
    page = reverse("requester:former_id_conflicts", args=[lab.customer_id])
    assert "It is theirs" in staff.get(page).content.decode()
    sent = {"former_id": FORMER, "worker": ben.worker_id}
    staff.post(reverse("requester:settle_former_id", args=[lab.customer_id]), sent)
    assert FormerIdClaim.objects.get(accepted=True).worker == ben
    assert FormerIdRecord.objects.exclude(applied_at=None).count() == 1
    line = Activity.objects.get(action="former_id.settled")
    assert (line.requester, line.subject, line.actor) == (lab, FORMER, "ops")


def test_the_first_may_keep_it_too_and_the_page_says_that_staff_decided(lab, contested, rosa, as_owner):
    formerids.settle_claim(former_id=FORMER, worker=rosa)
    page = as_owner.get(reverse("requester:former_id_conflicts", args=[lab.customer_id])).content.decode()
    assert "Has the id, as staff decided" in page
    assert "Does not have it, as staff decided" in page


def test_superusers_get_one_notice_and_one_letter_for_each_conflict(lab, contested, rosa, ben, settings):
    settings.NOTICES_BY_EMAIL = True
    User.objects.create_superuser("root", "root@example.org", "x")
    address = reverse("requester:former_id_conflicts", args=[lab.customer_id])
    for _ in range(3):
        look(timezone.now())
        post_office().deliver(timezone.now())
    notice = Notice.objects.get(kind="former_id")
    assert (notice.project, notice.over_at, notice.address) == (None, None, address)
    assert f"{FORMER} is stated by 2 workers" in notice.sentence
    assert [letter.to for letter in mail.outbox] == [["root@example.org"]]
    assert notice.sentence in mail.outbox[0].body

    formerids.settle_claim(former_id=FORMER, worker=ben)
    look(timezone.now())
    assert not Notice.objects.filter(kind="former_id", over_at=None).exists()
    formerids.state_former_id(worker=world.make_worker("ADAN"), former_id=FORMER)
    look(timezone.now())
    assert "stated by 3 workers" in Notice.objects.get(kind="former_id", over_at=None).sentence


def test_a_conflict_about_an_id_that_no_requester_keeps_names_the_command(rosa, ben):
    for worker in (rosa, ben):
        formerids.state_former_id(worker=worker, former_id=FORMER)
    look(timezone.now())
    notice = Notice.objects.get(kind="former_id")
    assert (notice.address, f"former-ids settle {FORMER} WORKER" in notice.sentence) == ("", True)


def test_an_owner_settles_nothing(lab, contested, as_owner, ben):
    address = reverse("requester:settle_former_id", args=[lab.customer_id])
    assert as_owner.post(address, {"former_id": FORMER, "worker": ben.worker_id}).status_code == 404
    assert not FormerIdClaim.objects.get(worker=ben).accepted


def test_ids_of_others_are_not_shown(lab, contested, as_owner):
    FormerIdRecord.objects.all().delete()
    page = as_owner.get(reverse("requester:former_id_conflicts", args=[lab.customer_id])).content.decode()
    assert FORMER not in page
