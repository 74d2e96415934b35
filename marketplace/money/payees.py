"""How people are paid: fields by method, checked and sealed; a change waits for the link in an e-mail.

A changed account is the oldest way to steal wages. Where the worker can be written to, the old account stays
in effect until the link is opened; elsewhere the change counts at once and is shown as unconfirmed.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django_stubs_ext import StrOrPromise

from core import money
from core.accounts import security
from core.crypto import seal, unseal
from marketplace import clock, ids
from marketplace.errors import Refusal
from marketplace.models import PayeeDetails, PayMethod, Worker
from marketplace.money.payoutfiles import fault_of

logger = logging.getLogger(__name__)

SEALED_FOR = "marketplace.payee"
#: How long the link in an e-mail opens.
LINK_LASTS = timedelta(days=3)
#: Between two e-mails to one person.
PAUSE = timedelta(minutes=1)

Values = Mapping[str, str]
_STATE_WORDS = (
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC "
    "ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY PR GU VI AS MP"
)
_STATES = frozenset(_STATE_WORDS.split())
_KINDS = ("CHECKING", "SAVINGS")


#: What `core.money`, which knows nothing of Django, says of numbers of accounts.
_FAULTS_OF_NUMBERS = (
    gettext_noop("An IBAN has two letters, two digits and the account, such as DE89 3704 0044 0532 0130 00."),
    gettext_noop("The check digits of this IBAN do not fit; look for a wrong or swapped digit."),
    gettext_noop("A BIC has 8 or 11 letters and digits, such as COBADEFFXXX; it may be left empty."),
    gettext_noop("A routing number has nine digits, such as 021000021."),
    gettext_noop("The check digit of this routing number does not fit; look for a wrong digit."),
    gettext_noop("Banks take Latin letters only; write the name as it is on the account's papers."),
)


def _text(value: str) -> str:
    return value


def _email(value: str) -> str:
    try:
        validate_email(value)
    except ValidationError as error:
        raise ValueError(gettext("Write an e-mail address, such as ana@example.org.")) from error
    if not value.isascii():
        raise ValueError(gettext("Payment services take addresses of Latin letters without accents only."))
    return value


def _sepa_name(value: str) -> str:
    money.banks_letters(value)
    return value


def _sepa_iban(value: str) -> str:
    return money.iban(value, sepa=True)


def _account(value: str) -> str:
    number = "".join(value.split())
    if not number.isascii() or not number.isdigit() or not 4 <= len(number) <= 17:
        raise ValueError(gettext("An account number in the USA has 4 to 17 digits."))
    return number


def _kind(value: str) -> str:
    if value.upper() not in _KINDS:
        raise ValueError(gettext("Write CHECKING or SAVINGS."))
    return value.upper()


def _state(value: str) -> str:
    if value.upper() not in _STATES:
        raise ValueError(gettext("Write the two letters of the state, such as CA."))
    return value.upper()


def _us(value: str) -> str:
    if value.upper() != "US":
        raise ValueError(gettext("For an account in the USA the address has to be there too: write US."))
    return "US"


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that a method asks for. `check` gives the value as it is stored; ValueError has a remedy."""

    name: str
    label: StrOrPromise
    help: StrOrPromise = ""
    longest: int = 70
    check: Callable[[str], str] = _text
    needed: bool = True
    autocomplete: str = "off"


