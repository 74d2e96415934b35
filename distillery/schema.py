"""Whether the tables of the database are those that its applied migrations make.

A migration that was edited after it ran somewhere, or a table that was changed by hand, leaves a database
that says "all applied" and fails page by page. So `migrate`, `up` and `doctor` look at the tables themselves:
columns with their types, indexes and constraints by name. The conditions inside checks are not compared.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from django.apps import apps as installed_apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import AutoField, ForeignKey, GeneratedField, Index, Model
from django.db.models.constraints import BaseConstraint

#: So many differences are named in a message; with more of them nobody repairs a database by hand.
NAMED = 12

_POSTGRES_COLUMNS = """
    SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
           a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> ''
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid) AND a.attnum > 0 AND NOT a.attisdropped
"""
#: PostgreSQL's own names for the types as Django asks for them.
_POSTGRES_NAMES = (
    (re.compile(r"^varchar\b"), "character varying"),
    (re.compile(r"^char\b"), "character"),
    (re.compile(r", "), ","),
)


@dataclass(frozen=True)
class Column:
    """A column as the database has it."""

    type: str
    nullable: bool
    #: The database fills it where a row gives no value.
    filled: bool


@dataclass(frozen=True)
class Difference:
    """One thing that is not as it should be in the tables; the SQL that puts it right, where some does."""

    kind: Literal["table", "column", "index", "constraint"]
    sentence: str
    sql: tuple[str, ...] = ()


@dataclass(frozen=True)
class SchemaReport:
    """What was found; nothing where all is well."""

    differences: list[Difference] = field(default_factory=list)
    #: Migrations that ran on this database and that this version does not have.
    unknown: list[str] = field(default_factory=list)
    #: How many migrations have not been applied.
    waiting: int = 0
    #: Migrations of the same apps that this version has and the database lacks: both went different ways.
    lacking: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """This version works on it: also on a newer database, with columns that this version can ignore."""
        return not self.differences and not self.lacking

    @property
    def sentence(self) -> str:
        """What is wrong."""
        sentences = []
        if self.lacking:
            sentences.append(
                "The database went through migrations that this version does not have "
                f"({_join_sentences(self.unknown)}) and lacks others of the same apps "
                f"({_join_sentences(self.lacking)})."
            )
        if self.differences:
            sentences.append(
                "The tables are not those that the applied migrations make: "
                f"{_join_sentences([each.sentence for each in self.differences])}."
            )
        return " ".join(sentences)

    @property
    def remedy(self) -> str:
        """What to do about it."""
        statements = [statement for each in self.differences for statement in each.sql]
        if not self.lacking and all(each.sql for each in self.differences):
            return f"Back up, then run in the database: {' '.join(statements)}"
        return (
            "No migration repairs that: the database was written by a commit between two versions, by a "
            "newer version, or by hand. Nothing was changed. Put back a backup of a released version. "
            "Or, with the code that wrote it, export what you need (docs/releases.md), and start with a new "
            "database (another DATA_DIR or DATABASE_URL). "
            'docs/operator.md, "When an upgrade is refused", says more.'
        )


def inspect_schema() -> SchemaReport:
    """Compare the database with the state after the migrations that it says were applied."""
    loader = MigrationLoader(connection)
    applied = set(loader.applied_migrations)
    waiting = [node for node in loader.graph.nodes if node not in applied]
    unknown = sorted(
        node
        for node in applied - set(loader.graph.nodes)
        if node[0] in loader.migrated_apps and node not in loader.disk_migrations
    )
    diverged = {app for app, _ in unknown} & {app for app, _ in waiting}
    final = _models(installed_apps)
    if waiting:
        nodes = [node for node in loader.graph.nodes if node in applied]
        expected = _models(loader.project_state(nodes).apps) if nodes else []
    else:
        expected = final
    columns = _read_columns()
    return SchemaReport(
        [*_compare(expected, columns), *(_find_early(final, expected, columns) if waiting else [])],
        [".".join(node) for node in unknown],
        len(waiting),
        sorted(".".join(node) for node in waiting if node[0] in diverged),
    )


def _models(registry: Any) -> list[type[Model]]:
    return [
        model
        for model in registry.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy and not model._meta.swapped
    ]


def _columns_of(model: type[Model]) -> dict[str, Any]:
    return {
        each.column: each
        for each in model._meta.local_concrete_fields
        if each.column and each.db_type(connection) is not None
    }


def _read_columns() -> dict[str, dict[str, Column]]:
    """Every column of every table."""
    tables: dict[str, dict[str, Column]] = {}
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_POSTGRES_COLUMNS)
            for table, name, kind, nullable, filled in cursor.fetchall():
                tables.setdefault(table, {})[name] = Column(kind, nullable, filled)
            return tables
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"PRAGMA table_xinfo({connection.ops.quote_name(table)})")
            tables[table] = {
                name: Column(
                    kind.lower(), not required and not key, default is not None or bool(key or hidden)
                )
                for _, name, kind, required, default, key, hidden in cursor.fetchall()
            }
    return tables


def _compare(models: list[type[Model]], columns: dict[str, dict[str, Column]]) -> Iterator[Difference]:
    with connection.cursor() as cursor:
        for model in models:
            table = model._meta.db_table
            if table not in columns:
                yield Difference("table", f"the table {table} is missing")
                continue
            yield from _compare_columns(model, columns[table])
            missing = _columns_of(model).keys() - columns[table].keys()
            yield from _compare_constraints(model, _read_constraints(cursor, table), missing)


def _read_constraints(cursor: Any, table: str) -> dict[str, Any]:
    """Indexes and constraints as Django's introspection has them.

    On SQLite that parses the SQL of every table, two seconds for ours, which would be two at every start.
    """
    if connection.vendor != "sqlite":
        return connection.introspection.get_constraints(cursor, table)
    quoted = connection.ops.quote_name(table)
    constraints: dict[str, Any] = {}
    cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = %s", [table])
    for name in re.findall(r'CONSTRAINT "(\w+)"', cursor.fetchone()[0]):
        constraints[name] = {"columns": None, "unique": False, "index": False, "foreign_key": None}
    cursor.execute(f"PRAGMA index_list({quoted})")
    for _, name, unique, _, partial in cursor.fetchall():
        cursor.execute(f"PRAGMA index_info({connection.ops.quote_name(name)})")
        columns = [column for _, _, column in cursor.fetchall()]
        complete = not partial
        constraints[name] = {
            "columns": columns,
            "unique": unique and complete,
            "index": complete,
            "foreign_key": None,
        }
    cursor.execute(f"PRAGMA foreign_key_list({quoted})")
    for number, _, other, column, to, *_ in cursor.fetchall():
        link = {"columns": [column], "unique": False, "index": False, "foreign_key": (other, to)}
        constraints[f"foreign key {number}"] = link
    return constraints


def _compare_columns(model: type[Model], real: dict[str, Column]) -> Iterator[Difference]:
    table, expected = model._meta.db_table, _columns_of(model)
    for name, model_field in expected.items():
        if name not in real:
            yield Difference("column", f"{table}.{name} is missing")
            continue
        kind = _type_of(model_field)
        # The keys of Django's own tables are bigint or integer by the version that made them; both will do.
        if real[name].type != kind and not isinstance(model_field, AutoField):
            yield Difference("column", f"{table}.{name} is {real[name].type} and not {kind}")
        if real[name].nullable != model_field.null and not isinstance(model_field, GeneratedField):
            is_and_should = (
                "is NOT NULL and should not be" if model_field.null else "may be null and should not"
            )
            yield Difference("column", f"{table}.{name} {is_and_should}")
    for name in sorted(real.keys() - expected.keys()):
        if not (real[name].nullable or real[name].filled):
            yield Difference("column", f"{table}.{name} is unknown here and must have a value")


def _type_of(column: Any) -> str:
    kind = str(column.db_type(connection)).lower()
    if connection.vendor == "postgresql":
        for pattern, name in _POSTGRES_NAMES:
            kind = pattern.sub(name, kind)
    return kind


def _compare_constraints(model: type[Model], real: dict[str, Any], missing: set[str]) -> Iterator[Difference]:
    """Indexes and constraints: those with names by their names, others by their columns."""
    table = model._meta.db_table

    def has(names: Iterable[str], kind: str) -> bool:
        return any(each[kind] and each["columns"] == list(names) for each in real.values())

    for index in model._meta.indexes:
        if index.name not in real:
            yield Difference("index", f"the index {index.name} on {table} is missing", _sql(model, index))
    for constraint in model._meta.constraints:
        if constraint.name not in real:
            yield Difference(
                "constraint",
                f"the constraint {constraint.name} on {table} is missing",
                _sql(model, constraint),
            )
    for names in model._meta.unique_together:
        together = [str(getattr(model._meta.get_field(name), "column", "")) for name in names]
        if not missing & set(together) and not has(together, "unique"):
            yield Difference("constraint", f"{table} ({', '.join(together)}) is not unique")
    for name, column in _columns_of(model).items():
        if name in missing or column.primary_key:
            continue
        if column.unique and not has([name], "unique"):
            yield Difference("constraint", f"{table}.{name} is not unique")
        elif column.db_index and not column.unique and not has([name], "index"):
            yield Difference("index", f"{table}.{name} has no index")
        if (
            isinstance(column, ForeignKey)
            and getattr(column, "db_constraint", True)
            and not has([name], "foreign_key")
        ):
            yield Difference("constraint", f"{table}.{name} refers to no table")


def _sql(model: type[Model], what: Index | BaseConstraint) -> tuple[str, ...]:
    """The statements that add it. SQLite adds a constraint only by writing the table again: none then."""
    editor = connection.SchemaEditorClass(connection, collect_sql=True, atomic=False)
    editor.deferred_sql = []
    if isinstance(what, Index):
        editor.add_index(model, what)
    elif connection.vendor == "postgresql":
        editor.add_constraint(model, what)
    return tuple(editor.collected_sql)


def _find_early(
    final: list[type[Model]], expected: list[type[Model]], columns: dict[str, dict[str, Column]]
) -> Iterator[Difference]:
    """What is there already although the migration that makes it has not been applied: it would fail."""
    before = {model._meta.db_table: _columns_of(model) for model in expected}
    for model in final:
        table = model._meta.db_table
        if table not in columns:
            continue
        if table not in before:
            yield Difference("table", f"the table {table} is there before the migration that makes it")
            continue
        for name in _columns_of(model):
            if name in columns[table] and name not in before[table]:
                yield Difference("column", f"{table}.{name} is there before the migration that makes it")


def _join_sentences(sentences: list[str]) -> str:
    named = ", ".join(sentences[:NAMED])
    return f"{named} and {len(sentences) - NAMED} more" if len(sentences) > NAMED else named
