"""How many notices wait, for the shell of the desk: the library `notices`."""

from django import template
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.template import RequestContext

from core.notices.selectors import unread

register = template.Library()
_CACHED = "_notices_unread"


@register.simple_tag(takes_context=True)
def unread_notices(context: RequestContext) -> int:
    """Open notices that who looks has not read: one query, however often a page draws the bell."""
    request = context.get("request")
    if not isinstance(request, HttpRequest) or not isinstance(request.user, User):
        return 0
    if not hasattr(request, _CACHED):
        setattr(request, _CACHED, unread(request.user))
    return int(getattr(request, _CACHED))
