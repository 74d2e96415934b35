"""Amounts as people read them, in templates (the library `marketplace_money`) and messages."""

from django import template
from django.conf import settings

from core.money import format_amount

register = template.Library()
MINUS = "\N{MINUS SIGN}"


@register.filter
def money(cents: int) -> str:
    """Cents as an amount with its currency: 15 is "$0.15", 123456 is "$1,234.56"."""
    return format_amount(cents, settings.MARKETPLACE_CURRENCY)


@register.filter
def signed_money(cents: int) -> str:
    """A change as an amount with its sign: 15 is "+$0.15", less than zero with a minus sign."""
    return f"{MINUS if cents < 0 else '+'}{money(abs(cents))}"
