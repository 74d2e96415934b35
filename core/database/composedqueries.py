"""Queries whose SQL Django composes once, for the few that every call, search or page of a worker makes.

Composing a query of joined rows takes Django one to two milliseconds, the database a tenth of one to run it:
half of a call was composing. The queryset stays the source; fields, joins and locks are in Django's words.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.utils import CursorWrapper
from django.db.models import Expression, Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from django.db.models.sql.subqueries import UpdateQuery
from django.db.transaction import TransactionManagementError

M = TypeVar("M", bound=Model)
_populators: Any = get_related_populators  # its types are of a later Django


class Place(Expression):
    """Where a value goes that is known when the query runs; its output field says how it is written."""

    def __init__(self, number: int, field: Any) -> None:
        super().__init__(output_field=field)
        self.number = number  # Django works with copies

    def written(self, values: Sequence[object]) -> Any:
        """Its value as the database's driver takes it."""
        return self.output_field.get_db_prep_value(values[self.number], connection)

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        """A parameter that is its own place."""
        return "%s", (self,)


@dataclass(frozen=True, slots=True)
class _Statement:
    """SQL with its parameters, some of which are places."""

    compiler: SQLCompiler  # of this thread's connection, which stays the same object when it connects again
    sql: str
    parameters: Sequence[Any]
    locks: bool

    def run(self, cursor: CursorWrapper, values: Sequence[object]) -> None:
        """Execute it with values in the places."""
        if self.locks and not connection.in_atomic_block:
            raise TransactionManagementError("select_for_update cannot be used outside of a transaction.")
        cursor.execute(
            self.sql, [each.written(values) if isinstance(each, Place) else each for each in self.parameters]
        )


@dataclass(frozen=True, slots=True)
class _Rows:
    """How rows become objects of the model."""

    converters: Any
    names: Sequence[str]
    span: slice
    related: Sequence[Any]


C = TypeVar("C")


class _OfThread(threading.local, Generic[C]):
    """What was composed for the connection of this thread."""

    wrapper: Any = None
    composed: C

    def get(self, compose: Callable[[Any], C]) -> C:
        """What was composed for the present connection, or is composed now."""
        wrapper = connections[DEFAULT_DB_ALIAS]
        if self.wrapper is not wrapper:
            self.composed, self.wrapper = compose(wrapper), wrapper
        return self.composed


class ComposedQuery(Generic[M]):
    """Rows of the queryset that `compose` makes of a place for each of `fields`, in which the values will be.

    `fields` are paths from the model, as in `filter`. `compose` must not look at its values, prefetch, or
    give anything but rows of the model.
    """

    def __init__(self, model: type[M], fields: Sequence[str], compose: Callable[..., QuerySet[M]]) -> None:
        self._model, self._fields, self._compose = model, fields, compose
        self._of_thread: _OfThread[tuple[_Statement, _Rows]] = _OfThread()

    def all(self, *values: object) -> list[M]:
        """All rows for these values."""
        statement, how = self._of_thread.get(self._composed_for)
        with connection.cursor() as cursor:
            statement.run(cursor, values)
            rows: list[Any] = cursor.fetchall()
        if rows and how.converters:
            rows = list(statement.compiler.apply_converters(rows, how.converters))
        return [self._object(how, row) for row in rows]

    def first(self, *values: object) -> M | None:
        """The first row, or None. The queryset has an order, or there is but one."""
        return next(iter(self.all(*values)), None)

    def get(self, *values: object) -> M:
        """The row, or the model's DoesNotExist."""
        found = self.first(*values)
        if found is None:
            raise self._model.DoesNotExist(  # type: ignore[attr-defined]  # every model has one
                f"{self._model.__name__} matching query does not exist."
            )
        return found

    def _object(self, how: _Rows, row: Any) -> M:
        found = self._model.from_db(connection.alias, how.names, row[how.span])
        for populator in how.related:
            populator.populate(row, found)
        return found

    def _composed_for(self, wrapper: Any) -> tuple[_Statement, _Rows]:
        query = self._compose(*_places(self._model, self._fields)).query
        compiler = query.get_compiler(connection=wrapper)
        sql, parameters = compiler.as_sql()
        info = compiler.klass_info
        assert info is not None
        first, last = info["select_fields"][0], info["select_fields"][-1] + 1
        locks = query.select_for_update and wrapper.features.has_select_for_update
        return _Statement(compiler, sql, tuple(parameters), locks), _Rows(
            converters=compiler.get_converters([column[0] for column in compiler.select]),
            names=[column[0].target.attname for column in compiler.select[first:last]],
            span=slice(first, last),
            related=_populators(info, compiler.select, wrapper.alias),
        )


