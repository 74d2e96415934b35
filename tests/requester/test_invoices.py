"""Invoices: frozen, numbered without gaps, no day twice."""

import csv
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import call_command
from django.db import connections

from marketplace import clock
from marketplace.accounts import people
from marketplace.errors import Refusal
from marketplace.models import Invoice, LedgerEntry
from marketplace.money import deposits, finance
from tests.requester.test_money import earn
from tests.site import world

OCTOBER, NOVEMBER = datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def at(lab, rest=""):
    return f"/requester/{lab.customer_id}/money/invoices/{rest}"


def in_october(lab, worker, **work):
    """Work that was paid in the middle of October."""
    earn(lab, worker, **work)
    LedgerEntry.objects.filter(requester=lab, at__gt=NOVEMBER).update(at=OCTOBER + 14 * DAY)


@pytest.fixture(autouse=True)
def _in_december(monkeypatch, request):
    monkeypatch.setattr(clock, "now", lambda: datetime(2026, 12, 3, 10, tzinfo=UTC))


def issue(lab, begins=OCTOBER, ends=NOVEMBER, **more):
    return finance.issue_invoice(requester=lab, begins=begins, ends=ends, **more)


def test_an_invoice_says_what_was_spent_on_which_hits(owner, rosa, ben):
    lab, _ = people.create_requester(name="Fees", owner=owner, fee_profile="mturk-2026")
    deposits.deposit(requester=lab, cents=10_000)
    in_october(lab, rosa, reward=100, bonus=50, title="Long")
    in_october(lab, ben, reward=10, title="Short")
    invoice = issue(lab, address="Faculty\n1 Road")
    names = ("what", "assignments", "rewards", "bonuses", "fees", "cents")
    assert [tuple(line[name] for name in names) for line in invoice.lines] == [
        ("Long", 1, 100, 50, 30, 180),
        ("Short", 1, 10, 0, 2, 12),
    ]
    assert (invoice.number, invoice.cents, invoice.real_money) == (1, 192, False)


def test_no_day_is_invoiced_twice_or_before_it_is_over_and_nothing_later_changes_an_invoice(lab, rosa):
    in_october(lab, rosa, title="one")
    with pytest.raises(Refusal, match="not over yet"):
        issue(lab, OCTOBER, clock.now())
    with pytest.raises(Refusal, match="ends before it begins"):
        issue(lab, NOVEMBER, OCTOBER)
    assert not Invoice.objects.exists()
    invoice = issue(lab)
    in_october(lab, rosa, title="two")
    invoice.refresh_from_db()
    assert (invoice.cents, len(invoice.lines)) == (15, 1)
    for begins, ends in (
        (OCTOBER, NOVEMBER),
        (OCTOBER - DAY, OCTOBER + DAY),
        (OCTOBER + DAY, OCTOBER + 2 * DAY),
    ):
        with pytest.raises(Refusal, match="Invoice 1 covers 1 Oct 2026 to 31 Oct 2026 already"):
            issue(lab, begins, ends)
    with pytest.raises(Refusal, match="Nothing was spent"):
        issue(lab, NOVEMBER, NOVEMBER + DAY)


def test_numbers_run_through_all_requesters_without_gaps(lab, rosa):
    other = world.make_requester("Other")
    for requester in (lab, other):
        in_october(requester, rosa)
    numbers = [issue(lab).number]
    with pytest.raises(Refusal):
        issue(lab)
    numbers.append(issue(other).number)
    assert numbers == [1, 2]


def test_many_hit_types_become_one_line_from_the_five_hundredth_on(lab, rosa, monkeypatch):
    monkeypatch.setattr(finance, "MOST_LINES", 2)
    for number in range(4):
        in_october(lab, rosa, reward=10 + number, title=f"HIT {number}")
    invoice = issue(lab)
    assert [line["what"] for line in invoice.lines] == ["HIT 3", "HIT 2", "2 further HIT types"]
    assert invoice.cents == 46 == sum(line["cents"] for line in invoice.lines)


