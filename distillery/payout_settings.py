"""Settings of paying people: ways, least sums, the account that pays, and thresholds of a year."""

from typing import NamedTuple

from django.core.exceptions import ImproperlyConfigured

from core import money

#: Ways to pay, as `marketplace.models.PayMethod` has them.
PAY_METHODS = ("paypal", "wise", "wise_iban", "wise_us", "sepa", "tremendous", "bank", "none")


class PayoutSender(NamedTuple):
    """Whose account pays by SEPA."""

    name: str
    iban: str
    bic: str


def payout_methods(names: list[str]) -> tuple[str, ...]:
    """The ways that people may choose."""
    for word in names:
        if word not in PAY_METHODS:
            raise ImproperlyConfigured(f"PAYOUT_METHODS: {word!r} is not one of {', '.join(PAY_METHODS)}.")
    return tuple(each for each in PAY_METHODS if each in names)


def payout_minimums(entries: list[str]) -> dict[str, int]:
    """Cents below which a sum waits for the next file, by way."""
    minimums = {}
    for word in entries:
        method, _, amount = word.partition("=")
        if method not in PAY_METHODS:
            raise ImproperlyConfigured(f"PAYOUT_MINIMUMS: {method!r} is not one of {', '.join(PAY_METHODS)}.")
        minimums[method] = _cents("PAYOUT_MINIMUMS", amount)
    return minimums


def payout_sender(*, name: str, iban: str, bic: str) -> PayoutSender:
    """The account that pays; all of it empty where there is none."""
    if not name and not iban and not bic:
        return PayoutSender("", "", "")
    if not name or not iban:
        raise ImproperlyConfigured("PAYOUT_SENDER_NAME and PAYOUT_SENDER_IBAN are set together, or neither.")
    try:
        money.banks_letters(name)
        return PayoutSender(name.strip()[:70], money.iban(iban, sepa=True), money.bic(bic) if bic else "")
    except ValueError as error:
        raise ImproperlyConfigured(f"PAYOUT_SENDER_NAME, _IBAN, _BIC: {error}") from error


def yearly_thresholds(*, warn: str, hold: str) -> tuple[int, int]:
    """Cents a year from which is warned, and over which is held; 0 is never."""
    thresholds = _cents("PAYOUT_YEARLY_WARN", warn or "0"), _cents("PAYOUT_YEARLY_HOLD", hold or "0")
    if thresholds[1] and thresholds[0] > thresholds[1]:
        raise ImproperlyConfigured(
            "PAYOUT_YEARLY_WARN is above PAYOUT_YEARLY_HOLD; warn earlier, or not at all."
        )
    return thresholds


def _cents(name: str, amount: str) -> int:
    try:
        return money.cents(amount.strip())
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error} Write one such as 600.00.") from error
