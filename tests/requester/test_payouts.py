"""Payout files: each sum in one of them, the same file again, results booked once, and sums that add up."""

import csv
import hashlib
import io
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import DO_NOTHING, PROTECT, RESTRICT
from lxml import etree

from distillery import checks, payout_settings
from distillery.extension import yearly_limits
from marketplace import clock
from marketplace.accounts import people
from marketplace.errors import Refusal
from marketplace.forms.sheets import SheetError
from marketplace.models import (
    Activity,
    LedgerEntry,
    Payable,
    Payout,
    PayoutLine,
    PayoutPart,
    Worker,
    YearlyLimit,
)
from marketplace.money import deposits, finance, ledger, payees, payoutresults, payouts
from marketplace.money.payoutfiles import message_id
from marketplace.parts import tables_of_work
from marketplace.protocol import testcontrols
from tests.cases import apart
from tests.requester.test_money import earn
from tests.site import world

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).with_name("payments.xsd")))
IBANS = "DE89370400440532013000", "AT611904300234573201", "FR1420041010050500013M02606"


@pytest.fixture
def real(owner):
    requester, _ = people.create_requester(name="Real Lab", owner=owner, real_money=True)
    return deposits.deposit(requester=requester, cents=1_000_000)


@pytest.fixture
def euro(settings):
    settings.MARKETPLACE_CURRENCY = "EUR"
    settings.PAYOUT_SENDER = payout_settings.payout_sender(
        name="Universität Köln", iban="DE89 3704 0044 0532 0130 00", bic="COBADEFFXXX"
    )


def say(worker, method, **details):
    payees.set_payee(worker=worker, method=method, entries=details)


def report_of(requester):
    return finance.make_payable(requester=requester, until=clock.now())


def standings(report):
    return {claim.worker.worker_id: str(claim.standing) for claim in payouts.claims_up_to(report)}


def book(requester, text, name="results.csv"):
    booked, _reading = payoutresults.book_file(requester=requester, name=name, file=io.BytesIO(text.encode()))
    return booked


def adds_up(requester):
    """Every report's cents are somewhere, once; the audit agrees."""
    for report in requester.payables.all():
        assert payouts.sums_of(report).total == report.cents
    assert ledger.audit() == []


@pytest.fixture
def two(real, rosa, ben):
    """Rosa is owed 0.20, Ben 0.15, both by PayPal; the report of it."""
    earn(real, rosa, bonus=5, title="one")
    earn(real, ben, title="two")
    say(rosa, "paypal", email="rosa@example.org")
    say(ben, "paypal", email="ben@example.org")
    return report_of(real)


# Files


def test_paypal_takes_recipient_amount_currency_reference_note_and_wallet(two):
    payout, made = payouts.make_payout(report=two, method="paypal")
    assert made and (payout.cents, payout.people, payout.number) == (35, 2, 1)
    rows = list(csv.reader(io.StringIO(payouts.hand_out(payout=payout).decode())))
    name = f"D{payout.requester_id}P1"
    assert rows == [
        ["ben@example.org", "0.15", "USD", f"{name}L1", name, "PAYPAL"],
        ["rosa@example.org", "0.20", "USD", f"{name}L2", name, "PAYPAL"],
    ]
    adds_up(payout.requester)


