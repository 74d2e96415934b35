"""The projects app."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """Django's handle on the app."""

    name = "core.projects"
    default_auto_field = "django.db.models.BigAutoField"
