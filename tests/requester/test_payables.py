"""Reports to pay out: each payment in one of them, whoever presses when, and whatever is killed."""

import csv
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connections

from marketplace import clock
from marketplace.accounts import people
from marketplace.errors import Refusal
from marketplace.models import LedgerEntry, Payable
from marketplace.money import deposits, finance, ledger
from tests.requester.test_money import earn
from tests.site import world


def at(lab, rest=""):
    return f"/requester/{lab.customer_id}/money/payables/{rest}"


def table(response):
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def test_a_report_takes_what_no_report_had_and_the_next_one_the_rest(lab, rosa, ben):
    other = world.make_requester("Other")
    earn(other, rosa)
    earn(lab, rosa, bonus=5, title="one")
    earn(lab, ben, title="two")
    first = finance.make_payable(requester=lab, until=clock.now())
    assert (first.number, first.workers, first.cents) == (1, 2, 35)
    with pytest.raises(Refusal, match="Nothing is to be paid out"):
        finance.make_payable(requester=lab, until=clock.now())
    assert Payable.objects.count() == 1
    earn(lab, rosa, title="three")
    second = finance.make_payable(requester=lab, until=clock.now())
    assert (second.number, second.workers, second.cents) == (2, 1, 15)
    assert LedgerEntry.objects.filter(requester=other, payable=None, credit="workers").count() == 1
    assert ledger.audit() == []


def test_payments_of_a_later_day_wait_for_a_later_report(lab, rosa):
    earn(lab, rosa, title="one")
    then = clock.now()
    earn(lab, rosa, title="two")
    assert finance.make_payable(requester=lab, until=then).cents == 15
    assert finance.make_payable(requester=lab, until=clock.now()).cents == 15
    with pytest.raises(Refusal, match="future"):
        finance.make_payable(requester=lab, until=clock.now() + timedelta(days=1))


def test_simulated_workers_are_left_out_unless_asked_for_and_marked(lab, rosa, as_owner):
    robot, _ = people.create_scripted_worker(name="robot")
    earn(lab, robot, title="one")
    with pytest.raises(Refusal):
        finance.make_payable(requester=lab, until=clock.now())
    earn(lab, rosa, title="two")
    assert finance.make_payable(requester=lab, until=clock.now()).workers == 1
    rehearsal = finance.make_payable(requester=lab, until=clock.now(), simulated=True)
    [line] = [row for row in table(as_owner.get(at(lab, "2/?format=csv"))) if row["worker_id"] != "Total"]
    assert (rehearsal.cents, line["simulated"], line["worker_id"]) == (15, "yes", robot.worker_id)
    assert "simulated" in as_owner.get(at(lab, "2/")).content.decode()


def test_the_file_has_a_line_per_worker_and_the_total(lab, rosa, ben, as_owner):
    earn(lab, rosa, bonus=5, title="one")
    earn(lab, rosa, bonus=1, title="two")
    earn(lab, ben, reward=200, title="three")
    assert as_owner.post(at(lab, "new"), {}).headers["Location"] == at(lab, "1/")
    rows = table(as_owner.get(at(lab, "1/?format=csv")))
    shown = ["worker_id", "reward_count", "rewards_cents", "bonus_count", "bonuses_cents", "total_cents"]
    assert [[row[name] for name in shown] for row in rows] == [
        ["ABEN", "1", "200", "0", "0", "200"],
        ["AROSA", "2", "30", "2", "6", "36"],
        ["Total", "3", "230", "2", "6", "236"],
    ]
    assert [row["total"] for row in rows] == ["2.00", "0.36", "2.36"]
    assert {row["currency"] for row in rows} == {"USD"}
    dearest = table(as_owner.get(at(lab, "1/?format=csv&order=-total_cents")))
    assert [row["worker_id"] for row in dearest] == ["AROSA", "ABEN", "Total"]
    page = as_owner.get(at(lab, "1/")).content.decode()
    assert "$2.36" in page and "AROSA" in page


