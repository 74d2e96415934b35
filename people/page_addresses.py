"""Addresses of the pages of study links, wherever their owner has them: the library `people_pages`."""

from typing import Any

from django import template

register = template.Library()


@register.simple_tag(takes_context=True)
def link_page(context: template.Context, name: str, *parts: Any) -> str:
    """The address of a page: `{% link_page "roster" link.pk %}`."""
    return str(context["link_desk"].address(name, *parts))
