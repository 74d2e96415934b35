"""The sealing app."""

from django.apps import AppConfig


class SealingConfig(AppConfig):
    """Django's handle on the app."""

    name = "core.sealing"
    default_auto_field = "django.db.models.BigAutoField"