_NAME = Field("name", gettext_lazy("Name on the account"), longest=70, autocomplete="name")
_EMAIL = Field("email", gettext_lazy("E-mail address"), longest=100, check=_email, autocomplete="email")
_IBAN = Field("iban", "IBAN", gettext_lazy("Such as DE89 3704 0044 0532 0130 00."), 42, money.iban)
FIELDS: dict[str, tuple[Field, ...]] = {
    PayMethod.PAYPAL: (_EMAIL,),
    PayMethod.WISE: (_NAME, _EMAIL),
    PayMethod.WISE_IBAN: (_NAME, _IBAN),
    PayMethod.WISE_US: (
        _NAME,
        Field(
            "routing",
            gettext_lazy("Routing number (ABA)"),
            gettext_lazy("Nine digits."),
            12,
            money.routing_number,
        ),
        Field("account", gettext_lazy("Account number"), "", 24, _account),
        Field("kind", gettext_lazy("Kind of account"), gettext_lazy("CHECKING or SAVINGS."), 10, _kind),
        Field("street", gettext_lazy("Street and number"), "", 100, autocomplete="street-address"),
        Field("city", gettext_lazy("City"), "", 60, autocomplete="address-level2"),
        Field(
            "state",
            pgettext_lazy("address", "State"),
            gettext_lazy("Two letters, such as CA."),
            2,
            _state,
            autocomplete="address-level1",
        ),
        Field("postcode", gettext_lazy("ZIP code"), "", 10, autocomplete="postal-code"),
        Field("country", gettext_lazy("Country"), "US.", 2, _us, autocomplete="country"),
    ),
    PayMethod.SEPA: (
        Field("name", gettext_lazy("Name on the account"), "", 70, _sepa_name, autocomplete="name"),
        Field("iban", "IBAN", gettext_lazy("Such as DE89 3704 0044 0532 0130 00."), 42, _sepa_iban),
        Field("bic", "BIC", gettext_lazy("May be left empty."), 14, money.bic, needed=False),
    ),
    PayMethod.TREMENDOUS: (_NAME, _EMAIL),
    PayMethod.BANK: (
        _NAME,
        Field("account", gettext_lazy("Account number or IBAN"), "", 60),
        Field("bank", gettext_lazy("Bank"), gettext_lazy("Its name and city."), 120),
        Field(
            "code",
            gettext_lazy("Code of the bank"),
            gettext_lazy("BIC, sort code, branch: what your bank calls it."),
            60,
            needed=False,
        ),
        Field(
            "address",
            gettext_lazy("Your address"),
            gettext_lazy("Only if your bank asks for it."),
            200,
            needed=False,
        ),
    ),
    PayMethod.NONE: (
        Field(
            "where",
            gettext_lazy("Where"),
            gettext_lazy("The panel that pays you, or the course that counts it."),
            120,
            needed=False,
        ),
    ),
}


def offered_methods() -> tuple[str, ...]:
    """Ways that people may choose: those of PAYOUT_METHODS that can pay in this currency."""
    in_euro = settings.MARKETPLACE_CURRENCY == "EUR"
    return tuple(method for method in settings.PAYOUT_METHODS if in_euro or method != PayMethod.SEPA)


