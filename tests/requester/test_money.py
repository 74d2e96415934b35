"""The account: deposits that are booked once, a statement whose balances are right on every page."""

import csv
import io
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplace import clock
from marketplace.accounts import people
from marketplace.errors import Refusal
from marketplace.lifecycle import review
from marketplace.models import Deposit, LedgerEntry, Payable
from marketplace.money import deposits, ledger
from marketplace.requester import charts
from marketplace.requester.money import Balances
from tests.site import world


def money_page(lab, rest=""):
    return f"/requester/{lab.customer_id}/money/{rest}"


def table(response):
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def earn(lab, worker, *, reward=15, bonus=0, title="Answer a question"):
    """One HIT, done, approved, and perhaps more."""
    holding = world.approve(world.do(worker, world.post(world.make_group(lab, title, reward_cents=reward))))
    if bonus:
        review.send_bonus(
            holding=holding, worker_id=worker.worker_id, cents=bonus, reason="Well done.", now=clock.now()
        )
    return holding


# Deposits


def test_a_deposit_is_booked_once_with_its_reference(lab, owner, as_owner):
    form = {"amount": "1,250.50", "reference": "PO-77", "note": "Spring", "once": str(uuid.uuid4())}
    assert as_owner.post(money_page(lab, "deposit"), form).status_code == 302
    lab.refresh_from_db()
    assert lab.available_cents == 1_000_000 + 125_050
    booked = Deposit.objects.get(reference="PO-77")
    assert (booked.cents, booked.by, booked.note, booked.entry.cents) == (125_050, owner, "Spring", 125_050)
    page = as_owner.get(money_page(lab)).content.decode()
    assert "$1,250.50 deposited." in page and "PO-77" in page
    assert as_owner.post(money_page(lab, "deposit"), form).status_code == 302
    lab.refresh_from_db()
    assert lab.deposited_cents == 1_000_000 + 125_050
    other = as_owner.post(money_page(lab, "deposit"), form | {"amount": "6"})
    assert other.status_code == 422
    assert "booked another deposit" in other.content.decode()
    assert Deposit.objects.filter(cents=600).count() == 0
    assert ledger.audit() == []


def test_amounts_that_are_none_book_nothing(lab, as_owner, subtests):
    for amount in ["0", "-5", "1.005", "ten", "", "99999999999", "1e3"]:
        with subtests.test(amount=amount):
            form = {"amount": amount, "once": str(uuid.uuid4())}
            assert as_owner.post(money_page(lab, "deposit"), form).status_code == 422
            assert as_owner.post(money_page(lab, "deposit"), {"amount": "5", "once": "x"}).status_code == 422
            lab.refresh_from_db()
            assert lab.deposited_cents == 1_000_000


def test_real_money_is_booked_by_staff_alone(owner, as_owner, as_staff):
    lab, _ = people.create_requester(name="Real", owner=owner, real_money=True)
    form = {"amount": "5", "once": str(uuid.uuid4())}
    assert "Staff book deposits" in as_owner.get(money_page(lab, "deposit")).content.decode()
    assert as_owner.post(money_page(lab, "deposit"), form).status_code == 422
    assert as_staff.post(money_page(lab, "deposit"), form).status_code == 302
    lab.refresh_from_db()
    assert lab.deposited_cents == 500


def test_a_deposit_by_command_keeps_its_reference(lab, capsys):
    from django.core.management import call_command

    call_command("marketplace", "deposit", lab.name, "7.00", "--reference", "T1", "--json")
    assert Deposit.objects.get(reference="T1").cents == 700
    with pytest.raises(Refusal, match="at most 120"):
        deposits.deposit(requester=lab, cents=1, reference="x" * 121)


# Statement


def balances_by_hand(lab):
    """What was available after each movement, added up one by one."""
    balance, after = 0, {}
    for entry in LedgerEntry.objects.filter(requester=lab).order_by("pk"):
        balance += entry.cents * ((entry.credit == "available") - (entry.debit == "available"))
        after[entry.pk] = balance
    return after


