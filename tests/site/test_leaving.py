"""Closing an account: what goes, what stays, and what a closed worker can no longer do."""

import pytest
from axes.models import AccessLog
from django.contrib.auth.models import User
from django.test import Client

from core.accounts import guards
from core.projects.services import create_project
from marketplace import clock, inbox
from marketplace.accounts import account_closure, people
from marketplace.accounts.account_closure import receipt, worker_of
from marketplace.errors import Refusal
from marketplace.lifecycle import assignments, feedback
from marketplace.lifecycle.expiry import sweep
from marketplace.models import (
    Block,
    Holding,
    LedgerEntry,
    Letter,
    Message,
    QualificationGrant,
    QualificationRequest,
    Rating,
    Worker,
)
from marketplace.money import finance, ledger
from marketplace.qualifications import grants
from marketplace.tasks import nightly
from tests.site import world
from tests.site.conftest import signed_in

FORM = {"worker_id": "AROSA", "password": "still warm copper"}


def close(client, **changes):
    return client.post("/profile/close", FORM | changes)


def test_the_page_says_what_is_still_due(lab, rosa, as_rosa):
    group = world.make_group(lab, reward_cents=35)
    world.approve(world.do(rosa, world.post(group)))
    page = as_rosa.get("/profile/close")
    assert page.context["due"].unpaid_cents == 0 and "play money" in page.content.decode()
    type(lab).objects.update(real_money=True)
    world.do(rosa, world.post(group))
    world.take(rosa, world.post(group))
    page = as_rosa.get("/profile/close")
    due = page.context["due"]
    assert (due.waiting, due.waiting_cents, due.unpaid_cents, due.in_hands) == (1, 35, 35, 1)
    words = page.content.decode()
    assert "1 of your HITs, worth $0.35, waits" in words
    assert "$0.35 of your earnings has not been paid out" in words


def test_it_takes_the_password_and_the_worker_id(rosa, as_rosa, subtests):
    for change, sentence in [
        ({"worker_id": "ABEN"}, "Type AROSA, your worker id."),
        ({"worker_id": ""}, "This field is required."),
        ({"password": "wrong"}, "This is not your password."),
        ({"password": ""}, "This field is required."),
    ]:
        with subtests.test(change=change, sentence=sentence):
            page = close(as_rosa, **change)
            assert page.status_code == 200
            assert sentence in page.content.decode()
            rosa.refresh_from_db()
            assert rosa.closed_at is None
            assert rosa.user


def test_tries_to_guess_the_password_here_end_as_at_log_in(rosa, as_rosa):
    for _ in range(guards.BY_NAME.free):
        close(as_rosa, password="wrong")
    assert close(as_rosa).status_code == 429
    rosa.refresh_from_db()
    assert rosa.closed_at is None


def test_the_person_is_gone_and_signed_out_everywhere_and_the_record_of_work_stays(
    lab, rosa, as_rosa, settings
):
    """And somebody else can take the name."""
    Worker.objects.update(country="US", subdivision="PA", adult=True, accept_next=True)
    world.approve(world.do(rosa, world.post(world.make_group(lab))))
    elsewhere = signed_in(rosa.user)
    Client().post("/accounts/login/", {"username": "rosa", "password": "still warm copper"})
    assert AccessLog.objects.filter(username="rosa").exists()
    page = close(as_rosa)
    assert "Your account is closed" in page.content.decode()
    worker = Worker.objects.get()
    assert worker.closed_at
    assert (worker.worker_id, worker.name, worker.user) == ("AROSA", "closed AROSA", None)
    assert (worker.country, worker.subdivision, worker.adult, worker.accept_next) == ("", "", False, False)
    assert (worker.submitted_count, worker.approved_count) == (1, 1)
    assert not User.objects.filter(username="rosa").exists()
    assert not AccessLog.objects.filter(username="rosa").exists()
    for browser in (as_rosa, elsewhere):
        assert browser.get("/history").headers["Location"].startswith("/accounts/login/")
    login = Client().post("/accounts/login/", {"username": "rosa", "password": "still warm copper"})
    assert login.status_code == 200
    assert "sessionid" not in login.cookies
    settings.MARKETPLACE_REGISTRATION = "open"
    form = {"username": "rosa", "password1": "seven green kettles", "password2": "seven green kettles"}
    Client().post("/signup", form)
    assert Worker.objects.filter(name="rosa", closed_at=None).exists()


