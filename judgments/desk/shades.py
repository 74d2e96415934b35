"""Shares and shades in the templates of the desk: the library `judgments`."""

from collections.abc import Sequence

from django import template

from judgments.desk.agreement import REASONS
from metrics.agreement.scale import Scale

register = template.Library()
_ENOUGH = 10
_LISTED = 4
_WELL, _FAIR = 0.6, 0.2


@register.filter
def share(value: float | None) -> str:
    """A share of 0 to 1 in percent with one decimal; a dash for none."""
    return "\N{EN DASH}" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


@register.filter
def shade(kappa: float | None, common: int) -> str:
    """The class of a cell: how well two judges agree, and pale where it rests on little."""
    if kappa is None:
        return "pale"
    level = "well" if kappa >= _WELL else "fair" if kappa >= _FAIR else "poor"
    return level if common >= _ENOUGH else f"{level} pale"


@register.filter
def reason(rule: str) -> str:
    """What a rule removes for, as researchers read it."""
    return REASONS.get(rule, rule)


@register.filter
def subtract(value: int, other: int) -> int:
    """The difference of two counts."""
    return value - other


@register.filter
def written(units: int, scale: Scale) -> str:
    """A stored score as it was given: a 9 on 1 to 5 by .5 is "4.5"."""
    return scale.text(units)


@register.filter
def accepted_on(steps: Sequence[int], scale: Scale) -> str:
    """The scores that a check accepts; many neighbours as a range: "4, 5", "60 to 100"."""
    scores = [step for step in scale.scores if step in steps]
    if len(scores) > _LISTED and scores[-1] - scores[0] == (len(scores) - 1) * scale.every:
        return f"{scale.text(scores[0])} to {scale.text(scores[-1])}"
    return ", ".join(map(scale.text, scores))
