"""The heritage as an app; its tables are the marketplace's."""

from django.apps import AppConfig
from django.conf import settings
from django.utils.module_loading import import_string


class HeritageConfig(AppConfig):
    """Django's handle on the app."""

    name = "marketplace.heritage"
    label = "marketplace_heritage"

    def ready(self) -> None:
        """Connect the faults on request where test controls are on."""
        if settings.MARKETPLACE_TEST_TOKEN:
            import_string("marketplace.heritage.fault_injection.connect_receivers")()