def test_words_go_and_facts_stay(lab, rosa, as_rosa):
    group = world.make_group(lab)
    done = world.do(rosa, world.post(group))
    world.reject(done, "Copied.")
    feedback.answer(
        letter=world.write(rosa, lab, "Why?", "I am Rosa Lind.", hit_type=group), body="Dear Rosa"
    )
    world.rate(rosa, group, 2, "Unfair, says Rosa.")
    kind = world.make_qualification(lab, "Reading", on_request=True)
    grants.ask(worker=rosa, qualification_type=kind)
    asked = QualificationRequest.objects.create(
        qualification_type=world.make_qualification(lab, "Writing"),
        worker=rosa,
        request_id="3REQUEST",
        state=QualificationRequest.State.PENDING,
        answer="<a>My name is Rosa</a>",
        started_at=clock.now(),
    )
    people.block(requester=lab, worker=rosa, reason="Too fast.")
    close(as_rosa)
    assert not Message.objects.exists()
    letter, rating = Letter.objects.get(), Rating.objects.get()
    assert (letter.subject, letter.body, letter.hit_type) == ("", "", group)
    assert (rating.stars, rating.words) == (2, "")
    asked.refresh_from_db()
    assert (asked.state, asked.answer) == ("expired", "")
    assert QualificationGrant.objects.get().status == "Granted"
    assert Block.objects.exists()
    done.refresh_from_db()
    assert (done.state, done.feedback) == ("rejected", "Copied.")
    assert "Blue." in done.answer


def test_open_work_is_returned_and_offered_to_others(lab, rosa, ben, as_rosa):
    hit = world.post(world.make_group(lab))
    mine = world.take(rosa, hit)
    page = close(as_rosa)
    assert "1 HIT went back" in page.content.decode()
    mine.refresh_from_db()
    assert mine.state == "returned"
    assert world.take(ben, hit).assignment_id == mine.assignment_id
    assert ledger.audit() == []


def test_work_whose_time_was_over_is_abandoned_not_returned(lab, rosa):
    with world.in_the_past(hours=2):
        mine = world.take(rosa, world.post(world.make_group(lab, duration_s=60)))
    assert account_closure.close(worker=rosa).returned == 1
    mine.refresh_from_db()
    assert mine.state == "abandoned"


def test_undecided_work_is_still_approved_and_payable(lab, rosa, as_rosa):
    group = world.make_group(lab, reward_cents=35, auto_approval_s=86_400)
    with world.in_the_past(days=1, minutes=-5):
        one, two, three = (world.do(rosa, world.post(group)) for _ in range(3))
    close(as_rosa)
    world.approve(one)
    world.bonus(one, 50)
    world.reject(two, "No.")
    with world.in_the_past(days=-1):
        sweep()
    three.refresh_from_db()
    assert three.state == "approved"
    booked = LedgerEntry.objects.filter(worker=rosa, credit="workers", payable=None)
    assert sorted(booked.values_list("kind", "cents")) == [("bonus", 50), ("reward", 35), ("reward", 35)]
    assert ledger.audit() == []


def test_a_closed_worker_says_and_hears_nothing_and_accepts_nothing(lab, rosa):
    """Even in a request that began before."""
    group = world.make_group(lab)
    hit = world.post(group)
    world.do(rosa, world.post(group))
    letter = world.write(rosa, lab)
    kind = world.make_qualification(lab, "Reading")
    free = world.make_qualification(lab, "Free", on_request=True)
    account_closure.close(worker=Worker.objects.get(pk=rosa.pk))
    for act in (
        lambda: world.write(rosa, lab, "Another"),
        lambda: world.rate(rosa, group, 5),
        lambda: feedback.answer(letter=letter, body="Hello?"),
        lambda: grants.ask(worker=rosa, qualification_type=free),
        lambda: world.take(rosa, hit),
        lambda: assignments.accept_next(worker=rosa, hit_type=group),
    ):
        with pytest.raises(Refusal, match="closed"):
            act()
    assert Holding.objects.count() == 1
    failures = inbox.notify_workers(requester=lab, worker_ids=["AROSA"], subject="Hi", body="More work")
    assert failures == {"AROSA": "This worker has closed the account."}
    rosa.refresh_from_db()
    grants.grant(qualification_type=kind, worker=rosa, value=1, notify=True)
    grants.revoke(qualification_type=kind, worker=rosa, reason="Done")
    assert not Message.objects.exists()


