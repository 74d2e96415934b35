"""Amounts and durations as a file or a form has them: strings outside, whole cents and seconds inside."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from core.money.amounts import AmountError, dollars, entered_cents

_UNITS = {"d": 24 * 3600, "h": 3600, "m": 60, "s": 1}
_DURATION = re.compile(r"([0-9]{1,9})([smhd])")
_SIGNED = re.compile(r"-[0-9]+\.?[0-9]*")


def seconds(duration: str) -> int:
    """Seconds of "90s", "30m", "2h" or "7d". Raises ValueError for anything else."""
    match = _DURATION.fullmatch(duration)
    if match is None or not duration.isascii():
        raise ValueError(f"{duration!r} is not a duration such as 30m, 2h or 7d.")
    return int(match[1]) * _UNITS[match[2]]


def duration(number: int) -> str:
    """Seconds in the largest unit that holds them without a rest: 5400 is "90m"."""
    unit = next(unit for unit, size in _UNITS.items() if (number % size == 0 and number >= size) or size == 1)
    return f"{number // _UNITS[unit]}{unit}"


@dataclass(frozen=True, slots=True)
class Amount:
    """Marks a field of money: a string with at most two decimals, kept as whole cents between the bounds."""

    least: int = 0
    most: int = 1_000_000_000

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(dollars)
        )

    def read(self, value: object) -> int:
        """Whole cents; raises PydanticCustomError with words for the person."""
        if not isinstance(value, str):
            raise PydanticCustomError("wrong-type", "money is written in quotes, with two decimals")
        if _SIGNED.fullmatch(value):
            raise PydanticCustomError("out-of-bounds", "money cannot be negative")
        try:
            amount = entered_cents(value)
        except AmountError as error:
            raise PydanticCustomError("wrong-value", "{why}", {"why": str(error)}) from None
        if not self.least <= amount <= self.most:
            raise PydanticCustomError("out-of-bounds", self.words())
        return amount

    def words(self) -> str:
        """The bounds."""
        return f"from {dollars(self.least)} to {dollars(self.most)}"


@dataclass(frozen=True, slots=True)
class Period:
    """Marks a field of time: a string such as "30m", kept as seconds between the bounds."""

    least: int
    most: int

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self.read, serialization=core_schema.plain_serializer_function_ser_schema(duration)
        )

    def read(self, value: object) -> int:
        """Seconds; raises PydanticCustomError with words for the person."""
        if not isinstance(value, str):
            raise PydanticCustomError("wrong-type", "a duration is written in quotes, with its unit")
        try:
            number = seconds(value)
        except ValueError:
            raise PydanticCustomError("wrong-value", "this is no duration") from None
        if not self.least <= number <= self.most:
            raise PydanticCustomError("out-of-bounds", self.words())
        return number

    def words(self) -> str:
        """The bounds."""
        return f"from {duration(self.least)} to {duration(self.most)}"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Marks a choice with what a form says for each of its options; files have the options themselves."""

    by_option: Mapping[str, str]
