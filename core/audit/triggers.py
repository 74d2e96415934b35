"""Logs that are chained, and triggers that keep them append-only in the database, on SQLite and PostgreSQL.

An entry can be deleted where a checkpoint says up to where its chain was pruned, and not otherwise; a column
that the database itself empties when an account goes may become empty.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from django.db.models import Model

from core.audit.models import AuditCheckpoint, AuditLink
from core.extensions import parts_of

_LINKS, _CHECKPOINTS = AuditLink._meta.db_table, AuditCheckpoint._meta.db_table


@dataclass(frozen=True, slots=True)
class _Table:
    """What one table's triggers are made of; `covered` is SQL that says whether OLD was pruned."""

    name: str
    columns: tuple[str, ...]
    released: tuple[str, ...]
    covered: str


def _tables() -> Iterator[_Table]:
    covers = f"SELECT 1 FROM {_CHECKPOINTS} c WHERE c.chain_id = OLD.chain_id AND c.number >= OLD.number"  # noqa: S608 - ours
    yield _Table(_LINKS, _columns(AuditLink), (), covers)
    yield _Table(_CHECKPOINTS, _columns(AuditCheckpoint), (), "SELECT 1 WHERE 1 = 0")
    for source in sources().values():
        covers = (
            f"SELECT 1 FROM {_LINKS} l JOIN {_CHECKPOINTS} c ON c.chain_id = l.chain_id AND "  # noqa: S608 - ours
            f"c.number >= l.number WHERE l.kind = '{source.kind}' AND l.\"row\" = OLD.id"
        )
        fields = source.model._meta.concrete_fields
        released = tuple(str(field.column) for field in fields if field.name in source.released)
        yield _Table(source.model._meta.db_table, _columns(source.model), released, covers)


def _columns(model: Any) -> tuple[str, ...]:
    return tuple(field.column for field in model._meta.concrete_fields)


def install(connection: Any) -> None:
    """Make the triggers, or make them again as they are now, on tables that are there."""
    there = set(connection.introspection.table_names())
    if _LINKS not in there:
        return
    with connection.cursor() as cursor:
        for table in _tables():
            if table.name in there and set(table.columns) <= _present(connection, cursor, table.name):
                for statement in (*_drops(connection.vendor, table), *_makes(connection.vendor, table)):
                    cursor.execute(statement)


def _present(connection: Any, cursor: Any, table: str) -> set[str]:
    return {column.name for column in connection.introspection.get_table_description(cursor, table)}


def missing(connection: Any) -> list[str]:
    """Tables whose triggers are not there."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'")
        else:
            cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        there = {name for (name,) in cursor.fetchall()}
    return [table.name for table in _tables() if not {name for name, _ in _names(table)} <= there]


def emptying_statements(vendor: str, deletions: list[str]) -> list[str]:
    """Statements that empty the whole database, for `flush`: without triggers, which are made again after."""
    tables = list(_tables())
    drops = [each for table in tables for each in _drops(vendor, table)]
    makes = [each for table in tables for each in _makes(vendor, table)]
    return [*drops, *deletions, *makes]


def _names(table: _Table) -> list[tuple[str, str]]:
    names = [(f"{table.name}_never_changed", "change"), (f"{table.name}_never_deleted", "delete")]
    return names + ([(f"{table.name}_only_released", "release")] if table.released else [])


def _drops(vendor: str, table: _Table) -> list[str]:
    on = f" ON {table.name}" if vendor == "postgresql" else ""
    return [f"DROP TRIGGER IF EXISTS {name}{on}" for name, _ in _names(table)]


def _makes(vendor: str, table: _Table) -> list[str]:
    kept = ", ".join(f'"{column}"' for column in table.columns if column not in table.released)
    events = {
        "change": f"BEFORE UPDATE OF {kept}",
        "delete": "BEFORE DELETE",
        "release": "BEFORE UPDATE OF " + ", ".join(f'"{column}"' for column in table.released),
    }
    conditions = {
        "change": "1 = 1",
        "delete": f"NOT EXISTS ({table.covered})",
        "release": " OR ".join(f'NEW."{column}" IS NOT NULL' for column in table.released),
    }
    refusal = f"{table.name} is append-only"
    made = []
    for name, what in _names(table):
        if vendor == "postgresql":
            passed = "OLD" if what == "delete" else "NEW"
            made.append(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                f"IF {conditions[what]} THEN RAISE EXCEPTION '{refusal}' "
                f"USING ERRCODE = 'restrict_violation'; END IF; RETURN {passed}; END $$"
            )
            made.append(
                f"CREATE TRIGGER {name} {events[what]} ON {table.name} FOR EACH ROW EXECUTE FUNCTION {name}()"
            )
        else:
            made.append(
                f"CREATE TRIGGER {name} {events[what]} ON {table.name} FOR EACH ROW "
                f"WHEN {conditions[what]} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
            )
    return made


# The logs that are chained. Apps add theirs to their extensions:
#
#     AuditSource(Owner.Kind.PROJECT, Event, "project_id", record_of_event)


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
