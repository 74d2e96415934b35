"""Money as integer cents inside, as a string with two decimals outside; no floats anywhere."""

import re

_SIGNS = "$€£"
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


def entered_cents(text: str) -> int:
    """Whole cents of what a person writes: 0.30, 0,30, $ 12, 1,234.50, 1.234,50 or 1 234,50.

    AmountError for anything else, and for 1,234 or 1.234, which may be either.
    """
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
    whole = re.sub("[^0-9]", "", match["whole"])
    return int(whole) * 100 + int((match["part"] or "").ljust(2, "0"))


def dollars(amount: int) -> str:
    """Cents as the protocol writes them: 15 is "0.15", -5 is "-0.05"."""
    sign, rest = ("-", -amount) if amount < 0 else ("", amount)
    return f"{sign}{rest // 100}.{rest % 100:02d}"
