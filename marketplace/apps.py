"""The marketplace app: our own crowd marketplace, speaking the MTurk requester protocol."""

from django.apps import AppConfig
from django.core.checks import register

from marketplace.checks import check_fee_profile


class MarketplaceConfig(AppConfig):
    """Django's handle on the app."""

    name = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks."""
        register(check_fee_profile)
