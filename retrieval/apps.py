"""The retrieval app."""

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    """Corpora and indexes."""

    name = "retrieval"
    default_auto_field = "django.db.models.BigAutoField"
