"""A statistic that may not exist: its value, or a reason in words."""

from dataclasses import dataclass

NO_PAIRS = "not defined: no item has two ratings"
NO_VARIATION = "not defined: all ratings are the same"
ONE_RATER = "not defined: all ratings are by one worker"
NO_RATINGS = "not defined: there are no ratings"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, or None and why there is none; with `ci`, the bounds of its 95 % interval."""

    value: float | None
    reason: str = ""
    ci: tuple[float, float] | None = None
