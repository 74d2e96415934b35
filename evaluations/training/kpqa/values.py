"""Values of JSON from people, with the place where each stands for the message when it is wrong."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metrics.errors import MetricError

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
