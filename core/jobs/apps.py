"""The jobs app as a Django app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Durable jobs."""

    name = "core.jobs"
