"""Rows as a DataFrame of pandas, which is loaded when the first one is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def frame_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> Any:
    """A DataFrame: columns by name and kind (`integer`, `number`, `boolean`, `time`, else as they are).

    Columns that a newer installation adds come behind those that are known.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "to_pandas() needs the package `pandas`: pip install 'distillery-client[pandas]'"
        ) from error
    names = dict.fromkeys([*columns, *(name for row in rows for name in row)])
    frame = pandas.DataFrame.from_records(list(rows), columns=list(names))
    for name, kind in columns.items():
        column = frame[name]
        if kind == "time":
            frame[name] = pandas.to_datetime(column, utc=True, format="ISO8601")
        elif kind == "integer":
            frame[name] = column.astype("Int64" if column.isna().any() else "int64")
        elif kind == "number":
            frame[name] = column.astype("float64")
        elif kind == "boolean" and not column.isna().any():
            frame[name] = column.astype("bool")
    return frame
