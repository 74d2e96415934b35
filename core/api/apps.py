"""The API's own rows as a Django app."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Tokens and idempotency keys."""

    name = "core.api"
    label = "api"
