"""The sealing room."""

from django.apps import AppConfig


class SealingConfig(AppConfig):
    """Django's handle on the room."""

    name = "sealing"
    default_auto_field = "django.db.models.BigAutoField"
