"""The logs that are chained: apps bring theirs as parts of their extensions.

AuditSource(Owner.Kind.PROJECT, Event, "project_id", record_of_event)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db.models import Model

from core.extensions import parts_of


@dataclass(frozen=True, slots=True)
class AuditSource:
    """A table of entries, of which each belongs to one owner.

    `record` gives of a row what its digest is made of: what never changes, and fits into JSON. `describe`
    adds words for people, such as the present name of an account. `released` are fields that may become
    empty later, and are not in the record. Rows have a time `at`.
    """

    kind: str
    model: type[Model]
    owner: str
    record: Callable[[Any], dict[str, Any]]
    describe: Callable[[Any], dict[str, Any]]
    related: tuple[str, ...] = ()
    released: tuple[str, ...] = ()


@cache
def sources() -> Mapping[str, AuditSource]:
    """The logs by their kind."""
    return {source.kind: source for source in parts_of(AuditSource)}


def moment(at: datetime) -> str:
    """A time as records have it: UTC, microseconds, the same from both databases."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
