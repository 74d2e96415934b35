"""Many rows in one statement, where a model instance for each would take most of the time.

Both speak through the fields of the model, so values may be what the model takes; what all rows share is
given once. SQLite needs 3.33 or newer for `UPDATE … FROM`. In the caller's transaction.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import Field, Model

Rows = Sequence[Sequence[Any]]


def insert(model: type[Model], names: Sequence[str], rows: Rows, shared: Mapping[str, Any]) -> None:
    """Insert rows with values for the fields `names`; a row that is there already is left as it is.

    Fields that are neither in `names` nor `shared` get their defaults.
    """
    if not rows:
        return
    own = [_field(model, name) for name in names]
    column_values = {_field(model, name): value for name, value in shared.items()}
    rest = [field for field in model._meta.concrete_fields if field not in own and not _automatic(field)]
    common = tuple(
        _prepared(field, column_values[field] if field in column_values else field.get_default())
        for field in rest
    )
    columns = ", ".join(_column(field) for field in (*own, *rest))
    place = f"({', '.join(['%s'] * (len(own) + len(rest)))})"
    parameters = [value for row in rows for value in (*(map(_prepared, own, row)), *common)]
    sql = (
        f"INSERT INTO {_table(model)} ({columns}) "  # noqa: S608 - names of our own columns
        f"VALUES {', '.join([place] * len(rows))} ON CONFLICT DO NOTHING"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def update(model: type[Model], names: Sequence[str], rows: Rows, shared: Mapping[str, Any]) -> None:
    """Set the fields `names` of each row, whose key comes first in it, and to all of them what they share."""
    if not rows:
        return
    key = model._meta.pk
    assert key is not None
    own = [_field(model, name) for name in names]
    common = {_field(model, name): value for name, value in shared.items()}
    changes = [f"{_column(field)} = %s" for field in common]
    changes += [f"{_column(field)} = v.column{number}" for number, field in enumerate(own, 2)]
    place = f"({', '.join(['%s'] * (1 + len(own)))})"
    sql = (
        f"UPDATE {_table(model)} SET {', '.join(changes)} "  # noqa: S608 - names of our own columns
        f"FROM (VALUES {', '.join([place] * len(rows))}) AS v "
        f"WHERE {_table(model)}.{_column(key)} = v.column1"
    )
    parameters = [_prepared(field, value) for field, value in common.items()]
    parameters += [value for row in rows for value in map(_prepared, (key, *own), row)]
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)


def _field(model: type[Model], name: str) -> "Field[Any, Any]":
    field = model._meta.get_field(name)
    assert isinstance(field, Field)
    return field


def _automatic(field: "Field[Any, Any]") -> bool:
    return bool(getattr(field, "db_returning", False)) and field.primary_key


def _prepared(field: "Field[Any, Any]", value: Any) -> Any:
    return field.get_db_prep_save(value, connection)


def _column(field: "Field[Any, Any]") -> str:
    assert field.column is not None
    return connection.ops.quote_name(field.column)


def _table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)
