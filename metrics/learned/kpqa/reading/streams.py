"""JSON that may be too large for memory, entry by entry."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metrics.errors import MetricError
from metrics.learned.kpqa.reading.files import opened
from metrics.learned.kpqa.reading.values import Value


def entries(path: Path, prefix: str, name: str) -> Iterator[Value]:
    """The entries of the list at a prefix (`data.item`); `name` calls each by its number: `data[{}]`."""
    import ijson  # noqa: PLC0415  # part of the extra

    number = 0
    with opened(path) as file:
        found = ijson.items(file, prefix, use_float=True)
        while True:
            try:
                given: Any = next(found, found)
            except (ijson.JSONError, UnicodeDecodeError) as error:
                raise broken(path, f"at {name.format(number)}", error) from error
            if given is found:
                return
            yield Value(given, path, name.format(number))
            number += 1


def broken(path: Path, where: str, error: Exception) -> MetricError:
    """The error that a file is no JSON from some place on."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = lines[0] if lines else "it ends too early"
    return MetricError(f"{path} is no whole JSON file {where}: {reason}. Fetch it again, or correct it.")