class DetailsError(ValueError):
    """What is wrong with details, by field."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = dict(faults)


def checked_details(method: str, entries: Values) -> dict[str, str]:
    """The values as they are stored; DetailsError names each field that is wrong, with a remedy."""
    if method not in offered_methods():
        raise DetailsError({"method": gettext("People are not paid in this way here; choose another one.")})
    details: dict[str, str] = {}
    faults: dict[str, str] = {}
    for field in FIELDS[method]:
        value = " ".join(entries.get(field.name, "").split(" ")).strip()
        if not value:
            if field.needed:
                faults[field.name] = gettext("%(label)s is needed.") % {"label": field.label}
            continue
        if len(value) > field.longest:
            faults[field.name] = gettext("%(label)s has at most %(longest)s characters.") % {
                "label": field.label,
                "longest": field.longest,
            }
        elif fault := fault_of("", {str(field.label): value}):
            faults[field.name] = f"{fault[0].upper()}{fault[1:].partition('; ask')[0]}; write it without."
        else:
            try:
                details[field.name] = field.check(value)
            except ValueError as error:
                faults[field.name] = gettext(str(error))
    if faults:
        raise DetailsError(faults)
    return details


def sealed(details: Values) -> str:
    """Details as they are stored."""
    return seal(json.dumps(dict(details), ensure_ascii=False, sort_keys=True), purpose=SEALED_FOR)


def opened(text: str) -> dict[str, str] | None:
    """Stored details; None where there are none, or none of the known keys opens them."""
    details_json = unseal(text, purpose=SEALED_FOR) if text else None
    return None if details_json is None else dict(json.loads(details_json))


def _digest(method: str, details: Values) -> str:
    """The same for the same account, so that one account of two workers is noticed; kept under our secret."""
    if method == PayMethod.NONE:
        return ""
    about = {name: value.casefold() for name, value in details.items() if name in _ACCOUNT_FIELDS}
    return salted_hmac("marketplace.payee", json.dumps(about, sort_keys=True), algorithm="sha256").hexdigest()


_ACCOUNT_FIELDS = frozenset({"email", "iban", "routing", "account", "code"})


def payee_of(worker: Worker) -> PayeeDetails | None:
    """What a worker said; None where they said nothing."""
    return PayeeDetails.objects.filter(worker=worker).first()


def details_in_words(workers: Iterable[Worker]) -> dict[int, str]:
    """How workers are paid, by their key, on one line each, for those who may pay."""
    rows = PayeeDetails.objects.filter(worker__in=[worker.pk for worker in workers]).exclude(method="")
    return {row.worker_id: _in_words(row) for row in rows}


def _in_words(row: PayeeDetails) -> str:
    details = opened(row.details_sealed)
    if details is None:
        return f"{row.get_method_display()}: cannot be read, the key is lost"
    pairs = ", ".join(f"{name} {value}" for name, value in details.items())
    return f"{row.get_method_display()}: {pairs}" + ("" if row.confirmed_at else " (not confirmed)")


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a change: in effect, or waiting for the link that went to `sent_to`."""

    waiting: bool
    sent_to: str = ""


def set_payee(*, worker: Worker, method: str, entries: Values, base: str = "") -> Change:
    """Take what a worker says. `base` is the address of the site, for the link.

    Raises DetailsError by field, and Refusal where an e-mail went out a moment ago or cannot be sent: then
    everything is as it was.
    """
    details = checked_details(method, entries)
    now = clock.now()
    with transaction.atomic():
        row = _locked(worker)
        if row.method == method and opened(row.details_sealed) == details:
            _forget_change(row)
            row.save()
            return Change(waiting=False)
        before = opened(row.details_sealed) or {}
        address = _address(worker, details)
        token = ids.new_token()
        if address:
            if row.mailed_at is not None and row.mailed_at > now - PAUSE:
                raise Refusal(
                    "TooSoon", gettext("An e-mail went out a moment ago. Wait a minute, then save again.")
                )
            row.waiting_method, row.waiting_sealed = method, sealed(details)
            row.waiting_digest = _digest(method, details)
            row.waiting_since = row.mailed_at = now
            row.link_digest = ids.digest(token)
        else:
            _take_effect(row, method, sealed(details), _digest(method, details), confirmed=False)
        row.save()
        security.log("payment_details.asked" if address else "payment_details.changed", **_about(row, method))
    if address:  # not inside: a mail server that is slow would keep the table locked
        link = f"{base}{reverse('site:confirm_payment', args=[token])}"
        try:
            _send(address, _letter(method, link))
        except Refusal:
            _take_back(row)
            raise
    old = before.get("email", "")
    if old and old != address and settings.NOTICES_BY_EMAIL:
        _warn(old)
    return Change(waiting=bool(address), sent_to=_veiled(address))


def _locked(worker: Worker) -> PayeeDetails:
    PayeeDetails.objects.get_or_create(worker=worker)
    return PayeeDetails.objects.select_for_update().get(worker=worker)


def _about(row: PayeeDetails, method: str) -> dict[str, str]:
    return {"worker": row.worker.worker_id, "method": method}


def _address(worker: Worker, details: Values) -> str:
    """Where the link goes: the account's address, else the one that is to be paid; without mail nowhere."""
    if not settings.NOTICES_BY_EMAIL:
        return ""
    own = worker.user.email if worker.user else ""
    return own or details.get("email", "")


