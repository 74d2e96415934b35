"""A statistic that may not exist: its value, or the reason in words."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: What is shown where there is no figure.
NONE = "\N{EN DASH}"


def counted(number: int, noun: str) -> str:
    """`1 worker`, `7 workers`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, or None and why there is none; `ci` is its 95 % interval, `n` what it rests on."""

    value: float | None
    reason: str = ""
    ci: tuple[float, float] | None = None
    n: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: `{"value": .., "ci": [.., ..], "n": ..}`, or value null with `reason`."""
        ci = list(self.ci) if self.ci and self.value is not None else None
        fields: dict[str, Any] = {"value": self.value, "ci": ci}
        if self.n is not None:
            fields["n"] = self.n
        if self.value is None:
            fields["reason"] = self.reason
        return fields


def figure(value: float, reason: str, *, n: int | None = None) -> Figure:
    """A figure of a value that may be nan; then there is none, for that reason."""
    return Figure(None, reason, n=n) if math.isnan(value) else Figure(float(value), n=n)


REASON = "reason"


def figures_as_json(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """`{"interval": 0.61}`; for what is not defined `{"interval": null, "reason": {"interval": "..."}}`."""
    fields: dict[str, Any] = {name: figure.value for name, figure in figures.items()}
    missing = {name: figure.reason for name, figure in figures.items() if figure.value is None}
    return add_reasons(fields, missing)


def add_reasons(fields: dict[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """The same with reasons for what is null, added to those that it has."""
    if reasons:
        fields[REASON] = {**fields.get(REASON, {}), **reasons}
    return fields


def number_or_none(value: float) -> float | None:
    """A float as JSON knows it: None for nan."""
    return None if math.isnan(value) else float(value)
