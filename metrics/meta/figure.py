"""A statistic that may not exist: its value, or the reason in words."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, or None and why there is none; `ci` is its 95 % interval, `n` what it rests on."""

    value: float | None
    reason: str = ""
    ci: tuple[float, float] | None = None
    n: int | None = None

    def as_json(self) -> dict[str, Any]:
        """As JSON has it: `{"value": .., "ci": [.., ..], "n": ..}`, or value null with `reason`."""
        said: dict[str, Any] = {"value": self.value, "ci": list(self.ci) if self.ci else None}
        if self.n is not None:
            said["n"] = self.n
        if self.value is None:
            said["reason"] = self.reason
        return said


def figure(value: float, reason: str, *, n: int | None = None) -> Figure:
    """A figure of a value that may be nan; then there is none, for that reason."""
    return Figure(None, reason, n=n) if math.isnan(value) else Figure(float(value), n=n)