def test_how_to_be_paid_is_sealed_and_shown_to_staff_for_real_money_alone(owner, rosa, as_owner, as_staff):
    finance.set_payment_note(worker=rosa, note="=Rosa R., IBAN 12")
    rosa.refresh_from_db()
    assert "Rosa" not in rosa.payment_note_sealed
    assert finance.payment_note(rosa) == "=Rosa R., IBAN 12"
    play = world.make_requester("Play", owner=owner)
    real, _ = people.create_requester(name="Real", owner=owner, real_money=True)
    deposits.deposit(requester=real, cents=1000)
    for requester in (play, real):
        earn(requester, rosa)
        finance.make_payable(requester=requester, until=clock.now())
    assert table(as_staff.get(at(real, "1/?format=csv")))[0]["payment_details"] == "'=Rosa R., IBAN 12"
    assert table(as_owner.get(at(real, "1/?format=csv")))[0]["payment_details"] == ""
    assert table(as_staff.get(at(play, "1/?format=csv")))[0]["payment_details"] == ""
    assert "IBAN" not in as_staff.get(at(real, "1/")).content.decode()
    finance.set_payment_note(worker=rosa, note=" ")
    assert finance.payment_note(rosa) == rosa.payment_note_sealed == ""
    with pytest.raises(Refusal, match="at most 1,000"):
        finance.set_payment_note(worker=rosa, note="x" * 1001)


def test_what_was_paid_out_is_noted_once(lab, rosa, as_owner):
    earn(lab, rosa)
    finance.make_payable(requester=lab, until=clock.now())
    as_owner.post(at(lab, "1/paid"))
    noted = Payable.objects.get().paid_at
    assert noted is not None
    as_owner.post(at(lab, "1/paid"))
    assert Payable.objects.get().paid_at == noted
    assert "It was noted before." in as_owner.get(at(lab)).content.decode()


def test_owners_make_no_reports_about_real_money(owner, rosa, as_owner, as_staff):
    real, _ = people.create_requester(name="Real", owner=owner, real_money=True)
    deposits.deposit(requester=real, cents=1000)
    earn(real, rosa)
    as_owner.post(at(real, "new"), {})
    assert not Payable.objects.exists()
    as_staff.post(at(real, "new"), {})
    as_owner.post(at(real, "1/paid"))
    assert Payable.objects.get().paid_at is None
    as_staff.post(at(real, "1/paid"))
    assert Payable.objects.get().paid_at is not None


def test_reports_of_others_do_not_exist(lab, rosa, owner, stranger, as_owner):
    theirs = world.make_requester("Theirs")
    earn(theirs, rosa)
    finance.make_payable(requester=theirs, until=clock.now())
    assert as_owner.get(at(lab, "1/")).status_code == 404
    assert as_owner.post(at(lab, "1/paid")).status_code == 404
    assert stranger.post(at(theirs, "new"), {}).status_code == 404


def test_lists_cost_the_same_with_one_row_and_with_many(lab, rosa, as_owner, queries_of):
    earn(lab, rosa)
    finance.make_payable(requester=lab, until=clock.now())
    few = queries_of(as_owner, at(lab)), queries_of(as_owner, at(lab, "1/"))
    for number in range(8):
        earn(lab, world.make_worker(f"w{number}"), title=f"HIT {number}")
        if number % 2:
            finance.make_payable(requester=lab, until=clock.now())
    LedgerEntry.objects.filter(credit="workers").update(payable=Payable.objects.get(number=1))
    assert (queries_of(as_owner, at(lab)), queries_of(as_owner, at(lab, "1/"))) == few


def test_the_command_makes_reports_and_notes_them(lab, rosa, capsys):
    earn(lab, rosa)
    call_command("marketplace", "payable", "make", lab.name, "--json")
    assert json.loads(capsys.readouterr().out) == {"number": 1, "workers": 1, "sum": "0.15"}
    call_command("marketplace", "payable", "paid", lab.name, "1", "--json")
    assert Payable.objects.get().paid_at is not None


@pytest.mark.django_db(transaction=True)
def test_eight_presses_at_once_make_one_report():
    lab = world.make_requester("Busy lab")
    for number in range(6):
        earn(lab, world.make_worker(f"w{number}"), title=f"HIT {number}")
    gate = threading.Barrier(8)

    def press(_number):
        gate.wait(60)
        try:
            return finance.make_payable(requester=lab, until=clock.now()).cents
        except Refusal:
            return None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        made = [cents for cents in pool.map(press, range(8)) if cents]
    assert made == [90]
    assert Payable.objects.count() == 1
    assert ledger.audit() == []
