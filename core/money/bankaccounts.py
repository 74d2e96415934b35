"""Bank accounts (IBAN, BIC, routing numbers), checked before money is sent, and codes of currencies."""

import re
import unicodedata

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
_WEIGHTS = (3, 7, 1) * 3
#: Letters that have no mark to take off.
_SPELLED = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l",
        "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "\u0131": "i",
        "\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2013": "-", "\u2014": "-",
    }
)  # fmt: skip
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
        raise ValueError(
            "Banks take Latin letters only; write the name as it stands on the account's papers."
        )
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
CODES = frozenset(_CODES.split())
