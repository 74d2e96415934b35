"""Money as the apps on both sides of the wire count it: amounts in cents, fees, bank accounts, currencies.

Pure Python. Money is integer cents inside and a string with two decimals outside; there are no floats.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_SIGNS = "$€£"
#: Currencies that have a sign of their own.
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
_AMOUNT = re.compile(r"([0-9]+)\.?([0-9]{0,2})")

#: Digits, or groups of three, with point or comma before at most two decimals; the two are never the same.
_ENTERED = re.compile(
    r"(?P<whole>[0-9]+|[0-9]{1,3}(?:,[0-9]{3}){2,}|[0-9]{1,3}(?:\.[0-9]{3}){2,}|[0-9]{1,3}(?: [0-9]{3})+"
    r"|[0-9]{1,3}(?:,[0-9]{3})+(?=\.)|[0-9]{1,3}(?:\.[0-9]{3})+(?=,))(?:[.,](?P<part>[0-9]{0,2}))?"
)
#: More characters than any amount has, and fewer than `int` refuses.
_LONGEST = 40
_EITHER = re.compile(r"([1-9][0-9]{0,2})[.,]([0-9]{3})")


def cents(amount: str) -> int:
    """Whole cents of an amount such as "0.15", "1", "1." or "01.00".

    Raises ValueError for anything else; amounts that are not whole cents are never rounded.
    """
    match = _AMOUNT.fullmatch(amount)
    if match is None or not amount.isascii():
        raise ValueError(f"{amount!r} is not an amount of money with at most two decimals.")
    return int(match[1]) * 100 + int(match[2].ljust(2, "0"))


class AmountError(ValueError):
    """Why what a person wrote is no amount of money, in a sentence with a remedy."""


def entered_cents(text: str, currency: str = "") -> int:
    """Whole cents of what a person writes: 0.30, 0,30, $ 12, 1,234.50, 1.234,50 or 1 234,50.

    AmountError for anything else, for 1,234 or 1.234, which may be either, and for the sign of another
    `currency`, where one is named.
    """
    strange = (sign for sign in _SIGNS if sign in text and sign != SYMBOLS.get(currency))
    if currency and (sign := next(strange, "")):
        raise AmountError(f"Sums here are in {currency}, not in {sign}. Write the amount without a sign.")
    bare = text.strip().strip(_SIGNS).strip()
    if len(bare) > _LONGEST:
        raise AmountError("That is too long for an amount. Write one such as 12.50.")
    match = _ENTERED.fullmatch(bare)
    if match is None or not bare.isascii():
        if match := _EITHER.fullmatch(bare):
            raise AmountError(
                f"{bare} may have thousands or three decimals: write {match[1]}{match[2]}.00, or an amount "
                f"with two decimals, such as {match[1]}.{match[2][:2]}."
            )
        raise AmountError("Write an amount with two decimals, such as 12.50.")
    units = re.sub("[^0-9]", "", match["whole"])
    return int(units) * 100 + int((match["part"] or "").ljust(2, "0"))


def dollars(amount: int) -> str:
    """Cents as the protocol writes them: 15 is "0.15", -5 is "-0.05"."""
    sign, rest = ("-", -amount) if amount < 0 else ("", amount)
    return f"{sign}{rest // 100}.{rest % 100:02d}"


def format_amount(amount: int, currency: str) -> str:
    """Cents as people read them, with their currency: 123456 is "$1,234.56", in zloty "1,234.56 PLN"."""
    number = f"{Decimal(dollars(amount)):,}"
    return f"{SYMBOLS[currency]}{number}" if currency in SYMBOLS else f"{number} {currency}"


# Fee profiles: versioned tables of what the marketplace charges on top of rewards and bonuses.
#
# Rates of `mturk-2026` as quoted in third-party pages and clients (design/marketplace.md 2.4): 20 % of
# reward and bonus, 20 % more of the reward for HITs with ten or more assignments, 5 % for Masters, at least
# one cent each, rounded half up. A profile never changes, since what was charged is computed again when the
# books are checked: new rates are a new profile.

MASTERS_QUALIFICATIONS = frozenset({"2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"})


@dataclass(frozen=True, slots=True)
class FeeProfile:
    """Rates as shares of the amount; `least_cents` is charged where a rate is above zero."""

    reward_rate: Decimal
    large_hit_rate: Decimal
    large_hit_from: int
    masters_rate: Decimal
    bonus_rate: Decimal
    least_cents: int


FEE_PROFILES = {
    "none-1": FeeProfile(Decimal(0), Decimal(0), 10, Decimal(0), Decimal(0), 0),
    "mturk-2026": FeeProfile(Decimal("0.20"), Decimal("0.20"), 10, Decimal("0.05"), Decimal("0.20"), 1),
}

#: Before a share of rewards and bonuses alike, of a panel that tells each account its own: share-0.4286.
_SHARE = "share-"
#: More than this share nobody takes; it is a mistake.
_LARGEST_SHARE = Decimal(3)


def profile_named(name: str) -> FeeProfile:
    """The profile of this name, one of the table or `share-` and a share; KeyError where there is none."""
    if not name.startswith(_SHARE):
        return FEE_PROFILES[name]
    try:
        share = Decimal(name.removeprefix(_SHARE))
    except InvalidOperation:
        raise KeyError(name) from None
    if not share.is_finite() or not 0 <= share <= _LARGEST_SHARE:
        raise KeyError(name)
    return FeeProfile(share, Decimal(0), 10, Decimal(0), share, 0)


def _charge(amount_cents: int, rate: Decimal, least_cents: int) -> int:
    if not rate:
        return 0
    return max(least_cents, int((amount_cents * rate).quantize(Decimal(1), rounding=ROUND_HALF_UP)))


def reward_fee(
    profile: str, *, reward_cents: int, max_assignments: int, qualification_ids: Iterable[str] = ()
) -> int:
    """Fee in cents per assignment of a HIT. The parts' rates are summed before rounding."""
    rates = profile_named(profile)
    rate = rates.reward_rate
    if max_assignments >= rates.large_hit_from:
        rate += rates.large_hit_rate
    if MASTERS_QUALIFICATIONS.intersection(qualification_ids):
        rate += rates.masters_rate
    return _charge(reward_cents, rate, rates.least_cents)


