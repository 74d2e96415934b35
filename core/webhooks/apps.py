"""The webhooks app."""

from django.apps import AppConfig
from django.dispatch import Signal

#: A webhook was made or changed, in the transaction of it. Arguments: hook, its row; what: made, changed,
#: paused, removed … It lies here because other apps connect to it before any models are loaded.
webhook_changed = Signal()


class WebhooksConfig(AppConfig):
    """Django's handle on the app."""

    name = "core.webhooks"
    default_auto_field = "django.db.models.BigAutoField"
