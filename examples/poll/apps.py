"""The poll app."""

from django.apps import AppConfig


class PollConfig(AppConfig):
    """Django's handle on the app."""

    name = "examples.poll"
    default_auto_field = "django.db.models.BigAutoField"
