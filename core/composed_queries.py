"""Queries whose SQL Django composes once, for the few that every call, search or page of a worker makes.

Composing a query of joined rows takes Django one to two milliseconds, the database a tenth of one to run it:
half of a call was composing. The queryset stays the source; fields, joins and locks are in Django's words.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.operations import BaseDatabaseOperations
from django.db.backends.utils import CursorWrapper
from django.db.models import Expression, Model, QuerySet
from django.db.models.base import ModelState
from django.db.models.fields.related_descriptors import ForeignKeyDeferredAttribute
from django.db.models.query import get_related_populators
from django.db.models.query_utils import DeferredAttribute
from django.db.models.signals import post_init, pre_init
from django.db.models.sql.compiler import SQLCompiler
from django.db.models.sql.subqueries import UpdateQuery
from django.db.transaction import TransactionManagementError

from core.prepared_statements import execute_later, execute_prepared

M = TypeVar("M", bound=Model)
_populators: Any = get_related_populators  # its types are of a later Django
#: Turns the values of one row, in the order of the names it was made for, into an object.
Loader = Callable[[Sequence[Any]], Any]


def row_loader(model: type[Model], names: Sequence[str], alias: str) -> Loader:
    """What makes objects of rows with these fields, as `Model.from_db` does.

    A model without code of its own on the way, which nobody listens to, has its values put in their places at
    once: calling `__init__` field by field took a tenth of a page.
    """
    plain = (
        model.__init__ is Model.__init__
        and model.from_db.__func__ is Model.from_db.__func__  # type: ignore[attr-defined]
        and not pre_init.has_listeners(model)
        and not post_init.has_listeners(model)
        and all(
            field.descriptor_class in (DeferredAttribute, ForeignKeyDeferredAttribute)
            for field in model._meta.concrete_fields
        )
    )
    if not plain:
        return lambda values: model.from_db(alias, names, values)

    def load(values: Sequence[Any]) -> Any:
        row = model.__new__(model)
        state = ModelState()
        state.adding, state.db = False, alias
        row.__dict__["_state"] = state
        row.__dict__.update(zip(names, values, strict=True))
        return row

    return load


class _RelatedRow:
    """A row that was joined, and what was joined to it; Django's own populator with `row_loader`."""

    def __init__(self, populator: Any) -> None:
        self._columns = slice(populator.cols_start, populator.cols_end)
        self._order = populator.reorder_for_init
        self._pk = populator.pk_idx
        self._load = row_loader(populator.model_cls, populator.init_list, populator.db)
        self._further = [_RelatedRow(each) for each in populator.related_populators]
        self._set_local, self._set_remote = populator.local_setter, populator.remote_setter

    def populate(self, row: Sequence[Any], owner: Any) -> None:
        """Hang the joined row on its owner."""
        values = self._order(row) if self._order else row[self._columns]
        found = None if values[self._pk] is None else self._load(values)
        for each in self._further:
            each.populate(row, found)
        self._set_local(owner, found)
        if found is not None:
            self._set_remote(found, owner)


#: Fields whose values the driver takes as they are, where these are of Python's own types.
_PLAIN_FIELDS: Mapping[type[Any], type] = {
    models.CharField: str,
    models.TextField: str,
    models.IntegerField: int,
    models.BigIntegerField: int,
    models.PositiveIntegerField: int,
    models.PositiveSmallIntegerField: int,
    models.PositiveBigIntegerField: int,
    models.BigAutoField: int,
    models.BooleanField: bool,
    models.ForeignKey: int,
    models.OneToOneField: int,
}
_PLAIN_VALUES = frozenset({int, str, bool, type(None)})
#: Fields whose columns keep their type for ever; texts and numbers may become longer.
_FIXED_FIELDS = (
    models.BigAutoField,
    models.BooleanField,
    models.DateTimeField,
    models.ForeignKey,
    models.JSONField,
    models.TextField,
    models.UUIDField,
)


def _takes_plain_numbers(wrapper: Any) -> bool:
    # psycopg 3 wants whole numbers wrapped; then all of them go through their fields.
    return type(wrapper.ops).adapt_integerfield_value is BaseDatabaseOperations.adapt_integerfield_value


class Place(Expression):
    """Where a value goes that is known when the query runs; its output field says how it is written."""

    def __init__(self, number: int, field: Any) -> None:
        super().__init__(output_field=field)
        self.number = number  # Django works with copies
        self._plain = _PLAIN_FIELDS.get(type(field)) if _takes_plain_numbers(connection) else None

    def written(self, values: Sequence[object], wrapper: Any) -> Any:
        """Its value as the database's driver takes it."""
        value = values[self.number]
        if type(value) is self._plain:
            return value
        return self.output_field.get_db_prep_value(value, wrapper)

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        """A parameter that is its own place."""
        return "%s", (self,)


