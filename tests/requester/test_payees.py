"""How people are paid: what is legal, who reads it, and a change that waits for its link."""

import logging
import re

import pytest
from django.core import mail

from core import money
from marketplace import clock
from marketplace.accounts import account_closure
from marketplace.errors import Refusal
from marketplace.models import PayeeDetails
from marketplace.money import payees
from tests.site.conftest import signed_in

# IBANs of the registry's own examples, one per country.
EXAMPLES = [
    "AD1200012030200359100100", "AE070331234567890123456", "AT611904300234573201", "BE68539007547034",
    "CH9300762011623852957", "CY17002001280000001200527600", "CZ6508000000192000145399",
    "DE89370400440532013000", "DK5000400440116243", "EE382200221020145685", "ES9121000418450200051332",
    "FI2112345600000785", "FR1420041010050500013M02606", "GB29NWBK60161331926819",
    "GR1601101250000000012300695", "HR1210010051863000160", "HU42117730161111101800000000",
    "IE29AIBK93115212345678", "IS140159260076545510730339", "IT60X0542811101000000123456",
    "LI21088100002324013AA", "LT121000011101001000", "LU280019400644750000", "LV80BANK0000435195001",
    "MC5811222000010123456789030", "MT84MALT011000012345MTLCAST001S", "NL91ABNA0417164300",
    "NO9386011117947", "PL61109010140000071219812874", "PT50000201231234567890154",
    "RO49AAAA1B31007593840000", "SA0380000000608010167519", "SE4550000000058398257466",
    "SI56263300012039086", "SK3112000000198742637541", "SM86U0322509800000000270100",
    "TR330006100519786457841326", "UA213223130000026007233566001",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_euro(settings):
    """Where every way is offered, SEPA too."""
    settings.MARKETPLACE_CURRENCY = "EUR"


def test_ibans_of_the_registry_are_taken_and_a_swapped_digit_is_found(subtests):
    for number in EXAMPLES:
        with subtests.test(number=number):
            assert money.iban(f" {number[:4].lower()} {number[4:]} ") == number
            digits = [place for place in range(4, len(number) - 1) if number[place : place + 2].isdigit()]
            place = next(each for each in digits if number[each] != number[each + 1])
            swapped = number[:place] + number[place + 1] + number[place] + number[place + 2 :]
            with pytest.raises(ValueError, match="check digits"):
                money.iban(swapped)


def test_what_is_no_iban_bic_or_routing_number_says_why():
    for number, why in (
        ("", "two letters"),
        ("DE8937040044053201300", "has 22 characters, this one has 21"),
        ("XX89370400440532013000", "No country"),
        ("DE89 3704 0044 0532 0130 0٣", "two letters"),
    ):
        with pytest.raises(ValueError, match=why):
            money.iban(number)
    with pytest.raises(ValueError, match="does not take part in SEPA"):
        money.iban("TR330006100519786457841326", sepa=True)
    assert money.bic("cobadeff xxx") == "COBADEFFXXX"
    assert money.routing_number("0210 0002 1") == "021000021"
    for wrong in ("COBADEF", "COBADEFFXX", "1OBADE!F"):
        with pytest.raises(ValueError, match="BIC"):
            money.bic(wrong)
    with pytest.raises(ValueError, match="check digit"):
        money.routing_number("021000022")


def test_names_are_written_as_banks_take_them_or_refused():
    for name, plain in (
        ("Zoë Müller-Weiß", "Zoe Muller-Weiss"),
        ("Łukasz Đặng", "Lukasz Dang"),
        ("O\u2019Neil", "O'Neil"),
    ):
        assert money.banks_letters(name) == plain
    for name in ("山田太郎", "Иван", "/Rosa", "Ro//sa", "", "Rosa<b>"):
        with pytest.raises(ValueError, match="Latin letters"):
            money.banks_letters(name)


# What is said


def test_what_no_service_takes_is_refused_by_field(db, subtests):
    for method, given, field in [
        ("paypal", {}, "email"),
        ("paypal", {"email": "rosa"}, "email"),
        ("paypal", {"email": "rösa@example.org"}, "email"),
        ("paypal", {"email": "rosa@example.org\r\nBcc: all@example.org"}, "email"),
        ("sepa", {"name": "山田太郎", "iban": EXAMPLES[7]}, "name"),
        ("sepa", {"name": "Rosa", "iban": "DE00"}, "iban"),
        ("sepa", {"name": "Rosa\x00", "iban": EXAMPLES[7]}, "name"),
        ("sepa", {"name": "R" * 71, "iban": EXAMPLES[7]}, "name"),
        ("bank", {"name": "+Rosa", "account": "1", "bank": "B"}, "name"),
        ("wise_us", {"name": "Rosa", "state": "XX"}, "state"),
        ("pigeon", {}, "method"),
    ]:
        with subtests.test(method=method, given=given):
            with pytest.raises(payees.DetailsError) as refused:
                payees.checked_details(method, given)
            assert field in refused.value.faults


def test_the_operator_chooses_the_ways(db, settings):
    settings.PAYOUT_METHODS = ("sepa",)
    with pytest.raises(payees.DetailsError, match="not paid in this way"):
        payees.checked_details("paypal", {"email": "rosa@example.org"})


def test_details_are_sealed_and_one_account_of_two_has_one_digest(rosa, ben):
    payees.set_payee(worker=rosa, method="paypal", entries={"email": "Rosa@example.org"})
    payees.set_payee(worker=ben, method="wise", entries={"name": "Ben", "email": "rosa@example.org"})
    row = payees.payee_of(rosa)
    assert "rosa" not in row.details_sealed.lower() and "rosa" not in row.digest
    assert payees.opened(row.details_sealed) == {"email": "Rosa@example.org"}
    assert row.digest == payees.payee_of(ben).digest


# Changes


@pytest.fixture
def post(settings):
    settings.NOTICES_BY_EMAIL = True
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.DEFAULT_FROM_EMAIL = "distillery@example.org"


def link():
    last = next(message for message in reversed(mail.outbox) if "https://" in message.body)
    return re.search(r"https://lab\.example\.org(\S+)", last.body)[1]


def token():
    return link().rpartition("/")[2]


def ask(worker, email):
    return payees.set_payee(
        worker=worker, method="paypal", entries={"email": email}, base="https://lab.example.org"
    )


def test_without_mail_a_change_counts_at_once_and_is_unconfirmed(rosa):
    assert not ask(rosa, "rosa@example.org").waiting
    row = payees.payee_of(rosa)
    assert (row.method, row.confirmed_at, row.waiting_method) == ("paypal", None, "")


def test_a_change_waits_for_the_link_and_the_old_account_is_told(rosa, post, caplog):
    rosa.user.email = "home@example.org"
    rosa.user.save()
    with caplog.at_level(logging.INFO, "distillery.security"):
        assert ask(rosa, "old@example.org").sent_to == "h…@example.org"
        with pytest.raises(Refusal, match="Wait a minute"):
            ask(rosa, "other@example.org")
        assert payees.payee_of(rosa).method == ""
        assert payees.confirm_change(token()) is not None
    assert "payment_details.changed" in caplog.text and "old@example.org" not in caplog.text
    PayeeDetails.objects.update(mailed_at=None)
    ask(rosa, "thief@example.org")
    assert [message.to for message in mail.outbox] == [
        ["home@example.org"], ["home@example.org"], ["old@example.org"],
    ]  # fmt: skip
    assert not any("thief" in message.body for message in mail.outbox)
    row = payees.payee_of(rosa)
    assert payees.opened(row.details_sealed) == {"email": "old@example.org"}
    payees.drop_change(worker=rosa)
    row = payees.payee_of(rosa)
    assert (row.method, row.waiting_method, row.link_digest) == ("paypal", "", None)


def test_a_link_opens_once_and_not_for_ever(rosa, post):
    ask(rosa, "rosa@example.org")
    first = token()
    assert payees.waiting_change("nothing") is None
    assert payees.confirm_change(first).confirmed_at is not None
    assert payees.confirm_change(first) is None
    PayeeDetails.objects.update(mailed_at=None)
    ask(rosa, "other@example.org")
    PayeeDetails.objects.update(waiting_since=clock.now() - payees.LINK_LASTS)
    assert payees.confirm_change(token()) is None


def test_a_link_that_cannot_be_sent_changes_nothing(rosa, post, monkeypatch):
    def refuse(*_arguments, **_options):
        raise OSError("no route")

    monkeypatch.setattr("django.core.mail.EmailMessage.send", refuse)
    with pytest.raises(Refusal, match="could not be sent"):
        ask(rosa, "rosa@example.org")
    row = payees.payee_of(rosa)
    assert (row.method, row.waiting_method, row.mailed_at) == ("", "", None)


# Leaving


def test_a_closed_account_keeps_details_only_until_everything_is_paid(rosa, ben):
    for worker in (rosa, ben):
        payees.set_payee(worker=worker, method="paypal", entries={"email": f"{worker.name}@example.org"})
    account_closure.close(worker=rosa)
    account_closure.close(worker=ben, keep_payment_note=True)
    assert [row.worker for row in PayeeDetails.objects.all()] == [ben]
    account_closure.forget_payment_notes()
    assert not PayeeDetails.objects.exists()


# Pages


def test_the_form_asks_what_the_method_needs_and_keeps_it(rosa):
    browser = signed_in(rosa.user)
    page = browser.get("/profile/payment?method=sepa").content.decode()
    assert "IBAN" in page and 'name="iban"' in page
    wrong = browser.post("/profile/payment", {"method": "sepa", "name": "Rosa", "iban": "DE00"})
    assert "two letters" in wrong.content.decode() and payees.payee_of(rosa) is None
    sent = {"method": "sepa", "name": "Rosa Lind", "iban": "de89 3704 0044 0532 0130 00"}
    assert browser.post("/profile/payment", sent).status_code == 302
    page = browser.get("/profile/payment").content.decode()
    assert "not confirmed" in page and "DE89370400440532013000" in page
    assert "SEPA" in browser.get("/profile").content.decode()
    browser.post("/profile/payment/forget")
    assert payees.payee_of(rosa) is None


def test_the_link_is_a_page_with_a_button_and_works_on_another_device(rosa, post, client, settings):
    settings.PUBLIC_URL = "https://lab.example.org"
    browser = signed_in(rosa.user)
    sent = {"method": "paypal", "email": "rosa@example.org"}
    page = browser.post("/profile/payment", sent, follow=True).content.decode()
    assert "r…@example.org" in page and "waits for the link" in page
    shown = client.get(link())
    assert shown.status_code == 200 and "rosa@example.org" not in shown.content.decode()
    assert payees.payee_of(rosa).method == ""
    assert client.post(link()).status_code == 302
    assert payees.payee_of(rosa).confirmed_at is not None
    assert client.get(link()).status_code == 404
