"""The crowd room."""

from django.apps import AppConfig


class CrowdConfig(AppConfig):
    """Django's handle on the room."""

    name = "crowd"
    default_auto_field = "django.db.models.BigAutoField"