def test_the_token_of_a_scripted_worker_dies(client, db):
    worker, token = people.create_scripted_worker(name="robot")
    account_closure.close(worker=worker)
    answer = client.post("/worker-api/next", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 401


def test_how_to_be_paid_is_said_changed_and_deleted(rosa, as_rosa):
    note = "Rosa Lind\naccount 12 34"
    page = as_rosa.post("/profile/payment", {"note": note}, follow=True).content.decode()
    assert "You have said how you want to be paid." in page
    rosa.refresh_from_db()
    assert finance.payment_note(rosa) == note
    assert "12 34" not in rosa.payment_note_sealed
    assert "account 12 34" in as_rosa.get("/profile/payment").content.decode()
    as_rosa.post("/profile/payment", {"note": ""})
    rosa.refresh_from_db()
    assert rosa.payment_note_sealed == ""
    too_long = as_rosa.post("/profile/payment", {"note": "x" * 1001})
    assert 'role="alert"' in too_long.content.decode()


@pytest.mark.parametrize("keep", [True, False])
def test_how_to_be_paid_is_kept_until_then_only_for_those_who_want_it(lab, rosa, as_rosa, keep):
    world.approve(world.do(rosa, world.post(world.make_group(lab))))
    finance.set_payment_note(worker=rosa, note="account 12 34")
    assert "until I am" not in as_rosa.get("/profile/close").content.decode(), "no real money is due"
    type(lab).objects.update(real_money=True)
    assert account_closure.forget_payment_notes() == 0, "they are still here"
    assert "until I am" in as_rosa.get("/profile/close").content.decode()
    close(as_rosa, **({"keep_payment_note": "on"} if keep else {}))
    rosa.refresh_from_db()
    assert finance.payment_note(rosa) == ("account 12 34" if keep else "")
    assert account_closure.forget_payment_notes() == 0
    report = finance.make_payable(requester=lab, until=clock.now())
    assert account_closure.forget_payment_notes() == 0
    finance.mark_paid(report=report)
    nightly()
    rosa.refresh_from_db()
    assert rosa.payment_note_sealed == ""


def test_how_to_be_paid_goes_at_once_where_no_real_money_is_due(lab, rosa, as_rosa):
    world.approve(world.do(rosa, world.post(world.make_group(lab))))
    finance.set_payment_note(worker=rosa, note="account 12 34")
    close(as_rosa, keep_payment_note="on")
    rosa.refresh_from_db()
    assert rosa.payment_note_sealed == ""


def test_a_login_that_serves_something_else_stays(rosa, as_rosa):
    create_project(slug="answers", title="Answers", owner=rosa.user)
    assert "Your login stays" in as_rosa.get("/profile/close").content.decode()
    page = close(as_rosa)
    assert "Your login stays valid" in page.content.decode()
    assert User.objects.get(username="rosa").check_password("still warm copper")
    assert as_rosa.get("/history").status_code == 403
    assert Worker.objects.get().user is None


def test_rights_and_a_requester_of_ones_own_keep_a_login(rosa):
    for right in ("is_staff", "is_superuser"):
        User.objects.update(**{"is_staff": False, "is_superuser": False, right: True})
        assert account_closure.login_stays(Worker.objects.get()), right
    User.objects.update(is_staff=False, is_superuser=False)
    world.make_requester("Hers", owner=rosa.user)
    assert account_closure.close(worker=rosa).login_stays
    with pytest.raises(Refusal, match="closed already"):
        account_closure.close(worker=rosa)


def test_a_receipt_proves_who_the_worker_was(lab, rosa, ben, as_rosa):
    world.do(rosa, world.post(world.make_group(lab)))
    page = close(as_rosa).content.decode()
    shown = receipt("AROSA")
    assert shown in page
    assert worker_of(f" {shown}\n") == rosa
    assert worker_of(shown[:-1]) is None
    assert worker_of(shown.replace("AROSA", "ABEN")) is None
    assert worker_of(receipt("ABEN")) is None


def test_the_page_costs_the_same_with_one_requester_and_with_five(lab, rosa, as_rosa, queries_of):
    world.do(rosa, world.post(world.make_group(lab)))
    one = queries_of(as_rosa, "/profile/close")
    for number in range(4):
        world.do(rosa, world.post(world.make_group(world.make_requester(f"Lab {number}"))))
    assert queries_of(as_rosa, "/profile/close") == one
