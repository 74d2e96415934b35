"""The app of the row by which a host knows that it has the right key."""

from django.apps import AppConfig


class CryptoConfig(AppConfig):
    """Its label is the name of its table and of its rows among migrations, so it stays what it was first."""

    name = "core.crypto"
    label = "sealing"
    default_auto_field = "django.db.models.BigAutoField"
