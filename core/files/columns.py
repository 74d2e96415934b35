"""Which column of a table, or member of an object, holds which field of ours."""

from collections.abc import Iterable, Mapping


class ColumnError(ValueError):
    """Columns that cannot be mapped, in words."""


def map_columns(
    columns: Iterable[str], given: Mapping[str, str], names: Mapping[str, tuple[str, ...]]
) -> dict[str, str]:
    """Which column holds which of our fields: as given, the rest by name; an empty one in `given` is none.

    `names` are our fields, each with the names that are taken for it, the likeliest first.
    Raises ColumnError for a field that we do not have, or a column that the file does not have.
    """
    there = [column.strip() for column in columns]
    for ours, theirs in given.items():
        if ours not in names:
            raise ColumnError(f"There is no field {ours!r}; there are: {', '.join(names)}.")
        if theirs and theirs not in there:
            raise ColumnError(f"There is no column {theirs!r}; the file has: {quote_names(there)}.")
    found = {ours: theirs for ours, theirs in given.items() if theirs}
    taken = set(found.values())
    by_name = {column.casefold().replace(" ", "_"): column for column in reversed(there)}
    for ours, known in names.items():
        if ours in given:
            continue
        likely = next(
            (by_name[name] for name in known if name in by_name and by_name[name] not in taken), None
        )
        if likely is not None:
            found[ours] = likely
            taken.add(likely)
    return found


def quote_names(columns: Iterable[str]) -> str:
    """Names of columns for a message, not too long."""
    words = ", ".join(repr(column[:60]) for column in columns)
    return words if len(words) <= 400 else words[:400] + " …"
