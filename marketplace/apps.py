"""The marketplace app: our own crowd marketplace, speaking the MTurk requester protocol."""

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import register
from django.utils.module_loading import import_string

from marketplace.checks import check_fee_profile


class MarketplaceConfig(AppConfig):
    """Django's handle on the app."""

    name = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks; connect the faults on request where test controls are on."""
        register(check_fee_profile)
        if settings.MARKETPLACE_TEST_TOKEN:
            import_string("marketplace.protocol.fault_injection.connect_receivers")()
