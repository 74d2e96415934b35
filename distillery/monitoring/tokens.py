"""Programs that have METRICS_TOKEN may see figures and details of the installation."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare


def has_token(request: HttpRequest) -> bool:
    """Whether the request carries the token, where there is one."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return bool(settings.METRICS_TOKEN) and constant_time_compare(given, settings.METRICS_TOKEN)