def bonus_fee(profile: str, *, bonus_cents: int) -> int:
    """Fee in cents on one bonus payment."""
    rates = profile_named(profile)
    return _charge(bonus_cents, rates.bonus_rate, rates.least_cents)


# Bank accounts, checked before money is sent.

#: Characters of an IBAN by its country (ISO 13616, as of the registry's release 99).
_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27,
    "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28,
    "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23,
    "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21,
    "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
    "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22,
    "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25,
    "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip
#: Where transfers in euro go by SEPA.
_SEPA_WORDS = (
    "AD AL AT BE BG CH CY CZ DE DK EE ES FI FR GB GI GR HR HU IE IS IT LI LT LU LV MC MD ME MK MT NL NO PL "
    "PT RO RS SE SI SK SM VA"
)
_SEPA = frozenset(_SEPA_WORDS.split())
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_BIC = re.compile(r"[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?")
_ROUTING = re.compile(r"[0-9]{9}")
#: Of the nine digits of a routing number, in the checksum of the American Bankers Association.
_WEIGHTS = (3, 7, 1) * 3
#: Letters that have no mark to take off.
_SPELLED = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l",
        "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "\u0131": "i",
        "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2013": "-", "\u2014": "-",
    }
)  # fmt: skip
#: The letters of SEPA's payment messages; a slash neither begins nor ends a text, nor is doubled.
_BANKS_LETTERS = re.compile(r"[A-Za-z0-9?:().,'+ -](?:[A-Za-z0-9/?:().,'+ -]*[A-Za-z0-9?:().,'+ -])?")


def _bare(text: str) -> str:
    return "".join(text.split()).upper()


def iban(text: str, *, sepa: bool = False) -> str:
    """The IBAN without blanks, with `sepa` of a country in SEPA; ValueError has a remedy."""
    number = _bare(text)
    if not number.isascii() or not _IBAN.fullmatch(number):
        raise ValueError(
            "An IBAN has two letters, two digits and the account, such as DE89 3704 0044 0532 0130 00."
        )
    country = number[:2]
    if country not in _LENGTHS:
        raise ValueError(f"No country with IBANs begins with {country}; copy it from your bank's papers.")
    if len(number) != _LENGTHS[country]:
        raise ValueError(
            f"An IBAN of {country} has {_LENGTHS[country]} characters, this one has {len(number)}; "
            "copy it from your bank's papers."
        )
    # ISO 7064 MOD 97-10: the first four characters go to the end, letters count from A = 10.
    if int("".join(str(int(each, 36)) for each in number[4:] + number[:4])) % 97 != 1:
        raise ValueError("The check digits of this IBAN do not fit; look for a wrong or swapped digit.")
    if sepa and country not in _SEPA:
        raise ValueError(f"{country} does not take part in SEPA; choose another way to be paid.")
    return number


def bic(text: str) -> str:
    """The BIC without blanks; ValueError, with a remedy, where it is none."""
    code = _bare(text)
    if not code.isascii() or not _BIC.fullmatch(code):
        raise ValueError("A BIC has 8 or 11 letters and digits, such as COBADEFFXXX; it may be left empty.")
    return code


def routing_number(text: str) -> str:
    """A routing number of a bank in the USA (ABA); ValueError, with a remedy, where it is none."""
    number = _bare(text)
    if not number.isascii() or not _ROUTING.fullmatch(number):
        raise ValueError("A routing number has nine digits, such as 021000021.")
    if sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=True)) % 10:
        raise ValueError("The check digit of this routing number does not fit; look for a wrong digit.")
    return number


def banks_letters(text: str) -> str:
    """The text in the letters that every bank of SEPA takes: without accents, ß as ss.

    ValueError, with a remedy, for other scripts.
    """
    plain = unicodedata.normalize("NFKD", text.translate(_SPELLED))
    plain = "".join(each for each in plain if not unicodedata.combining(each))
    if not _BANKS_LETTERS.fullmatch(plain) or "//" in plain:
        raise ValueError("Banks take Latin letters only; write the name as it is on the account's papers.")
    return plain


# Codes of currencies, by ISO 4217: those in circulation, without funds, metals and test codes.

_CODES = (
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD "
    "CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP "
    "GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD "
    "KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN "
    "NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP "
    "SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES "
    "VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG "
)
CURRENCIES = frozenset(_CODES.split())
