"""The marketplace room: our own crowd marketplace, speaking the MTurk requester protocol."""

from django.apps import AppConfig


class MarketplaceConfig(AppConfig):
    """Django's handle on the room."""

    name = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"