def _take_effect(row: PayeeDetails, method: str, details: str, digest: str, *, confirmed: bool) -> None:
    row.method, row.details_sealed, row.digest = method, details, digest
    row.set_at = clock.now()
    row.confirmed_at = row.set_at if confirmed else None
    _forget_change(row)


def _take_back(row: PayeeDetails) -> None:
    """The link of this change was not sent; unless another change has come meanwhile, it waits no more."""
    PayeeDetails.objects.filter(pk=row.pk, link_digest=row.link_digest).update(
        waiting_method="",
        waiting_sealed="",
        waiting_digest="",
        waiting_since=None,
        link_digest=None,
        mailed_at=None,
    )


def _forget_change(row: PayeeDetails) -> None:
    row.waiting_method = row.waiting_sealed = row.waiting_digest = ""
    row.waiting_since = row.link_digest = None


def waiting_change(token: str) -> PayeeDetails | None:
    """The change that a link confirms; None for a link that is used up, replaced or too old."""
    since = clock.now() - LINK_LASTS
    rows = PayeeDetails.objects.select_related("worker").filter(
        link_digest=ids.digest(token), waiting_since__gt=since, worker__closed_at=None
    )
    return rows.first()


@transaction.atomic
def confirm_change(token: str) -> PayeeDetails | None:
    """Whoever has the link reads the e-mail: the change takes effect, once. None where there is none."""
    change = waiting_change(token)
    if change is None:
        return None
    row = _locked(change.worker)
    if row.link_digest != ids.digest(token):
        return None
    _take_effect(row, row.waiting_method, row.waiting_sealed, row.waiting_digest, confirmed=True)
    row.save()
    security.log("payment_details.changed", **_about(row, row.method))
    return row


@transaction.atomic
def drop_change(*, worker: Worker) -> None:
    """Forget a change that waits; what is in effect stays."""
    row = PayeeDetails.objects.select_for_update().filter(worker=worker).exclude(waiting_method="").first()
    if row is not None:
        _forget_change(row)
        row.save()
        security.log("payment_details.change_dropped", worker=worker.worker_id)


@transaction.atomic
def forget_payee(*, worker: Worker) -> None:
    """Delete how a worker is paid, and a change that waits."""
    if PayeeDetails.objects.filter(worker=worker).delete()[0]:
        security.log("payment_details.deleted", worker=worker.worker_id)


def _letter(method: str, link: str) -> tuple[str, list[str]]:
    return (
        gettext("Confirm how you are paid"),
        [
            gettext("You want to be paid in another way from now on: %(label)s.")
            % {"label": PayMethod(method).label},
            gettext("It counts as soon as you open this page and press the button:"),
            "",
            link,
            "",
            gettext("The link opens for %(days)s days.") % {"days": LINK_LASTS.days},
            gettext("Was it not you? Do not open it, and change your password."),
        ],
    )


def _send(address: str, letter: tuple[str, list[str]]) -> None:
    subject, lines = letter
    message = EmailMessage(
        subject=subject,
        body="\n".join([*lines, ""]),
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except (OSError, SMTPException, ValueError) as error:
        logger.warning("An e-mail about payment details was not sent: %s", type(error).__name__)
        raise Refusal(
            "MailNotSent",
            gettext("The e-mail with the link could not be sent, so nothing was changed. Try again later."),
        ) from error


def _warn(address: str) -> None:
    """Tell the address that was paid until now; whether it arrives decides nothing."""
    lines = [
        gettext("A person who is signed in as you wants your money to go to another account from now on."),
        gettext("Was it not you? Sign in, change your password, and look at how you are paid."),
    ]
    try:
        _send(address, (gettext("How you are paid is being changed"), lines))
    except Refusal:
        logger.info("The address that was paid until now could not be told of a change.")


def _veiled(address: str) -> str:
    """An address as it is shown to whoever may not be its reader."""
    if not address:
        return ""
    name, _, host = address.rpartition("@")
    return f"{name[:1]}…@{host}"
