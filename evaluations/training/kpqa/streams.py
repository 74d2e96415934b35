"""JSON files as published, also gzipped, read entry by entry."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from evaluations.training.kpqa.values import Value
from metrics.errors import MetricError

_GZIP, _MARK = b"\x1f\x8b", b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file without gzip and byte order mark; MetricError where they cannot be read."""
    try:
        with path.open("rb") as plain:
            if _begins(plain, _GZIP):
                plain.seek(0)
                with gzip.open(plain, "rb") as file:
                    _begins(file, _MARK)
                    yield cast("IO[bytes]", file)
            else:
                _begins(plain, _MARK)
                yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise MetricError(f"{path} is no whole gzip file: {error} Fetch it again.") from error
    except IsADirectoryError as error:
        raise MetricError(f"{path} is a folder. Name the files in it.") from error
    except OSError as error:
        raise MetricError(f"{path} cannot be read: {error.strerror or error}.") from error


def _begins(file: IO[bytes] | gzip.GzipFile, with_what: bytes) -> bool:
    """Whether a file begins so; it is read on after that, or else from its begin."""
    found = file.read(len(with_what)) == with_what
    if not found:
        file.seek(0)
    return found


_BUFFER = 1 << 20


def lines(path: Path) -> Iterator[Value]:
    """The objects of a file with one in each line; empty lines are none."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                given = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise MetricError(
                    f"{path}, line {number} is no JSON: {error}. Each line must hold one whole object."
                ) from error
            yield Value(given, path, f"line {number}")


def entries(path: Path, prefix: str, name: str) -> Iterator[Value]:
    """The entries of the list at a prefix (`data.item`); `name` calls each by its number (`data[{}]`)."""
    import ijson  # part of the extra

    with opened(path) as file:
        found = ijson.items(file, prefix, buf_size=_BUFFER, use_float=True)
        for place, given in sound(found, path, name):
            yield Value(given, path, place)


def members(path: Path, key: str) -> Iterator[tuple[str, Value]]:
    """The members of the object that a file's object holds under a key."""
    import ijson

    with opened(path) as file:
        found = ijson.kvitems(file, key, buf_size=_BUFFER, use_float=True)
        for _, (row, given) in sound(found, path, f"member {{}} of {key}"):
            yield row, Value(given, path, f"row {row} of {key}")


def sound(found: Iterator[Any], path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """What ijson finds in a file, with its place; MetricError that names the place where it is no JSON."""
    import ijson

    for place in map(name.format, count()):
        try:
            given = next(found)
        except StopIteration:
            return
        except (ijson.JSONError, UnicodeError) as error:
            reason = "it ends too early" if "EOF" in str(error) else _reason(error)
            raise MetricError(
                f"{path} is no whole JSON file: {reason}, at {place}. Fetch it again, or correct it."
            ) from error
        yield place, given


def _reason(error: Exception) -> str:
    first = str(error).removeprefix("b'").removeprefix('b"').replace("\\n", "\n").splitlines()
    return first[0].strip(" .") if first else "an error"
