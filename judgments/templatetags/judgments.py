"""Shares and shades in the templates of the desk."""

from django import template

from judgments.desk.reportview import REASONS

register = template.Library()
_ENOUGH = 10
_WELL, _FAIR = 0.6, 0.2


@register.filter
def share(value: float | None) -> str:
    """A share of 0 to 1 in percent with one decimal; a dash for none."""
    return "\N{EN DASH}" if value is None else f"{100 * value:.1f}\N{NO-BREAK SPACE}%"


@register.filter
def shade(kappa: float | None, common: int) -> str:
    """The class of a cell: how well two judges agree, and pale where little stands behind it."""
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
