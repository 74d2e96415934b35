"""Amounts as people read them, in templates (the library `marketplace_money`) and messages."""

from decimal import Decimal

from django import template
from django.conf import settings
from django.utils.formats import number_format
from django.utils.translation import gettext

from core.money import SYMBOLS, dollars

register = template.Library()
MINUS = "\N{MINUS SIGN}"


@register.filter
def money(cents: int) -> str:
    """Cents as an amount with its currency: 15 is "$0.15", 123456 is "$1,234.56", in German "1.234,56 $"."""
    currency = settings.MARKETPLACE_CURRENCY
    number = number_format(Decimal(dollars(cents)), 2, force_grouping=True)
    # Translators: where the sign of a currency stands; a code such as PLN always follows.
    pattern = gettext("%(sign)s%(number)s") if currency in SYMBOLS else "%(number)s %(sign)s"
    return pattern % {"sign": SYMBOLS.get(currency, currency), "number": number}


@register.filter
def signed_money(cents: int) -> str:
    """A change as an amount with its sign: 15 is "+$0.15", less than zero with a minus sign."""
    return f"{MINUS if cents < 0 else '+'}{money(abs(cents))}"
