"""Which column of a table holds what: by the option --column, or by the first usual name that there is."""

from collections.abc import Mapping, Sequence

from core.files.refusals import FileRefusedError
from core.files.sheets import Sheet
from judgments.rating_source import short

#: Names shown where none is the one that is looked for.
_SHOWN = 30


def find_column(
    table: Sheet,
    role: str,
    groups: Sequence[Sequence[str]],
    columns: Mapping[str, str],
    *,
    needed: bool = True,
) -> int:
    """Where the column is, by the first group of names of which there is one; -1 where none has to be.

    `columns` says by our fields which one holds them. FileRefusedError names the file and the remedy.
    """
    remedy = f"Say which one: --column {role}=NAME."
    for names in ((columns[role],),) if role in columns else groups:
        place = table.find_column(role, names, remedy=remedy)
        if place is not None:
            return place
    if not needed and role not in columns:
        return -1
    named = ", ".join(short(name) for name in table.columns[:_SHOWN])
    wanted = repr(columns[role]) if role in columns else repr(role)
    raise table.error(
        f"there is no column {wanted} for the {role}; there are {named}. Say which one holds it: "
        f"--column {role}=NAME.",
        line=table.header_row,
    )


def refuse_unknown_fields(columns: Mapping[str, str], fields: Sequence[str]) -> None:
    """FileRefusedError where --column names a field that there is not."""
    for name in columns:
        if name not in fields:
            raise FileRefusedError(f"There is no field {name!r} to map; there are {', '.join(fields)}.")