def test_sepa_is_valid_by_the_schema_and_sums_agree(euro, real, rosa, ben):
    zoe = world.make_worker("zoe")
    for number, worker in enumerate((rosa, ben, zoe)):
        earn(real, worker, reward=1000 + number, title=f"task {number}")
    say(rosa, "sepa", name="Rósa Ørsted Söhne", iban=IBANS[0], bic="COBADEFFXXX")
    say(ben, "sepa", name="Ben Weiß", iban=IBANS[1])
    say(zoe, "sepa", name="Zoë O'Neil", iban=IBANS[2])
    payout, _ = payouts.make_payout(report=report_of(real), method="sepa")
    content = payouts.hand_out(payout=payout)
    document = etree.fromstring(content)
    SCHEMA.assertValid(document)
    spaces = {"p": "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"}
    assert document.xpath("//p:CtrlSum/text()", namespaces=spaces) == ["30.03", "30.03"]
    assert document.xpath("//p:NbOfTxs/text()", namespaces=spaces) == ["3", "3"]
    assert document.xpath("//p:Cdtr/p:Nm/text()", namespaces=spaces) == [
        "Ben Weiss", "Rosa Orsted Sohne", "Zoe O'Neil",
    ]  # fmt: skip
    assert document.xpath("//p:Dbtr/p:Nm/text()", namespaces=spaces) == ["Universitat Koln"]
    assert len(document.xpath("//p:CdtrAgt", namespaces=spaces)) == 1
    assert len(set(document.xpath("//p:EndToEndId/text()", namespaces=spaces))) == 3


def test_sepa_needs_euro_and_an_account_that_pays(two, settings):
    with pytest.raises(Refusal, match="SEPA moves euro"):
        payouts.make_payout(report=two, method="sepa")
    settings.MARKETPLACE_CURRENCY = "EUR"
    with pytest.raises(Refusal, match="PAYOUT_SENDER_IBAN"):
        payouts.make_payout(report=two, method="sepa")


def test_money_keeps_the_currency_in_which_it_was_booked(two, real, lab, settings):
    """Renamed, 45 dollars would be 45 euros on every page and in the bank's file."""
    real.refresh_from_db()
    assert (real.currency, lab.currency) == ("USD", "")
    assert checks.currency().sentence == ""
    settings.MARKETPLACE_CURRENCY = "EUR"
    found = checks.currency()
    assert (found.level, found.remedy) == ("error", "Set MARKETPLACE_CURRENCY=USD again.")
    assert found.sentence == "Real Lab has real money in USD, and MARKETPLACE_CURRENCY is EUR."
    assert found in checks.findings(before_start=True)
    with pytest.raises(Refusal, match="was booked in USD"):
        payouts.make_payout(report=two, method="paypal")
    with pytest.raises(Refusal, match="was booked in USD"):
        deposits.deposit(requester=real, cents=100)
    assert not real.payouts.exists()


def test_a_way_that_cannot_pay_here_is_not_offered_and_those_who_have_it_are_asked(
    real, rosa, ben, as_staff, settings
):
    assert "sepa" not in payees.offered_methods()
    with pytest.raises(payees.DetailsError, match="not paid in this way here"):
        say(rosa, "sepa", name="Rosa", iban=IBANS[0])
    settings.MARKETPLACE_CURRENCY = "EUR"
    say(rosa, "sepa", name="Rosa", iban=IBANS[0])
    settings.MARKETPLACE_CURRENCY = "USD"
    say(ben, "paypal", email="ben@example.org")
    earn(real, rosa, title="one")
    earn(real, ben, title="two")
    assert standings(report_of(real)) == {rosa.worker_id: "closed", ben.worker_id: "ready"}
    address = f"/requester/{real.customer_id}/money/payables/1/files/"
    assert "Ask them for another way" in as_staff.get(address).content.decode()
    answer = as_staff.post(f"{address}ask", follow=True).content.decode()
    assert "1 person was written to." in answer
    [message] = rosa.messages.all()
    assert message.subject == "Please choose another way to be paid"


US = {
    "name": "Rosa R", "routing": "021000021", "account": "1234 5678", "kind": "checking",
    "street": "1 Main St", "city": "Springfield", "state": "il", "postcode": "62701", "country": "us",
}  # fmt: skip


