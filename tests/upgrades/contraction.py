"""Expand first, contract a release later: what a migration takes from the version that still runs.

While an installation is upgraded, processes of the last version work on the new tables. So a migration may
only add what they can ignore. What takes something away waits until a released version no longer uses it.
"""

from collections.abc import Iterable, Iterator

from django.db.migrations import operations
from django.db.migrations.migration import Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ModelState, ProjectState
from django.db.models import Field

#: Contractions that are due, and the released version whose code stopped using what they take away, such as
#: "crowd.0009_drop_tally: RemoveField Stage.tally": "0.3.0". Once they are released themselves they go.
DUE: dict[str, str] = {}

#: Types that hold everything that the one before them holds.
WIDER = (
    ("PositiveSmallIntegerField", "SmallIntegerField", "IntegerField", "BigIntegerField"),
    ("PositiveSmallIntegerField", "PositiveIntegerField", "PositiveBigIntegerField", "BigIntegerField"),
    ("SlugField", "CharField", "TextField"),
    ("URLField", "CharField", "TextField"),
    ("EmailField", "CharField", "TextField"),
)
REMEDY = (
    "The version before this one still runs on the database while it is upgraded (docs/developer.md, "
    '"Migrations").'
)


def find_contractions(released: ProjectState, unreleased: Iterable[Migration]) -> Iterator[tuple[str, str]]:
    """A name and a sentence for all that the migrations take from code that knows the released tables."""
    state = released.clone()
    for migration in unreleased:
        for operation in _flattened(migration.operations):
            for name, sentence in _look(operation, migration.app_label, released, state):
                key = f"{migration.app_label}.{migration.name}: {name}"
                yield key, f"{key} {sentence} {REMEDY}"
        state = migration.mutate_state(state, preserve=True)


def _flattened(some: Iterable[Operation]) -> Iterator[Operation]:
    for operation in some:
        if isinstance(operation, operations.SeparateDatabaseAndState):
            # Operations of the state alone change what our code calls a table, and the table not at all.
            yield from _flattened(operation.database_operations)
        else:
            yield operation


def _look(
    operation: Operation, app: str, released: ProjectState, state: ProjectState
) -> Iterator[tuple[str, str]]:
    if isinstance(operation, operations.RunSQL):
        yield "RunSQL", "cannot be looked into: it may take away what the last version uses."
        return
    if isinstance(operation, operations.RenameModel):
        if (app, operation.old_name_lower) in released.models:
            yield f"RenameModel {operation.old_name}", "renames a table that the last version uses."
        return
    name = getattr(operation, "model_name", getattr(operation, "name", "")) or ""
    before = released.models.get((app, name.lower()))
    if before is None:  # the last version does not know the table
        return
    if isinstance(operation, operations.DeleteModel):
        yield f"DeleteModel {name}", "drops a table that the last version uses."
    elif isinstance(operation, operations.AlterModelTable):
        yield f"AlterModelTable {name}", "renames a table that the last version uses."
    elif isinstance(operation, operations.RenameField) and operation.old_name in before.fields:
        yield f"RenameField {name}.{operation.old_name}", "renames a column that the last version uses."
    elif isinstance(operation, operations.RemoveField) and operation.name in before.fields:
        yield f"RemoveField {name}.{operation.name}", "drops a column that the last version uses."
    elif isinstance(operation, operations.AddField):
        yield from _look_at_new(operation.field, "AddField", f"{name}.{operation.name}")
    elif isinstance(operation, operations.AlterField):
        yield from _look_at_altered(operation, before, state.models.get((app, name.lower())))


def _look_at_new(field: Field, kind: str, name: str) -> Iterator[tuple[str, str]]:
    if not (field.many_to_many or field.null or field.has_db_default() or field.primary_key):
        yield (
            f"{kind} {name}",
            "makes a column that must have a value, which the last version does not give it: "
            "add db_default=, or null=True (and fill and constrain it a release later).",
        )


def _look_at_altered(
    operation: operations.AlterField, before: ModelState, now: ModelState | None
) -> Iterator[tuple[str, str]]:
    name = f"{operation.model_name}.{operation.name}"
    if operation.name not in before.fields:  # added since, perhaps nullable at first
        yield from _look_at_new(operation.field, "AlterField", name)
        return
    old = now.fields[operation.name] if now is not None else before.fields[operation.name]
    narrowed = list(narrowings(old, operation.field))
    if narrowed:
        yield f"AlterField {name}", f"holds less than the last version writes ({', '.join(narrowed)})."


def narrowings(old: Field, new: Field) -> Iterator[str]:
    """What the column held before and no longer holds."""
    if old.null and not new.null:
        yield "null is no longer allowed"
    if new.unique and not old.unique:
        yield "it becomes unique"
    if old.db_column != new.db_column:
        yield "its column is called otherwise"
    kinds = [field.get_internal_type() for field in (old, new)]
    if kinds[0] != kinds[1] and not any(
        set(kinds) <= set(line) and line.index(kinds[0]) < line.index(kinds[1]) for line in WIDER
    ):
        yield f"{kinds[0]} becomes {kinds[1]}"
    for limit in ("max_length", "max_digits", "decimal_places"):
        least, most = getattr(new, limit, None), getattr(old, limit, None)
        if least is not None and (most is None or least < most) and kinds[0] == kinds[1]:
            yield f"{limit} {most} becomes {least}"
    if kinds == ["CharField", "SlugField"] or (
        kinds[0] != kinds[1] and (new.max_length or 1 << 30) < (old.max_length or 0)
    ):
        yield f"max_length {old.max_length} becomes {new.max_length}"
