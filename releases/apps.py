"""The releases app."""

from django.apps import AppConfig


class ReleasesConfig(AppConfig):
    """The end of the pipeline: data sets that last."""

    name = "releases"
    default_auto_field = "django.db.models.BigAutoField"