def test_other_services_get_the_columns_that_they_name(real, rosa, subtests):
    for method, details, row in [
        (
            "wise",
            {"name": "Rosa R", "email": "rosa@example.org"},
            {
                "name": "Rosa R",
                "recipientEmail": "rosa@example.org",
                "amount": "0.15",
                "amountCurrency": "target",
            },
        ),
        (
            "wise_iban",
            {"name": "Rosa R", "iban": "at61 1904 3002 3457 3201"},
            {"IBAN": IBANS[1], "targetCurrency": "EUR", "sourceCurrency": "USD", "amountCurrency": "source"},
        ),
        ("wise_us", US, {"abartn": "021000021", "accountNumber": "12345678", "addressState": "IL"}),
        (
            "tremendous",
            {"name": "Rosa R", "email": "rosa@example.org"},
            {"Name": "Rosa R", "Email": "rosa@example.org", "Amount": "0.15"},
        ),
        (
            "bank",
            {"name": "Rosa R", "account": "77", "bank": "Bank of A"},
            {"worker_id": "AROSA", "account": "77"},
        ),
        ("none", {"where": "Psychology 101"}, {"where": "Psychology 101", "amount": "0.15"}),
    ]:
        with apart(subtests, method=method, details=details):
            earn(real, rosa)
            say(rosa, method, **details)
            payout, _ = payouts.make_payout(report=report_of(real), method=method)
            [line] = csv.DictReader(io.StringIO(payouts.hand_out(payout=payout).decode()))
            assert {name: line[name] for name in row} == row


def test_tables_for_people_run_nothing_and_files_for_services_take_no_formula(real, rosa, ben):
    for worker in (rosa, ben):
        earn(real, worker, title=worker.name)
    say(rosa, "bank", name="Rosa", account="x;=1+1", bank="B")
    with pytest.raises(payees.DetailsError, match="formula"):
        say(ben, "bank", name="=HYPERLINK(1)", account="1", bank="B")
    with pytest.raises(payees.DetailsError, match="formula"):
        say(ben, "paypal", email="=cmd@example.org")
    payout, _ = payouts.make_payout(report=report_of(real), method="bank")
    assert "x;'=1+1" in payouts.hand_out(payout=payout).decode()


def test_details_that_a_service_would_refuse_are_named_and_can_be_left_out(two, rosa):
    sealed = payees.sealed({"email": "=rosa@example.org"})
    type(rosa.payee).objects.filter(worker=rosa).update(details_sealed=sealed)
    with pytest.raises(Refusal, match=r"AROSA: the email begins with =.*Nothing was made"):
        payouts.make_payout(report=two, method="paypal")
    assert not Payout.objects.exists()
    payout, _ = payouts.make_payout(report=two, method="paypal", leave_out=True)
    assert [line.worker.worker_id for line in payout.lines.all()] == ["ABEN"]


# Once, and the same


def test_test_controls_empty_a_marketplace_that_has_paid(two):
    payouts.make_payout(report=two, method="paypal")
    testcontrols.wipe_work()
    assert not (Payout.objects.exists() or Payable.objects.exists())


def test_test_controls_empty_every_table_that_keeps_work():
    """A row that protects one of work and stays would keep a marketplace under test from being emptied."""
    emptied = {*tables_of_work(), *testcontrols._WORK}
    kept = [
        f"{model.__name__}.{field.name}"
        for model in apps.get_models()
        if model not in emptied and model is not LedgerEntry
        for field in model._meta.get_fields()
        if field.many_to_one and field.concrete and field.related_model in emptied
        if field.remote_field.on_delete in (DO_NOTHING, PROTECT, RESTRICT)
    ]
    assert kept == []


def test_a_file_made_twice_is_the_same_file_whatever_changed_since(two, rosa, settings):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    first = payouts.hand_out(payout=payout)
    say(rosa, "paypal", email="new@example.org")
    again, made = payouts.make_payout(report=two, method="paypal")
    assert (again.pk, made) == (payout.pk, False)
    assert payouts.hand_out(payout=again) == first
    assert hashlib.sha256(first).hexdigest() == payout.digest
    assert Payout.objects.count() == 1