def test_the_page_proposes_last_month_shows_it_and_issues_it(lab, rosa, as_owner):
    in_october(lab, rosa, title="<i>Bold</i>")
    new = as_owner.get(at(lab, "new")).content.decode()
    assert 'value="2026-11-01"' in new and 'value="2026-11-30"' in new
    period = {"begins_on": "2026-10-01", "ends_on": "2026-10-31", "address": "Dean <b>\n1 Road"}
    look = as_owner.get(at(lab, "new"), period).content.decode()
    assert "What it would say" in look and "$0.15" in look
    assert not Invoice.objects.exists()
    assert as_owner.post(at(lab, "new"), period).headers["Location"] == at(lab, "1/")
    page = as_owner.get(at(lab, "1/")).content.decode()
    assert "1 Oct 2026 to 31 Oct 2026" in page
    assert "&lt;i&gt;Bold" in page and "Dean &lt;b&gt;<br>1 Road" in page
    again = as_owner.post(at(lab, "new"), period)
    assert again.status_code == 422
    assert "Invoice 1 covers" in again.content.decode()


def test_the_file_ends_with_the_total_and_runs_no_formula(lab, rosa, as_owner):
    in_october(lab, rosa, title="=1+1")
    issue(lab)
    rows = list(csv.reader(io.StringIO(as_owner.get(at(lab, "1/?format=csv")).content.decode())))
    assert rows[1][2:] == ["'=1+1", "1", "15", "0", "0", "15", "0.15", "USD"]
    assert rows[2] == ["1", "", "Total", "1", "15", "0", "0", "15", "0.15", "USD"]


def test_periods_that_are_none_issue_nothing(lab, rosa, as_owner, subtests):
    for period in [
        {"begins_on": "2026-10-31", "ends_on": "2026-10-01"},
        {"begins_on": "nonsense", "ends_on": "2026-10-01"},
        {"begins_on": "0001-01-01", "ends_on": "9999-12-31"},
        {},
    ]:
        with subtests.test(period=period):
            in_october(lab, rosa)
            assert as_owner.get(at(lab, "new"), period).status_code == 200
            assert as_owner.post(at(lab, "new"), period).status_code == 422
            assert not Invoice.objects.exists()


def test_invoices_of_real_money_are_issued_by_staff(owner, rosa, as_owner, as_staff):
    real, _ = people.create_requester(name="Real", owner=owner, real_money=True)
    deposits.deposit(requester=real, cents=1000)
    in_october(real, rosa)
    period = {"begins_on": "2026-10-01", "ends_on": "2026-10-31"}
    assert as_owner.post(at(real, "new"), period).status_code == 422
    assert as_staff.post(at(real, "new"), period).status_code == 302
    assert as_owner.get(at(real, "1/")).status_code == 200


def test_invoices_of_others_do_not_exist(lab, rosa, as_owner, stranger):
    theirs = world.make_requester("Theirs")
    in_october(theirs, rosa)
    issue(theirs)
    assert as_owner.get(at(lab, "1/")).status_code == 404
    assert stranger.get(at(theirs, "1/")).status_code == 404


def test_lists_cost_the_same_with_one_invoice_and_with_many(lab, rosa, as_owner, queries_of):
    in_october(lab, rosa)
    issue(lab, OCTOBER + 14 * DAY, OCTOBER + 15 * DAY)
    one = queries_of(as_owner, at(lab))
    row = Invoice.objects.get()
    for number in range(2, 20):
        row.pk, row.number = None, number
        row.save(force_insert=True)
    assert queries_of(as_owner, at(lab)) == one


def test_the_command_issues_an_invoice(lab, rosa, capsys):
    in_october(lab, rosa)
    call_command("marketplace", "invoice", lab.name, "2026-10-01", "2026-10-31", "--json")
    assert json.loads(capsys.readouterr().out) == {"number": 1, "sum": "0.15", "lines": 1}


@pytest.mark.django_db(transaction=True)
def test_invoices_issued_at_once_get_numbers_without_gaps():
    labs = [world.make_requester(f"Lab {number}") for number in range(6)]
    rosa = world.make_worker("rosa")
    for lab in labs:
        in_october(lab, rosa)
    gate = threading.Barrier(12)

    def press(number):
        gate.wait(60)
        try:
            return issue(labs[number % 6]).number
        except Refusal as refusal:
            return refusal.code
        finally:
            connections.close_all()

    with ThreadPoolExecutor(12) as pool:
        made = list(pool.map(press, range(12)))
    assert sorted(each for each in made if isinstance(each, int)) == [1, 2, 3, 4, 5, 6]
    assert made.count("AlreadyInvoiced") == 6