def test_every_line_says_what_was_available_after_it_in_any_order_and_chunk(lab, rosa, monkeypatch):
    for number in range(9):
        earn(lab, rosa, reward=10 + number, bonus=number, title=f"HIT {number}")
    world.reject(world.do(rosa, world.post(world.make_group(lab))), "No.")
    deposits.deposit(requester=world.make_requester("Other"), cents=99)
    monkeypatch.setattr("marketplace.requester.money._AT_ONCE", 3)
    right = balances_by_hand(lab)
    assert max(right.values()) > lab.available_cents - 1 and len(right) > 25
    rows = list(LedgerEntry.objects.filter(requester=lab).order_by("pk"))
    for some in (rows, rows[5:6], rows[::4], rows[7:19]):
        up, down = Balances(lab, down=False), Balances(lab, down=True)
        assert {line.entry.pk: line.balance for line in up.complete(some)} == {
            row.pk: right[row.pk] for row in some
        }
        halves = down.complete(some[::-1][:2]) + down.complete(some[::-1][2:])
        assert {line.entry.pk: line.balance for line in halves} == {row.pk: right[row.pk] for row in some}
    lab.refresh_from_db()
    assert right[rows[-1].pk] == lab.available_cents


def test_the_statement_filters_by_kind_hit_and_period(lab, rosa, as_owner):
    first = earn(lab, rosa, bonus=5, title="one")
    earn(lab, rosa, title="two")
    paid = table(as_owner.get(money_page(lab, "?kind=paid&format=csv")))
    assert [(row["what"], row["cents"]) for row in paid] == [
        ("Reward", "15"),
        ("Bonus", "5"),
        ("Reward", "15"),
    ]
    assert {row["worker_id"] for row in paid} == {rosa.worker_id}
    of_hit = table(as_owner.get(money_page(lab, f"?hit={first.hit.hit_id}&format=csv&order=-at")))
    assert [row["what"] for row in of_hit] == ["Put on hold", "Reward", "Bonus"]
    assert [row["available_change_cents"] for row in of_hit] == ["-15", "0", "-5"]
    assert [row["held_change_cents"] for row in of_hit] == ["15", "-15", "0"]
    LedgerEntry.objects.filter(requester=lab, kind="deposit").update(at=timezone.now() - timedelta(days=400))
    assert "Deposit" not in {
        row["what"] for row in table(as_owner.get(money_page(lab, "?period=30&format=csv")))
    }
    for period in ("today", "month", "year"):
        assert as_owner.get(money_page(lab, f"?period={period}&format=csv")).status_code == 200
    assert table(as_owner.get(money_page(lab, "?period=before&kind=paid&format=csv"))) == []


def test_pages_and_file_of_a_long_statement_agree(lab, rosa, as_owner):
    for number in range(12):
        earn(lab, rosa, bonus=2, title=f"HIT {number}")
    right = balances_by_hand(lab)
    seen = {}
    for page in (1, 2, 3):
        rows = as_owner.get(money_page(lab, f"?page={page}")).context["rows"]
        seen |= {line.entry.pk: line.balance for line in rows}
    assert seen == right
    file = table(as_owner.get(money_page(lab, "?format=csv")))
    assert [int(row["available_after_cents"]) for row in file] == list(right.values())[::-1]


def test_the_statement_costs_the_same_with_few_rows_and_with_many(lab, rosa, as_owner, queries_of):
    earn(lab, rosa)
    one = queries_of(as_owner, money_page(lab))
    for number in range(10):
        earn(lab, rosa, bonus=1, title=f"HIT {number}")
    assert queries_of(as_owner, money_page(lab)) == one


def test_hostile_references_are_text(lab, as_owner):
    deposits.deposit(requester=lab, cents=1, reference='=HYPERLINK("http://x")<script>')
    page = as_owner.get(money_page(lab)).content.decode()
    assert "<script>" not in page.partition("</title>")[2].replace("<script src=", "")
    assert table(as_owner.get(money_page(lab, "?format=csv")))[0]["reference"].startswith("'=")


def test_spending_is_summed_by_day(lab, rosa):
    earn(lab, rosa, bonus=5, title="one")
    earn(lab, rosa, title="two")
    LedgerEntry.objects.filter(requester=lab, kind="bonus").update(at=clock.now() - timedelta(days=3))
    days = charts.spending(lab, now=clock.now())
    assert len(days) == 30
    assert (days[-1].rewards, days[-1].bonuses, days[-4].bonuses) == (30, 0, 5)
    assert (charts.draw_spending(days).highest, charts.sum_spending(days).total) == (30, 35)


def test_the_audit_finds_papers_that_do_not_add_up(lab, rosa):
    earn(lab, rosa)
    assert ledger.audit() == []
    Deposit.objects.update(cents=7)
    Payable.objects.create(
        requester=lab, number=1, until=clock.now(), workers=1, cents=99, made_at=clock.now()
    )
    faults = ledger.audit()
    assert any("deposit" in fault and "says 7 cents" in fault for fault in faults)
    assert any("report 1 says 99 cents, its payments sum to 0" in fault for fault in faults)
