"""Checking a request's JSON against the protocol's shapes, in the wording of AWS.

botocore checks required members, types and minima, but neither maxima, patterns nor enumerations; other
clients check nothing at all. So everything is checked here.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from marketplace.protocol.errors import ProtocolError

_SURROGATE = re.compile("[\ud800-\udfff]")
#: Characters of an offending value that an error message repeats.
_QUOTED = 200


class Shape(ABC):
    """What a member may be."""

    @abstractmethod
    def check(self, value: Any, path: str, faults: list[str]) -> Any:
        """The value as the operations want it; what is wrong is added to `faults`."""


def _violated(value: Any, path: str, constraint: str) -> str:
    return f"Value '{str(value)[:_QUOTED]}' at '{path}' failed to satisfy constraint: {constraint}"


def _wrong_type(path: str, expected: str) -> ProtocolError:
    return ProtocolError("SerializationException", f"The member at '{path}' is not {expected}.")


@dataclass(frozen=True, slots=True)
class Text(Shape):
    """A string with bounds on its length, a pattern for all of it, or an enumeration."""

    least: int = 0
    most: int | None = None
    pattern: str | None = None
    enum: tuple[str, ...] = ()

    def check(self, value: Any, path: str, faults: list[str]) -> str:
        """Text as it came."""
        if not isinstance(value, str):
            raise _wrong_type(path, "a string")
        if len(value) < self.least:
            faults.append(
                _violated(value, path, f"Member must have length greater than or equal to {self.least}")
            )
        if self.most is not None and len(value) > self.most:
            faults.append(
                _violated(value, path, f"Member must have length less than or equal to {self.most}")
            )
        if self.pattern and not re.fullmatch(self.pattern, value, re.ASCII):
            faults.append(
                _violated(value, path, f"Member must satisfy regular expression pattern: ^{self.pattern}$")
            )
        if self.enum and value not in self.enum:
            faults.append(
                _violated(value, path, f"Member must satisfy enum value set: [{', '.join(self.enum)}]")
            )
        if "\0" in value or _SURROGATE.search(value):
            faults.append(
                _violated(
                    value.encode("ascii", "backslashreplace").decode(),
                    path,
                    "Member must be Unicode text without NUL characters and unpaired surrogates",
                )
            )
        return value


@dataclass(frozen=True, slots=True)
class IntegerShape(Shape):
    """A whole number of 32 or 64 bits with bounds."""

    bits: int = 32
    least: int | None = None
    most: int | None = None

    def check(self, value: Any, path: str, faults: list[str]) -> int:
        """The number as it came."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise _wrong_type(path, "a whole number")
        if not -(2 ** (self.bits - 1)) <= value < 2 ** (self.bits - 1):
            raise _wrong_type(path, f"a whole number of {self.bits} bits")
        if self.least is not None and value < self.least:
            faults.append(
                _violated(value, path, f"Member must have value greater than or equal to {self.least}")
            )
        if self.most is not None and value > self.most:
            faults.append(_violated(value, path, f"Member must have value less than or equal to {self.most}"))
        return value


@dataclass(frozen=True, slots=True)
class Flag(Shape):
    """true or false."""

    def check(self, value: Any, path: str, faults: list[str]) -> bool:
        """The flag as it came."""
        if not isinstance(value, bool):
            raise _wrong_type(path, "true or false")
        return value


@dataclass(frozen=True, slots=True)
class Moment(Shape):
    """A time: epoch seconds as botocore sends it, as a datetime in UTC."""

    def check(self, value: Any, path: str, faults: list[str]) -> datetime:
        """The moment in UTC."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _wrong_type(path, "a time in epoch seconds")
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, ValueError, OSError):
            faults.append(_violated(value, path, "Member must be a time between the years 1 and 9999"))
            return datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ListOf(Shape):
    """A list whose members all have one shape."""

    item: Shape

    def check(self, value: Any, path: str, faults: list[str]) -> list[Any]:
        """The members, each checked."""
        if not isinstance(value, list):
            raise _wrong_type(path, "a list")
        return [
            self.item.check(member, f"{path}.{number}.member", faults)
            for number, member in enumerate(value, start=1)
        ]


@dataclass(frozen=True, slots=True)
class Structure(Shape):
    """Named members, some of them required; null counts as absent, unknown members are refused."""

    required: Mapping[str, Shape] = field(default_factory=dict)
    optional: Mapping[str, Shape] = field(default_factory=dict)
    _members: Mapping[str, Shape] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_members", {**self.required, **self.optional})

    def check(self, value: Any, path: str, faults: list[str]) -> dict[str, Any]:
        """The members that are present, each checked."""
        if not isinstance(value, dict):
            raise _wrong_type(path or "the body", "an object")
        prefix = f"{path}." if path else ""
        checked: dict[str, Any] = {}
        for name, member_value in value.items():
            if member_value is None:
                continue
            member = self._members.get(name)
            if member is None:
                faults.append(_violated(name, path or "the request", "Member must be a known one"))
                continue
            checked[name] = member.check(member_value, prefix + _wire_name(name), faults)
        faults.extend(
            f"Value null at '{prefix}{_wire_name(name)}' failed to satisfy constraint: "
            "Member must not be null"
            for name in self.required
            if value.get(name) is None
        )
        return checked


def _wire_name(name: str) -> str:
    """AWS names members in error messages with a small first letter: BonusAmount is bonusAmount."""
    return name[:1].lower() + name[1:]


def checked(shape: Structure, parameters: Any) -> dict[str, Any]:
    """Parameters that satisfy `shape`; raises ProtocolError with every violated constraint."""
    faults: list[str] = []
    result = shape.check(parameters, "", faults)
    if faults:
        count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''} detected"
        raise ProtocolError("ValidationException", f"{count}: {'; '.join(faults)}")
    return result