def test_a_file_that_would_be_another_one_is_not_handed_out(two):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payout.lines.filter(number=1).update(cents=1500)
    with pytest.raises(Refusal, match="would not be the file that it was"):
        payouts.hand_out(payout=payout)
    assert any("its parts sum to" in fault for fault in ledger.audit())


def test_the_database_lets_no_sum_into_two_files(two):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    part = PayoutPart.objects.filter(line__payout=payout).first()
    with pytest.raises(IntegrityError), transaction.atomic():
        PayoutPart.objects.create(line=part.line, report=part.report, worker=part.worker, cents=part.cents)


def test_a_file_that_never_left_can_be_withdrawn_and_one_that_left_cannot(two):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payouts.withdraw(payout=payout)
    with pytest.raises(Refusal, match="was withdrawn"):
        payouts.hand_out(payout=payout)
    second, made = payouts.make_payout(report=two, method="paypal")
    assert made and second.number == 2
    payouts.hand_out(payout=second)
    with pytest.raises(Refusal, match="never downloaded"):
        payouts.withdraw(payout=second)
    adds_up(second.requester)


def test_play_money_and_owners_make_no_files(lab, rosa, owner, two):
    earn(lab, rosa)
    say(rosa, "paypal", email="rosa@example.org")
    with pytest.raises(Refusal, match="play money"):
        payouts.make_payout(report=report_of(lab), method="paypal")
    with pytest.raises(Refusal, match="for staff"):
        payouts.make_payout(report=two, method="paypal", by=owner)


# What is carried


def test_what_is_below_the_minimum_waits_for_the_next_report(real, rosa, settings):
    settings.PAYOUT_MINIMUMS = {"paypal": 25}
    say(rosa, "paypal", email="rosa@example.org")
    earn(real, rosa, title="one")
    first = report_of(real)
    with pytest.raises(Refusal, match="1 below the minimum"):
        payouts.make_payout(report=first, method="paypal")
    assert standings(first) == {"AROSA": "below"}
    earn(real, rosa, title="two")
    payout, _ = payouts.make_payout(report=report_of(real), method="paypal")
    assert (payout.cents, payout.people) == (30, 1)
    assert payouts.sums_of(first).in_files == 15
    adds_up(real)


def test_who_said_nothing_is_owed_until_they_do(real, rosa):
    earn(real, rosa)
    report = report_of(real)
    assert standings(report) == {"AROSA": "unsaid"}
    say(rosa, "tremendous", name="Rosa", email="rosa@example.org")
    assert standings(report) == {"AROSA": "ready"}


# Results


def test_results_are_booked_once_and_what_failed_is_owed_again(two, real):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payouts.hand_out(payout=payout)
    name = f"D{real.pk}P1"
    text = f"reference,status,reason\n{name}L1,Completed,\n{name}L2,FAILED,no such account\n"
    booked = book(real, text)
    assert (booked.paid, booked.failed, booked.same) == (1, 1, 0)
    again = book(real, text)
    assert (again.paid, again.failed, again.same) == (0, 0, 2)
    sums = payouts.sums_of(two)
    assert (sums.paid, sums.failed) == (15, 20)
    adds_up(real)
    [claim] = payouts.claims_up_to(two)
    assert (claim.worker.worker_id, claim.failed) == ("AROSA", "no such account")
    second, made = payouts.make_payout(report=two, method="paypal")
    assert made and second.cents == 20
    payouts.hand_out(payout=second)
    assert book(real, text).same == 2
    with pytest.raises(Refusal, match=r"line 2.*newer file"):
        book(real, f"reference,status\n{name}L2,paid\n")
    payouts.book_all_paid(payout=second)
    two.refresh_from_db()
    assert two.paid_at is not None and payouts.sums_of(two).paid == 35
    adds_up(real)


