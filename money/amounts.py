"""Money as integer cents inside, as a string with two decimals outside; no floats anywhere."""

import re

_AMOUNT = re.compile(r"([0-9]+)\.?([0-9]{0,2})")


def cents(amount: str) -> int:
    """Whole cents of an amount such as "0.15", "1", "1." or "01.00".

    Raises ValueError for anything else; amounts that are not whole cents are never rounded.
    """
    match = _AMOUNT.fullmatch(amount)
    if match is None or not amount.isascii():
        raise ValueError(f"{amount!r} is not an amount of money with at most two decimals.")
    return int(match[1]) * 100 + int(match[2].ljust(2, "0"))


def dollars(amount: int) -> str:
    """Cents as the protocol writes them: 15 is "0.15", -5 is "-0.05"."""
    sign, rest = ("-", -amount) if amount < 0 else ("", amount)
    return f"{sign}{rest // 100}.{rest % 100:02d}"
