"""Figures as JSON says them: a value under its name, or null there and the reason in words under `reason`."""

import math
from collections.abc import Mapping
from typing import Any

from metrics.agreement.figure import Figure

REASON = "reason"


def stated(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """`{"interval": 0.61}`; for what is not defined `{"interval": null, "reason": {"interval": "..."}}`."""
    said: dict[str, Any] = {name: figure.value for name, figure in figures.items()}
    missing = {name: figure.reason for name, figure in figures.items() if figure.value is None}
    return with_reasons(said, missing)


def with_reasons(said: dict[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    """The same with reasons for what is null, added to those that it has."""
    if reasons:
        said[REASON] = {**said.get(REASON, {}), **reasons}
    return said


def number(value: float) -> float | None:
    """A float as JSON knows it: None for nan."""
    return None if math.isnan(value) else float(value)
