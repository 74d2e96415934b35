"""The crowd app."""

from django.apps import AppConfig


class CrowdConfig(AppConfig):
    """Django's handle on the app."""

    name = "crowd"
    default_auto_field = "django.db.models.BigAutoField"
