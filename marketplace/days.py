"""Rows by the day of a moment, in the database."""

from django.db.models import TextField
from django.db.models.functions import Cast, Left

#: Characters of a date as ISO 8601 has it.
_DATE = 10


def day_of(field: str) -> Left:
    """The day (UTC) of a column of moments, as `2026-11-22`.

    Of the column's own text, which is in UTC on both databases: on SQLite Django's TruncDate calls Python for
    every row, some seconds for a hundred thousand answers.
    """
    return Left(Cast(field, TextField()), _DATE)
