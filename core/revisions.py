"""What somebody saw of a row before they changed it, as a keyed digest that a form carries.

A service that changes the row gets it as `seen` and checks it after it has locked the row, in the transaction
that saves. No column is needed, and of two people who save at the same moment one gets through.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Model
from django.utils.crypto import constant_time_compare, salted_hmac


class ConflictError(Exception):
    """The row is not as the form showed it. Nothing was changed."""


def mark_of(row: Model, columns: Iterable[str]) -> str:
    """Digest of some columns of a row: equal as long as none of them has changed."""
    names = set(columns)
    fields = (field for field in row._meta.concrete_fields if field.name in names)
    values = {field.name: field.value_from_object(row) for field in fields}
    return _digest([row._meta.label_lower, row.pk, values])


def mark_of_values(label: str, values: object) -> str:
    """Digest of something that lies in several rows: equal as long as these values of it are."""
    return _digest([label, values])


def _digest(parts: list[object]) -> str:
    text = json.dumps(parts, sort_keys=True, default=str)
    return salted_hmac("revisions", text, algorithm="sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class ShownValues:
    """Something in several rows as a form showed it."""

    mark: str

    def check(self, now: str) -> None:
        """Raise ConflictError unless its mark is still this one."""
        if not constant_time_compare(self.mark, now):
            raise ConflictError


@dataclass(frozen=True, slots=True)
class ShownColumns:
    """Some columns of a row as a form showed them; an empty mark: it showed none."""

    columns: tuple[str, ...]
    mark: str

    def check(self, row: Model) -> None:
        """Raise ConflictError unless the row, which the caller has locked, is still as it was shown."""
        if not constant_time_compare(self.mark, mark_of(row, self.columns)):
            raise ConflictError