def test_a_payment_that_comes_back_after_it_was_paid_is_owed_again(two, real):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payouts.hand_out(payout=payout)
    assert payouts.book_all_paid(payout=payout) == 2
    assert payouts.book_all_paid(payout=payout) == 0
    two.refresh_from_db()
    assert two.paid_at is not None
    assert book(real, f"Customer ID,Status\nD{real.pk}P1L1,Returned\n").failed == 1
    two.refresh_from_db()
    assert two.paid_at is None
    assert payouts.make_payout(report=two, method="paypal")[0].cents == 15
    adds_up(real)


def test_a_failure_that_was_none_counts_as_paid_while_nothing_newer_pays_it(two, real):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payouts.hand_out(payout=payout)
    book(real, f"reference,status\nD{real.pk}P1L1,failed\n")
    assert book(real, f"reference,status\nD{real.pk}P1L1,paid\n").paid == 1
    adds_up(real)


def test_results_that_are_wrong_change_nothing_and_say_where(two, real, subtests):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    right = f"reference,status\nD{real.pk}P1L1,paid\n"
    with pytest.raises(Refusal, match="was never downloaded"):
        book(real, right)
    payouts.hand_out(payout=payout)
    with pytest.raises(Refusal, match="another requester's file"):
        book(world.make_requester("Other"), right)
    for text, why in [
        ("status\npaid\n", "no column is called “reference”"),
        ("reference,reason\nD1P1L1,x\n", "no column is called “status”"),
        ("reference,status\nD0P1L1,paid\n", "line 2, reference D0P1L1: no line of a payout has it"),
        ("reference,status\n{0}L1,perhaps\n", "status 'perhaps' is not known"),
        ("reference,status\n{0}L1,paid\n{0}L1,failed\n", "has another status in line 2"),
        ("reference,status\n{0}L1,paid\nD0P1L1,paid\n", "line 3"),
    ]:
        with subtests.test(text=text, why=why):
            with pytest.raises((Refusal, SheetError), match=why):
                book(real, text.format(f"D{real.pk}P1"))
            assert set(PayoutLine.objects.values_list("state", flat=True)) == {"sent"}


def test_a_report_is_not_noted_as_paid_by_hand_while_a_file_is_on_its_way(two):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    with pytest.raises(Refusal, match="are on their way"):
        finance.mark_paid(report=two)
    payouts.withdraw(payout=payout)
    assert finance.mark_paid(report=two)
    with pytest.raises(Refusal, match="Nothing is to be paid"):
        payouts.make_payout(report=Payable.objects.get(), method="paypal")
    adds_up(two.requester)


# Killed between the steps


class Killed(BaseException):
    """Ends the work where it stands, as SIGKILL does: nothing catches it."""


def die(*_arguments, **_options):
    raise Killed


def test_killed_between_making_and_storing_there_is_no_file(two, real, monkeypatch, subtests):
    for at in [
        "marketplace.money.payouts._written",
        "marketplace.money.payouts.note",
        "marketplace.models.PayoutPart.objects.bulk_create",
        "marketplace.models.PayoutLine.objects.bulk_create",
    ]:
        with apart(subtests, at=at):
            monkeypatch.setattr(at, die)
            with pytest.raises(Killed):
                payouts.make_payout(report=two, method="paypal")
            monkeypatch.undo()
            assert not Payout.objects.exists() and not PayoutPart.objects.exists()
            assert payouts.make_payout(report=two, method="paypal")[0].number == 1
            adds_up(real)


def test_killed_between_storing_and_marking_the_same_file_comes_again(two, real, monkeypatch):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    monkeypatch.setattr(payouts, "note", die)
    with pytest.raises(Killed):
        payouts.hand_out(payout=payout)
    monkeypatch.undo()
    assert set(payout.lines.values_list("state", flat=True)) == {"owed"}
    again, made = payouts.make_payout(report=two, method="paypal")
    assert (again, made) == (payout, False)
    assert hashlib.sha256(payouts.hand_out(payout=again)).hexdigest() == payout.digest
    assert set(payout.lines.values_list("state", flat=True)) == {"sent"}
    adds_up(real)


