"""The judgments app."""

from django.apps import AppConfig


class JudgmentsConfig(AppConfig):
    """Stage 4 of the pipeline."""

    name = "judgments"
    default_auto_field = "django.db.models.BigAutoField"
