"""The projects room."""

from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    """Django's handle on the room."""

    name = "projects"
    default_auto_field = "django.db.models.BigAutoField"
