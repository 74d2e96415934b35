"""The webhooks app."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Django's handle on the app."""

    name = "core.webhooks"
    default_auto_field = "django.db.models.BigAutoField"
