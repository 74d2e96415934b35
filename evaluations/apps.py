"""The evaluations app."""

from django.apps import AppConfig


class EvaluationsConfig(AppConfig):
    """What the data sets are made for."""

    name = "evaluations"
    default_auto_field = "django.db.models.BigAutoField"