def test_killed_while_results_are_booked_none_are(two, real, monkeypatch):
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payouts.hand_out(payout=payout)
    text = f"reference,status\nD{real.pk}P1L1,paid\nD{real.pk}P1L2,failed\n"
    for at in ("_complete", "note"):
        monkeypatch.setattr(payouts, at, die)
        with pytest.raises(Killed):
            book(real, text)
        monkeypatch.undo()
        assert set(payout.lines.values_list("state", flat=True)) == {"sent"}
    assert book(real, text).failed == 1
    adds_up(real)


# The year


def test_over_the_threshold_of_a_year_a_person_waits_for_a_decision(two, real, rosa, staff, settings):
    settings.PAYOUT_WARN_CENTS, settings.PAYOUT_HOLD_CENTS = 10, 18
    year = clock.now().year
    assert standings(two) == {"AROSA": "held", "ABEN": "ready"}
    payout, _ = payouts.make_payout(report=two, method="paypal")
    assert (payout.people, payout.cents) == (1, 15)
    [told] = yearly_limits(clock.now())
    assert told.sentence.startswith(f"Payments of {year}: 1 held over the yearly sum")
    noted = {row.worker.worker_id: row for row in YearlyLimit.objects.select_related("worker")}
    assert noted["AROSA"].held_at and noted["ABEN"].warned_at and not noted["ABEN"].held_at
    with pytest.raises(Refusal, match="Staff decide"):
        payouts.release_hold(requester=real, worker=rosa, year=year, decision="Because.", by=real.owner)
    with pytest.raises(Refusal, match="Write why"):
        payouts.release_hold(requester=real, worker=rosa, year=year, decision=" ", by=staff)
    payouts.release_hold(requester=real, worker=rosa, year=year, decision="Form W-9 is there.", by=staff)
    assert payouts.make_payout(report=two, method="paypal")[0].cents == 20
    assert payouts.paid_in(year) == {rosa.pk: 20, Worker.objects.get(worker_id="ABEN").pk: 15}
    assert Activity.objects.filter(action="payout.released", details__contains="W-9").exists()
    adds_up(real)


def test_sums_of_a_year_count_what_was_paid_by_hand_and_not_what_failed(two, real, rosa, ben):
    year = clock.now().year
    payout, _ = payouts.make_payout(report=two, method="paypal")
    payouts.hand_out(payout=payout)
    book(real, f"reference,status\nD{real.pk}P1L1,failed\nD{real.pk}P1L2,paid\n")
    assert payouts.paid_in(year) == {rosa.pk: 20}
    finance.mark_paid(report=two)
    assert payouts.paid_in(year) == {rosa.pk: 20, ben.pk: 15}
    assert payouts.paid_in(year - 1) == {}


def test_who_made_downloaded_and_booked_is_written_down(two, real, settings):
    payout, _ = payouts.make_payout(
        report=two, method="paypal", by=User.objects.create_user("fin", is_staff=True)
    )
    payouts.hand_out(payout=payout)
    book(real, f"reference,status\nD{real.pk}P1L1,paid\n")
    payouts.book_all_paid(payout=payout)
    actions = list(Activity.objects.filter(requester=real).order_by("pk").values_list("action", flat=True))
    assert actions[-5:] == [
        "payout.made",
        "payout.downloaded",
        "payout.results",
        "payout.paid",
        "payable.paid",
    ]


# Pages


def page_of(requester, rest=""):
    return f"/requester/{requester.customer_id}/money/{rest}"


