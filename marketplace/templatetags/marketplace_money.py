"""Money in templates."""

from django import template
from django.conf import settings

from money.amounts import dollars

register = template.Library()
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}


@register.filter
def money(cents: int) -> str:
    """Cents as an amount with its currency: 15 is "$0.15"."""
    symbol = _SYMBOLS.get(settings.MARKETPLACE_CURRENCY)
    return f"{symbol}{dollars(cents)}" if symbol else f"{dollars(cents)} {settings.MARKETPLACE_CURRENCY}"
