"""The people app."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Django's handle on the app."""

    name = "people"
    default_auto_field = "django.db.models.BigAutoField"