def test_staff_make_hand_out_and_book_files_on_the_pages(two, real, as_staff, as_owner):
    page = as_staff.get(page_of(real, "payables/1/files/")).content.decode()
    assert "Make the file" in page and "$0.35" in page and "not confirmed" in page
    as_owner.post(page_of(real, "payables/1/files/new"), {"method": "paypal"})
    assert not Payout.objects.exists()
    made = as_staff.post(page_of(real, "payables/1/files/new"), {"method": "paypal"})
    assert made.headers["Location"] == page_of(real, "payouts/1/")
    as_owner.post(page_of(real, "payouts/1/file"))
    assert Payout.objects.get().sent_at is None
    files = [as_staff.post(page_of(real, "payouts/1/file")) for _ in range(2)]
    assert files[0].content == files[1].content and "rosa@example.org" in files[0].content.decode()
    assert "rosa@example.org" not in as_owner.get(page_of(real, "payouts/1/")).content.decode()
    line = f"D{real.pk}P1L1,failed,closed,x\n"
    table = io.BytesIO(f"Reference,Status,Reason,Fee\n{line}{line},,Total,y\n".encode())
    table.name = "back.csv"
    answer = as_staff.post(page_of(real, "payouts/results"), {"file": table}, follow=True)
    for said in (
        "1 failed and owed again",
        "Read as: reason from Reason; reference from Reference; status from Status; ",
        "Columns that were not read: Fee. 3 rows read = 1 used + 0 merged + 1 identical repeat + 1 refused.",
    ):
        assert said in answer.content.decode()
    assert "closed" in as_staff.get(page_of(real, "payouts/1/?state=failed")).content.decode()
    assert "failed: closed" in as_staff.get(page_of(real, "payables/1/files/")).content.decode()
    as_staff.post(page_of(real, "payouts/1/paid"))
    assert set(PayoutLine.objects.values_list("state", flat=True)) == {"failed", "paid"}
    adds_up(real)


def test_years_are_for_staff_with_a_file_and_a_decision(two, real, as_staff, as_owner, settings):
    settings.PAYOUT_HOLD_CENTS = 18
    payouts.make_payout(report=two, method="paypal")
    assert "Staff see these sums" in as_owner.get(page_of(real, "people/")).content.decode()
    page = as_staff.get(page_of(real, "people/")).content.decode()
    assert "AROSA" in page and "held" in page and "$0.15" in page
    rows = list(
        csv.DictReader(io.StringIO(as_staff.get(page_of(real, "people/?format=csv")).getvalue().decode()))
    )
    assert [(row["worker_id"], row["cents"], row["state"]) for row in rows] == [
        ("ABEN", "15", ""), ("AROSA", "0", "held"),
    ]  # fmt: skip
    form = {"year": clock.now().year, "decision": "The form is there."}
    as_owner.post(page_of(real, "people/AROSA/release"), form)
    assert standings(two) == {"AROSA": "held"}
    as_staff.post(page_of(real, "people/AROSA/release"), form)
    assert standings(two) == {"AROSA": "ready"}
    [rosa_row, *_] = [
        row
        for row in csv.DictReader(
            io.StringIO(as_staff.get(page_of(real, "payables/1/?format=csv")).getvalue().decode())
        )
        if row["worker_id"] == "AROSA"
    ]
    assert rosa_row["payment_details"] == "PayPal: email rosa@example.org (not confirmed)"
    assert "The form is there." in as_staff.get(page_of(real, "people/")).content.decode()


def test_pages_cost_the_same_with_one_person_and_with_many(two, real, as_staff, queries_of):
    payouts.make_payout(report=two, method="paypal")
    earn(real, world.make_worker("first"), title="first")
    report_of(real)
    addresses = [page_of(real, each) for each in ("payables/2/files/", "payouts/", "payouts/1/", "people/")]
    few = [queries_of(as_staff, address) for address in addresses]
    for number in range(4):
        worker = world.make_worker(f"w{number}")
        earn(real, worker, title=f"more {number}")
        say(worker, "paypal", email=f"w{number}@example.org")
    report_of(real)
    addresses[0] = page_of(real, "payables/3/files/")
    assert [queries_of(as_staff, address) for address in addresses] == few