class ComposedInBulk(Generic[M]):
    """Rows of a model by primary key, composed once for each power of two of keys; for up to a thousand."""

    def __init__(self, model: type[M]) -> None:
        self._model = model
        self._by_size: dict[int, ComposedQuery[M]] = {}

    def get(self, keys: Sequence[int]) -> dict[int, M]:
        """The rows that are there, by key."""
        if not keys:
            return {}
        size = 1 << (len(keys) - 1).bit_length()
        query = self._by_size.get(size) or self._by_size.setdefault(size, self._query(size))
        return {row.pk: row for row in query.all(*keys, *[keys[-1]] * (size - len(keys)))}

    def _query(self, size: int) -> ComposedQuery[M]:
        pk = self._model._meta.pk
        assert pk is not None
        rows = self._model._default_manager
        return ComposedQuery(self._model, [pk.name] * size, lambda *keys: rows.filter(pk__in=keys))


class ComposedUpdate(Generic[M]):
    """An update of the rows of a queryset; `compose` gives the queryset and what is set, by field."""

    def __init__(
        self,
        model: type[M],
        fields: Sequence[str],
        compose: Callable[..., tuple[QuerySet[M], Mapping[str, object]]],
    ) -> None:
        self._model, self._fields, self._compose = model, fields, compose
        self._of_thread: _OfThread[_Statement] = _OfThread()

    def run(self, *values: object) -> int:
        """Update with these values; how many rows that were."""
        with connection.cursor() as cursor:
            self._of_thread.get(self._composed_for).run(cursor, values)
            return int(cursor.rowcount)

    def _composed_for(self, wrapper: Any) -> _Statement:
        rows, changes = self._compose(*_places(self._model, self._fields))
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        compiler = query.get_compiler(connection=wrapper)
        sql, parameters = compiler.as_sql()
        return _Statement(compiler, sql, tuple(parameters), locks=False)


class ComposedInsert(Generic[M]):
    """Inserts a new row of a model with an automatic primary key; for models without signals of saving."""

    def __init__(self, model: type[M]) -> None:
        self._model = model
        self._of_thread: _OfThread[tuple[str, list[Any], Any]] = _OfThread()

    def run(self, row: M) -> M:
        """Insert it; it has its primary key afterwards."""
        # The wrapper itself: looking it up for each field took a tenth of a call.
        sql, fields, wrapper = self._of_thread.get(self._composed_for)
        values = [field.get_db_prep_save(field.pre_save(row, add=True), wrapper) for field in fields]
        with wrapper.cursor() as cursor:
            cursor.execute(sql, values)
            row.pk = cursor.fetchone()[0]
        row._state.adding, row._state.db = False, wrapper.alias
        return row

    def _written(self) -> list[Any]:
        return [field for field in self._model._meta.concrete_fields if not field.primary_key]

    def _composed_for(self, wrapper: Any) -> tuple[str, list[Any], Any]:
        quote, pk, fields = wrapper.ops.quote_name, self._model._meta.pk, self._written()
        names = [quote(field.column) for field in fields]
        sql = (
            f"INSERT INTO {quote(self._model._meta.db_table)} ({', '.join(names)}) "  # noqa: S608  # our names
            f"VALUES ({', '.join(['%s'] * len(names))}) RETURNING {quote(pk.column)}"
        )
        return sql, fields, wrapper


def _places(model: type[Model], paths: Sequence[str]) -> list[Place]:
    return [Place(number, _field(model, path)) for number, path in enumerate(paths)]


def _field(model: Any, path: str) -> Any:
    *steps, name = path.split("__")
    for step in steps:
        model = model._meta.get_field(step).related_model
    return model._meta.get_field(name)
