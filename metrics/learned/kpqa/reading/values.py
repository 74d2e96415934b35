"""Values of JSON from people, with the place where each stands for the message when it is wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metrics.errors import MetricError

_MISSING = object()
_KINDS = {str: "text", bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
_REMEDY = "Correct the file, or leave this entry out."


class Value:
    """A value of a file: `place` names an entry that is read at once, and members know their way from it."""

    __slots__ = ("_above", "_key", "file", "given", "place")

    def __init__(
        self, given: Any, file: Path, place: str, above: "Value | None" = None, key: str | int = ""
    ) -> None:
        self.given = given
        self.file = file
        self.place = place
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
        return None if given is None else Value(given, self.file, self.place, self, key)

    def __iter__(self) -> Iterator["Value"]:
        """The entries of a list."""
        if type(self.given) is not list:
            raise self._unlike("a list")
        for number, given in enumerate(self.given):
            yield Value(given, self.file, self.place, self, number)

    def text(self) -> str:
        """Itself as text."""
        if type(self.given) is not str:
            raise self._unlike("text")
        return self.given

    def number(self) -> int:
        """Itself as a whole number."""
        if type(self.given) is not int:
            raise self._unlike("a whole number")
        return self.given

    def wrong(self, what: str) -> MetricError:
        """The error that it is wrong in this way."""
        way = self._way()
        return MetricError(f"{self.file}, {self.place}{': ' if way else ''}{way} {what}. {_REMEDY}")

    def _unlike(self, needed: str) -> MetricError:
        return self.wrong(f"is {_KINDS.get(type(self.given), 'a number')} where {needed} is needed")

    def _way(self) -> str:
        if self._above is None:
            return ""
        above = self._above._way()
        if isinstance(self._key, int):
            return f"{above}[{self._key}]"
        return f"{above}.{self._key}" if above else self._key