# A bank's status report.


def status_report(payout, *lines, group="", reason=""):
    """A pain.002 on a payout file; lines are reference, status and a reason's code."""
    why = f"<StsRsnInf><Rsn><Cd>{reason}</Cd></Rsn></StsRsnInf>" if reason else ""
    stamp = message_id(f"D{payout.requester_id}P{payout.number}", payout.made_at)
    said = "".join(
        f"<TxInfAndSts><OrgnlEndToEndId>{reference}</OrgnlEndToEndId><TxSts>{code}</TxSts>"
        f"<StsRsnInf><Rsn><Cd>{cause}</Cd></Rsn><AddtlInf>closed  account</AddtlInf>"
        "</StsRsnInf></TxInfAndSts>"
        for reference, code, cause in lines
    )
    status = f"<GrpSts>{group}</GrpSts>" if group else ""
    return (
        '<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10">'
        "<CstmrPmtStsRpt>"
        f"<OrgnlGrpInfAndSts><OrgnlMsgId>{stamp}</OrgnlMsgId>{status}{why}</OrgnlGrpInfAndSts>"
        f"<OrgnlPmtInfAndSts>{said}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>"
    )


@pytest.fixture
def at_the_bank(euro, real, rosa, ben):
    """A SEPA file for both that has left."""
    for worker in (rosa, ben):
        earn(real, worker, title=worker.worker_id)
        say(worker, "sepa", name="A Person", iban="DE89370400440532013000", bic="")
    payout, _ = payouts.make_payout(report=report_of(real), method="sepa")
    payouts.hand_out(payout=payout)
    return payout


def states_of(payout):
    return list(payout.lines.order_by("number").values_list("state", "reason"))


def test_a_banks_report_is_booked_line_by_line_and_once(at_the_bank, real):
    name = f"D{real.pk}P{at_the_bank.number}"
    text = status_report(
        at_the_bank, (f"{name}L1", "ACSC", "G000"), (f"{name}L2", "RJCT", "AC04"), group="PART"
    )
    booked = book(real, text, "report.xml")
    assert (booked.paid, booked.failed) == (1, 1)
    assert states_of(at_the_bank) == [("paid", "G000 closed account"), ("failed", "AC04 closed account")]
    assert book(real, text, "report.xml").same == 2
    adds_up(real)


def test_a_status_of_the_whole_file_counts_for_lines_that_are_not_named(at_the_bank, real):
    name = f"D{real.pk}P{at_the_bank.number}"
    waits = status_report(at_the_bank, (f"{name}L1", "ACSP", "G000"), group="ACTC")
    assert book(real, waits, "report.xml").same == 1
    booked = book(real, status_report(at_the_bank, group="RJCT", reason="AM04"), "report.xml")
    assert booked.failed == 2
    assert {reason for _, reason in states_of(at_the_bank)} == {"AM04"}
    adds_up(real)


def test_reports_that_are_wrong_change_nothing(at_the_bank, real, subtests):
    for change, why in [
        (lambda text: text.replace("CstmrPmtStsRpt", "Other"), "is no pain.002"),
        (lambda text: text.replace("RJCT", "WHAT"), "'WHAT' in the whole, which is not known"),
        (lambda text: text.replace("<OrgnlMsgId>D", "<OrgnlMsgId>X"), "no payout has it"),
        (lambda text: text[:-5], "is no XML that can be read"),
        (lambda text: text.replace("<Document", "<!DOCTYPE a [<!ENTITY b 'c'>]><Document"), "is no XML"),
    ]:
        with subtests.test(change=change, why=why):
            with pytest.raises(Refusal, match=why):
                book(real, change(status_report(at_the_bank, group="RJCT")), "report.xml")
            assert {state for state, _ in states_of(at_the_bank)} == {"sent"}