@dataclass(frozen=True, slots=True)
class _Statement:
    """SQL with its parameters, some of which are places."""

    wrapper: Any  # of this thread, the same object when it connects again
    sql: str
    parameters: Sequence[Any]
    locks: bool
    #: It returns no row, or only columns of types that are never widened.
    fixed_columns: bool

    def run(self, cursor: CursorWrapper, values: Sequence[object]) -> None:
        """Execute it with values in the places."""
        wrapper = self.wrapper
        if self.locks and not wrapper.in_atomic_block:
            raise TransactionManagementError("select_for_update cannot be used outside of a transaction.")
        written = [
            each.written(values, wrapper) if isinstance(each, Place) else each for each in self.parameters
        ]
        execute_prepared(cursor, self.sql, written, fixed_columns=self.fixed_columns)


def _statement(
    wrapper: Any, sql: str, parameters: Sequence[Any], locks: bool, fixed_columns: bool
) -> _Statement:
    """The statement; on PostgreSQL with constants in its text, so that a plan for all values knows them.

    An index of a part of the rows, say of those with one state, is used only where the state is known.
    """
    if wrapper.vendor == "postgresql":
        words = sql.split("%s")  # Django writes a per cent sign of its own as %%, and never before an s
        left: list[Any] = []
        for number, value in enumerate(parameters):
            if isinstance(value, (str, int)):  # of numbers and texts, the literal is no other than the value
                words[number] += wrapper.ops.compose_sql("%s", [value]).replace("%", "%%")
            else:
                words[number] += "%s"
                left.append(value)
        sql, parameters = "".join(words), left
    return _Statement(wrapper, sql, tuple(parameters), locks, fixed_columns)


