"""JSON files as published, also gzipped, read entry by entry."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from metrics.errors import MetricError

# Values of JSON from people, with the place where each stands for the message when it is wrong.

_KINDS = {str: "text", bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
_REMEDY = "Correct the file, or leave this entry out."
_HALVES = re.compile("[\ud800-\udfff]")


class Value:
    """A value of a file.

    `place` names the entry that it was read with; beside it stands its way from there.
    """

    __slots__ = ("_above", "_file", "_key", "_place", "given")

    def __init__(
        self, given: Any, file: Path, place: str, *, above: "Value | None" = None, key: str | int = ""
    ) -> None:
        self.given = given
        self._file = file
        self._place = place
        self._above = above
        self._key = key

    def __getitem__(self, key: str) -> "Value":
        """A member of an object that has to be there."""
        found = self.get(key)
        if found is None:
            raise self.wrong(f"has no {key}")
        return found

    def get(self, key: str) -> "Value | None":
        """A member of an object, or None where there is none or it is null."""
        if type(self.given) is not dict:
            raise self._unlike("an object")
        given = self.given.get(key)
        return None if given is None else self._below(given, key)

    def __iter__(self) -> Iterator["Value"]:
        """The entries of a list."""
        if type(self.given) is not list:
            raise self._unlike("a list")
        for number, given in enumerate(self.given):
            yield self._below(given, number)

    def text(self) -> str:
        """Itself as text; a half of a character, which no file may hold, becomes the mark for a lost one."""
        if type(self.given) is not str:
            raise self._unlike("text")
        return self.given if self.given.isascii() else _HALVES.sub("\ufffd", self.given)

    def number(self) -> int:
        """Itself as a whole number."""
        if type(self.given) is not int:
            raise self._unlike("a whole number")
        return self.given

    def yes(self) -> bool:
        """Itself as true or false, which some write as 1 or 0."""
        if type(self.given) not in (bool, int):
            raise self._unlike("true or false")
        return bool(self.given)

    def pairs(self, first: str, second: str) -> Iterator[tuple["Value", "Value"]]:
        """Its entries as pairs: a list of lists of two, or an object of two lists of one length."""
        if type(self.given) is dict:
            left, right = list(self[first]), list(self[second])
            if len(left) != len(right):
                raise self.wrong(f"has {len(left)} entries of {first} and {len(right)} of {second}")
            yield from zip(left, right, strict=True)
            return
        for entry in self:
            both = list(entry)
            if len(both) != 2:
                raise entry.wrong(f"has {len(both)} entries where {first} and {second} are needed")
            yield both[0], both[1]

    def wrong(self, what: str) -> MetricError:
        """The error that this is wrong with it."""
        way = self._way()
        return MetricError(f"{self._file}, {self._place}{': ' if way else ''}{way} {what}. {_REMEDY}")

    def _below(self, given: Any, key: str | int) -> "Value":
        return Value(given, self._file, self._place, above=self, key=key)

    def _unlike(self, needed: str) -> MetricError:
        return self.wrong(f"is {_KINDS.get(type(self.given), 'a number')} where {needed} is needed")

    def _way(self) -> str:
        if self._above is None:
            return ""
        above = self._above._way()
        if isinstance(self._key, int):
            return f"{above}[{self._key}]"
        return f"{above}.{self._key}" if above else self._key


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
