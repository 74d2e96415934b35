"""Endpoints that do not answer as they should."""

from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from crowd.models import EndpointRound


def outages() -> "QuerySet[EndpointRound, Any]":
    """Rounds of endpoints that are down, the longest outage first; `span` is how long each has lasted."""
    down = EndpointRound.objects.exclude(down_since=None).select_related("endpoint")
    return down.annotate(span=Now() - F("down_since")).order_by("down_since")