@dataclass(frozen=True, slots=True)
class _Rows:
    """How rows become objects of the model."""

    compiler: SQLCompiler
    converters: Any
    load: Loader
    span: slice
    related: Sequence[_RelatedRow]


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
        with statement.wrapper.cursor() as cursor:
            statement.run(cursor, values)
            rows: list[Any] = cursor.fetchall()
        if rows and how.converters:
            rows = list(how.compiler.apply_converters(rows, how.converters))
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
        found: M = how.load(row[how.span])
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
        names = [column[0].target.attname for column in compiler.select[first:last]]
        fixed_columns = all(isinstance(column[0].target, _FIXED_FIELDS) for column in compiler.select)
        return _statement(wrapper, sql, parameters, locks, fixed_columns), _Rows(
            compiler=compiler,
            converters=compiler.get_converters([column[0] for column in compiler.select]),
            load=row_loader(self._model, names, wrapper.alias),
            span=slice(first, last),
            related=[_RelatedRow(each) for each in _populators(info, compiler.select, wrapper.alias)],
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
        statement = self._of_thread.get(self._composed_for)
        with statement.wrapper.cursor() as cursor:
            statement.run(cursor, values)
            return int(cursor.rowcount)

    def _composed_for(self, wrapper: Any) -> _Statement:
        rows, changes = self._compose(*_places(self._model, self._fields))
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        compiler = query.get_compiler(connection=wrapper)
        sql, parameters = compiler.as_sql()
        return _statement(wrapper, sql, parameters, locks=False, fixed_columns=True)


class ComposedInsert(Generic[M]):
    """Inserts a new row of a model with an automatic primary key; for models without signals of saving."""

    def __init__(self, model: type[M]) -> None:
        self._model = model
        self._of_thread: _OfThread[tuple[str, list[tuple[str | None, Any]], Any]] = _OfThread()

    def run(self, row: M) -> M:
        """Insert it; it has its primary key afterwards."""
        # The wrapper itself: looking it up for each field took a tenth of a call.
        sql, fields, wrapper = self._of_thread.get(self._composed_for)
        with wrapper.cursor() as cursor:
            returning = f"{sql} RETURNING {self._key(wrapper)}"
            execute_prepared(cursor, returning, self._values(row, fields, wrapper), fixed_columns=True)
            row.pk = cursor.fetchone()[0]
        row._state.adding, row._state.db = False, wrapper.alias
        return row

    def run_all(self, rows: Sequence[M]) -> list[M]:
        """Insert a few rows with one statement."""
        sql, fields, wrapper = self._of_thread.get(self._composed_for)
        head, _, places = sql.rpartition(" VALUES ")
        values = [value for row in rows for value in self._values(row, fields, wrapper)]
        several = f"{head} VALUES {', '.join([places] * len(rows))} RETURNING {self._key(wrapper)}"
        with wrapper.cursor() as cursor:
            execute_prepared(cursor, several, values, fixed_columns=True)
            for row, (pk,) in zip(rows, cursor.fetchall(), strict=True):
                row.pk = pk
                row._state.adding, row._state.db = False, wrapper.alias
        return list(rows)

    def run_if_new(self, row: M) -> bool:
        """Insert it unless a unique constraint refuses it; whether it was. It gets no key."""
        sql, fields, wrapper = self._of_thread.get(self._composed_for)
        with wrapper.cursor() as cursor:
            values = self._values(row, fields, wrapper)
            execute_prepared(cursor, f"{sql} ON CONFLICT DO NOTHING", values, fixed_columns=True)
            return bool(cursor.rowcount == 1)

    def run_later(self, row: M) -> None:
        """Insert it; in a short transaction with its next statement or COMMIT. It gets no key."""
        sql, fields, wrapper = self._of_thread.get(self._composed_for)
        execute_later(wrapper, sql, self._values(row, fields, wrapper))

    def _values(self, row: M, fields: list[tuple[str | None, Any]], wrapper: Any) -> list[Any]:
        values, given = [], row.__dict__
        for name, field in fields:
            value = given.get(name, self) if name else self
            if type(value) not in _PLAIN_VALUES:
                value = field.get_db_prep_save(field.pre_save(row, add=True), wrapper)
            values.append(value)
        return values

    def _key(self, wrapper: Any) -> str:
        pk = self._model._meta.pk
        assert pk is not None
        return str(wrapper.ops.quote_name(pk.column))

    def _composed_for(self, wrapper: Any) -> tuple[str, list[tuple[str | None, Any]], Any]:
        quote = wrapper.ops.quote_name
        taken_plain = _takes_plain_numbers(wrapper)
        fields = [
            (field.attname if taken_plain and type(field) in _PLAIN_FIELDS else None, field)
            for field in self._model._meta.concrete_fields
            if not field.primary_key
        ]
        names = [quote(field.column) for _, field in fields]
        sql = (
            f"INSERT INTO {quote(self._model._meta.db_table)} ({', '.join(names)}) "  # noqa: S608  # our names
            f"VALUES ({', '.join(['%s'] * len(names))})"
        )
        return sql, fields, wrapper


N = TypeVar("N", bound=Model)


class ComposedPosting(Generic[M, N]):
    """Inserts a row and one whose field `link` is its key, and updates: one statement on PostgreSQL."""

    def __init__(
        self, first: ComposedInsert[M], second: ComposedInsert[N], link: str, update: ComposedUpdate[Any]
    ) -> None:
        self._first, self._second, self._link, self._update = first, second, link, update
        self._of_thread: _OfThread[str] = _OfThread()

    def run(self, row: M, entry: N, *values: object) -> bool:
        """Insert both and update with these values; whether a row was updated.

        Where none was, the inserted rows are there all the same: then the transaction has to be undone.
        """
        update = self._update._of_thread.get(self._update._composed_for)
        wrapper = update.wrapper
        if wrapper.vendor != "postgresql":
            self._first.run(row)
            setattr(entry, self._link, row.pk)
            self._second.run(entry)
            return bool(self._update.run(*values))
        _, fields, _ = self._first._of_thread.get(self._first._composed_for)
        _, entry_fields, _ = self._second._of_thread.get(self._second._composed_for)
        given = self._first._values(row, fields, wrapper)
        given += self._second._values(
            entry, [each for each in entry_fields if each[1].attname != self._link], wrapper
        )
        given += [
            each.written(values, wrapper) if isinstance(each, Place) else each for each in update.parameters
        ]
        with wrapper.cursor() as cursor:
            execute_prepared(cursor, self._of_thread.get(self._composed_for), given, fixed_columns=True)
            row.pk, entry.pk, updated = cursor.fetchone()
        setattr(entry, self._link, row.pk)
        for each in (row, entry):
            each._state.adding, each._state.db = False, wrapper.alias
        return bool(updated)

    def _composed_for(self, wrapper: Any) -> str:
        first, _, _ = self._first._of_thread.get(self._first._composed_for)
        second, fields, _ = self._second._of_thread.get(self._second._composed_for)
        head, _, _ = second.rpartition(" VALUES ")
        places = ["(SELECT pk FROM first)" if each.attname == self._link else "%s" for _, each in fields]
        update = self._update._of_thread.get(self._update._composed_for)
        # The parts of the last SELECT are run in their order, so that what others wait for is locked last.
        return (
            f"WITH first AS ({first} RETURNING {self._first._key(wrapper)} AS pk), "  # noqa: S608  # our names
            f"second AS ({head} VALUES ({', '.join(places)}) RETURNING {self._second._key(wrapper)} AS pk), "
            f"third AS ({update.sql} RETURNING 1) "
            "SELECT (SELECT pk FROM first), (SELECT pk FROM second), (SELECT count(*) FROM third)"
        )


def _places(model: type[Model], paths: Sequence[str]) -> list[Place]:
    return [Place(number, _field(model, path)) for number, path in enumerate(paths)]


def _field(model: Any, path: str) -> Any:
    *steps, name = path.split("__")
    for step in steps:
        model = model._meta.get_field(step).related_model
    return model._meta.get_field(name)
