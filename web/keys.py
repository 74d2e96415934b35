"""Rows that a person ticked in a table."""

from collections.abc import Iterable

#: Digits of the longest number that is surely a key on both databases; a longer one is an error of SQLite.
_MOST_DIGITS = 18


def chosen_keys(values: Iterable[str]) -> list[int]:
    """Primary keys from the values of tick boxes; what is no key is left out, as a row that is gone is."""
    return [
        int(value) for value in values if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
    ]
