"""The marketplace app: our own crowd marketplace, speaking the MTurk requester protocol."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.checks import CheckMessage, Error, register
from django.utils.module_loading import import_string

from core.money import FEE_PROFILES
from core.origin import Owner
from core.webhooks.apps import webhook_changed


def check_fee_profile(**_: Any) -> list[CheckMessage]:
    """The fee profile of new requesters must exist."""
    if settings.MARKETPLACE_FEE_PROFILE in FEE_PROFILES:
        return []
    return [
        Error(
            f"MARKETPLACE_FEE_PROFILE is {settings.MARKETPLACE_FEE_PROFILE!r}, which is not a fee profile.",
            hint=f"Use one of {', '.join(FEE_PROFILES)}.",
            id="marketplace.E001",
        )
    ]


class MarketplaceConfig(AppConfig):
    """Django's handle on the app."""

    name = "marketplace"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register the system checks; connect the faults on request where test controls are on."""
        register(check_fee_profile)
        webhook_changed.connect(_note_webhook, dispatch_uid="marketplace.webhooks")
        user_logged_in.connect(_recall_language, dispatch_uid="marketplace.language")
        if settings.MARKETPLACE_TEST_TOKEN:
            import_string("marketplace.protocol.fault_injection.connect_receivers")()


def _recall_language(request: Any, user: Any, **_: Any) -> None:
    import_string("marketplace.site.access.recall_language")(request, user)


def _note_webhook(hook: Any, what: str, **_: Any) -> None:
    if hook.owner_kind == Owner.Kind.REQUESTER:
        action = f"webhook.{what if what in ('made', 'removed') else 'changed'}"
        details = f"{what.replace('_', ' ')}, sends to {hook.host}"
        import_string("marketplace.activity.note")(hook.owner_id, action, hook.name, details)
