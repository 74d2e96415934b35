"""The notices app."""

from django.apps import AppConfig


class NoticesConfig(AppConfig):
    """What somebody should know, told once."""

    name = "core.notices"
    default_auto_field = "django.db.models.BigAutoField"
